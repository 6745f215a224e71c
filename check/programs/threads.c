/*
 * threads.c - threads of pthread, and what they wait for: right, and each with a bug.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include <pfslab/check.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int counter, is_ready, initialized;
static _Thread_local int own;

static void *count(void *argument)
{
	pthread_mutex_lock(&one);
	counter++;
	own++;
	pfs_check_assert(own == 1);
	pthread_mutex_unlock(&one);
	return argument;
}

static void start_two(void *argument)
{
	pthread_t threads[2];
	void *result;
	for (int i = 0; i < 2; i++)
		pfs_check_assert(pthread_create(&threads[i], NULL, count, argument) == 0);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], &result);
		pfs_check_assert(result == argument);
	}
	pfs_check_assert(counter == 2);
}

PFS_CHECK_SCENARIO(join)
{
	pfs_check_thread(start_two, &counter);
}

/* The second read is not after the second thread's end. */
static void start_and_look(void *argument)
{
	pthread_t thread;
	pthread_create(&thread, NULL, count, argument);
	pfs_check_assert(counter < 2);
	pthread_join(thread, NULL);
}

PFS_CHECK_SCENARIO(no_join)
{
	pfs_check_thread(start_and_look, NULL);
}

static void one_other(void *argument)
{
	pthread_mutex_lock(&one);
	pthread_mutex_lock(&other);
	pthread_mutex_unlock(&other);
	pthread_mutex_unlock(&one);
}

static void other_one(void *argument)
{
	pthread_mutex_lock(&other);
	pthread_mutex_lock(&one);
	pthread_mutex_unlock(&one);
	pthread_mutex_unlock(&other);
}

PFS_CHECK_SCENARIO(in_turn)
{
	pfs_check_thread(one_other, NULL);
	pfs_check_thread(one_other, NULL);
}

PFS_CHECK_SCENARIO(crosswise)
{
	pfs_check_thread(one_other, NULL);
	pfs_check_thread(other_one, NULL);
}

static void tell(void *argument)
{
	pthread_mutex_lock(&one);
	is_ready = 1;
	pthread_mutex_unlock(&one);
	if (argument == NULL)
		pthread_cond_signal(&ready);
	else
		pthread_cond_broadcast(&ready);
}

static void await(void *argument)
{
	pthread_mutex_lock(&one);
	while (!is_ready)
		pthread_cond_wait(&ready, &one);
	pthread_mutex_unlock(&one);
}

PFS_CHECK_SCENARIO(told)
{
	pfs_check_thread(await, NULL);
	pfs_check_thread(tell, NULL);
}

PFS_CHECK_SCENARIO(two_told)
{
	pfs_check_thread(await, NULL);
	pfs_check_thread(await, NULL);
	pfs_check_thread(tell, &ready);
}

PFS_CHECK_SCENARIO(one_of_two_told)
{
	pfs_check_thread(await, NULL);
	pfs_check_thread(await, NULL);
	pfs_check_thread(tell, NULL);
}

/* An if where a while must be: it may wake by itself. */
static void await_once(void *argument)
{
	pthread_mutex_lock(&one);
	if (!is_ready)
		pthread_cond_wait(&ready, &one);
	pfs_check_assert(is_ready);
	pthread_mutex_unlock(&one);
}

PFS_CHECK_SCENARIO(awaits_once)
{
	pfs_check_thread(await_once, NULL);
	pfs_check_thread(tell, NULL);
}

static void initialize(void)
{
	initialized++;
}

static void use_once(void *argument)
{
	pthread_once(&once, initialize);
	pfs_check_assert(initialized == 1);
}

PFS_CHECK_SCENARIO(once_for_all)
{
	pfs_check_thread(use_once, NULL);
	pfs_check_thread(use_once, NULL);
	pfs_check_thread(use_once, NULL);
}

/* A spinlock that says nothing of its waiting. */
static atomic_int taken;

static void spin(void *argument)
{
	while (atomic_exchange_explicit(&taken, 1, memory_order_acquire) != 0) {
		while (atomic_load_explicit(&taken, memory_order_relaxed) != 0)
			continue;
	}
	counter++;
	atomic_store_explicit(&taken, 0, memory_order_release);
}

PFS_CHECK_SCENARIO(spinlock)
{
	pfs_check_thread(spin, NULL);
	pfs_check_thread(spin, NULL);
}

/* Weak: it may fail though the value is there. */
static void add_weakly(void *argument)
{
	int seen = 0;
	pfs_check_assert(atomic_compare_exchange_weak(&taken, &seen, 1));
}

PFS_CHECK_SCENARIO(weak)
{
	pfs_check_thread(add_weakly, NULL);
}

/* It looks at plain memory: what others do never ends it, in C11. */
static volatile int plain_flag;

static void spin_plainly(void *argument)
{
	while (plain_flag == 0)
		continue;
}

PFS_CHECK_SCENARIO(plain_spin)
{
	pfs_check_thread(spin_plainly, NULL);
}
