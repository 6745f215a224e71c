/*
 * threads_c11.c - C11's threads.h, and what threads have for themselves: keys whose values are
 * destroyed when a thread ends.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#include <pfslab/check.h>

static mtx_t mutex;
static cnd_t condition;
static once_flag flag = ONCE_FLAG_INIT;
static tss_t key;
static int value, made;
static atomic_int ended;

static int add(void *argument)
{
	mtx_lock(&mutex);
	value += *(int *)argument;
	cnd_signal(&condition);
	mtx_unlock(&mutex);
	return *(int *)argument + 40;
}

static void start_and_join(void *argument)
{
	int two = 2, result = 0;
	thrd_t thread;
	pfs_check_assert(thrd_create(&thread, add, &two) == thrd_success);
	mtx_lock(&mutex);
	while (value == 0)
		cnd_wait(&condition, &mutex);
	mtx_unlock(&mutex);
	pfs_check_assert(thrd_join(thread, &result) == thrd_success && result == 42);
}

static void prepare(int type)
{
	mtx_init(&mutex, type);
	cnd_init(&condition);
}

PFS_CHECK_SCENARIO(thrd)
{
	prepare(mtx_plain);
	pfs_check_thread(start_and_join, NULL);
}

static void lock_twice(void *argument)
{
	mtx_lock(&mutex);
	pfs_check_assert(mtx_trylock(&mutex) == thrd_success);
	value++;
	mtx_unlock(&mutex);
	mtx_unlock(&mutex);
}

PFS_CHECK_SCENARIO(recursive)
{
	prepare(mtx_plain | mtx_recursive);
	pfs_check_thread(lock_twice, NULL);
	pfs_check_thread(lock_twice, NULL);
}

PFS_CHECK_SCENARIO(not_recursive_fails)
{
	prepare(mtx_plain);
	pfs_check_thread(lock_twice, NULL);
}

static void lock_in_time(void *argument)
{
	const struct timespec soon = { .tv_sec = 1 };
	pfs_check_assert(mtx_timedlock(&mutex, &soon) == thrd_success);
	mtx_unlock(&mutex);
}

PFS_CHECK_SCENARIO(late_fails)
{
	prepare(mtx_timed);
	pfs_check_thread(lock_in_time, NULL);
	pfs_check_thread(lock_in_time, NULL);
}

static void make(void)
{
	made++;
}

static void once(void *argument)
{
	call_once(&flag, make);
	pfs_check_assert(made == 1);
}

PFS_CHECK_SCENARIO(call_once)
{
	pfs_check_thread(once, NULL);
	pfs_check_thread(once, NULL);
}

/* ---- keys ---- */

static void destroy(void *block)
{
	atomic_fetch_add(&ended, *(int *)block);
	free(block);
}

static void keep_own(void *argument)
{
	int *block = malloc(sizeof(*block));
	pfs_check_assert(tss_get(key) == NULL);
	*block = 1;
	tss_set(key, block);
	atomic_load(&ended);
	pfs_check_assert(tss_get(key) == block);
}

static void both_ended(void *argument)
{
	pfs_check_assert(ended == 2);
}

PFS_CHECK_SCENARIO(keys)
{
	tss_create(&key, destroy);
	pfs_check_thread(keep_own, NULL);
	pfs_check_thread(keep_own, NULL);
	pfs_check_at_rest(both_ended, NULL);
}

PFS_CHECK_SCENARIO(keys_lost)
{
	tss_create(&key, NULL);
	pfs_check_thread(keep_own, NULL);
}

/* A destructor that gives its key a value again is called again, but not forever. */
static void again(void *block)
{
	if (atomic_fetch_add(&ended, 1) == 0)
		pthread_setspecific((pthread_key_t)key, block);
	else
		free(block);
}

PFS_CHECK_SCENARIO(keys_again)
{
	pthread_key_create((pthread_key_t *)&key, again);
	pfs_check_thread(keep_own, NULL);
	pfs_check_at_rest(both_ended, NULL);
}
