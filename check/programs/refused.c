/*
 * refused.c - what pfs-check cannot execute as the program means it, and what it leaves out: exit
 * status 2, or a reason. Scenarios bounded_ are searched in part.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <pfslab/check.h>

static union {
	atomic_int small;
	atomic_long large;
} both;

static void two_sizes_body(void *argument)
{
	(void)argument;
	atomic_store(&both.small, 1);
	atomic_store(&both.large, 2);
}

PFS_CHECK_SCENARIO(two_sizes)
{
	pfs_check_thread(two_sizes_body, 0);
}

static void nothing(void *argument)
{
	(void)argument;
}

static void *ends(void *argument)
{
	return argument;
}

static void many_body(void *argument)
{
	pthread_t threads[20];
	(void)argument;
	for (int i = 0; i < 20; i++)
		pthread_create(&threads[i], 0, ends, 0);
}

PFS_CHECK_SCENARIO(too_many_threads)
{
	for (int i = 0; i < 20; i++)
		pfs_check_thread(nothing, 0);
}

PFS_CHECK_SCENARIO(too_many_created)
{
	pfs_check_thread(many_body, 0);
}

PFS_CHECK_SCENARIO(no_threads) {}

static void adds_thread(void *argument)
{
	(void)argument;
	pfs_check_thread(nothing, 0);
}

PFS_CHECK_SCENARIO(thread_in_thread)
{
	pfs_check_thread(adds_thread, 0);
}

static void tells(void *argument)
{
	(void)argument;
	pfs_check_outcome("%0120d", 1);
}

PFS_CHECK_SCENARIO(long_outcome)
{
	pfs_check_thread(nothing, 0);
	pfs_check_at_rest(tells, 0);
}

static atomic_uint counter;

static void counts(void *argument)
{
	(void)argument;
	for (;;)
		atomic_fetch_add(&counter, 1);
}

PFS_CHECK_SCENARIO(bounded_loop)
{
	pfs_check_thread(counts, 0);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void waits_twice(void *argument)
{
	struct timespec soon;
	(void)argument;
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec++;
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&condition, &mutex, &soon);
	pthread_cond_timedwait(&condition, &mutex, &soon);
	pthread_mutex_unlock(&mutex);
}

static void waits_once(void *argument)
{
	if (atomic_load(&counter) == 0)
		waits_twice(argument);
}

static void stores(void *argument)
{
	(void)argument;
	atomic_store(&counter, 1);
}

PFS_CHECK_SCENARIO(bounded_limit)
{
	pfs_check_thread(waits_once, 0);
	pfs_check_thread(stores, 0);
}

static void stores_often(void *argument)
{
	(void)argument;
	for (unsigned i = 1; i <= 40; i++)
		atomic_store_explicit(&counter, i, memory_order_relaxed);
}

static void loads(void *argument)
{
	(void)argument;
	(void)atomic_load_explicit(&counter, memory_order_relaxed);
}

PFS_CHECK_SCENARIO(bounded_choices)
{
	pfs_check_thread(stores_often, 0);
	pfs_check_thread(loads, 0);
}
