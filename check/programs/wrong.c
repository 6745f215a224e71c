/*
 * wrong.c - programs with the faults of GenMC's tests/wrong, written anew: check/tests/meet_test.py
 * has what is found in each.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <pfslab/check.h>

static pthread_barrier_t barrier, unset;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int flag, other, locks[2], inside;
static int shared;
static int *_Atomic published;

#define TWO(name, one, two)               \
	PFS_CHECK_SCENARIO(name)          \
	{                                 \
		pfs_check_thread(one, 0); \
		pfs_check_thread(two, 0); \
	}

/* ---- barriers ---- */

static void destroys(void *argument)
{
	pthread_barrier_init(&barrier, NULL, 1);
	pthread_barrier_wait(&barrier);
	pthread_barrier_destroy(&barrier);
	atomic_store_explicit(&flag, 1, memory_order_release);
}

static void waits_late(void *argument)
{
	if (atomic_load_explicit(&flag, memory_order_acquire) == 1)
		pthread_barrier_wait(&barrier);
}

TWO(destroyed_barrier, destroys, waits_late)

static void tells_out_of_order(void *argument)
{
	atomic_store_explicit(&flag, 1, memory_order_relaxed);
	atomic_store_explicit(&other, 1, memory_order_relaxed);
}

static void begins_again(void *argument)
{
	if (atomic_load_explicit(&other, memory_order_relaxed) == 1 &&
	    atomic_load_explicit(&flag, memory_order_relaxed) == 0)
		pthread_barrier_init(&barrier, NULL, 2);
}

PFS_CHECK_SCENARIO(barrier_begun_twice)
{
	pthread_barrier_init(&barrier, NULL, 3);
	pfs_check_thread(tells_out_of_order, 0);
	pfs_check_thread(begins_again, 0);
}

static void waits_for_unset(void *argument)
{
	pthread_barrier_wait(&unset);
}

PFS_CHECK_SCENARIO(unset_barrier)
{
	pfs_check_thread(waits_for_unset, 0);
}

/* ---- loops that never end ---- */

static void take(atomic_int *lock)
{
	int free = 0;
	while (!atomic_compare_exchange_strong_explicit(lock, &free, 1, memory_order_acquire,
							memory_order_relaxed))
		free = 0;
}

static void take_both(int first)
{
	take(&locks[first]);
	take(&locks[1 - first]);
	shared = first;
	atomic_store_explicit(&locks[1 - first], 0, memory_order_release);
	atomic_store_explicit(&locks[first], 0, memory_order_release);
}

static void takes_left(void *argument)
{
	take_both(0);
}

static void takes_right(void *argument)
{
	take_both(1);
}

TWO(lock_order, takes_left, takes_right)

static void waits_for_itself(void *argument)
{
	while (atomic_load(&flag) == 0)
		;
	atomic_store(&flag, 1);
}

PFS_CHECK_SCENARIO(alone)
{
	pfs_check_thread(waits_for_itself, 0);
}

static void takes_none(void *argument)
{
	while (atomic_exchange(&flag, 0) == 0)
		;
}

PFS_CHECK_SCENARIO(alone_exchange)
{
	pfs_check_thread(takes_none, 0);
}

static void asks(void *argument)
{
	atomic_store(&flag, 1);
	while (atomic_load(&other) == 0)
		;
}

static void answers_if_asked(void *argument)
{
	if (atomic_load(&flag) == 1)
		atomic_store(&other, 1);
}

TWO(unanswered, asks, answers_if_asked)

static void enters(atomic_int *own, atomic_int *others)
{
	atomic_store(own, 1);
	while (atomic_load(others) == 1)
		;
	atomic_store(&inside, 1);
	atomic_store(own, 0);
}

static void enters_left(void *argument)
{
	enters(&flag, &other);
}

static void enters_right(void *argument)
{
	enters(&other, &flag);
}

TWO(both_want, enters_left, enters_right)

/* ---- locks, orders, memory ---- */

static void locks_only(void *argument)
{
	atomic_store_explicit(&flag, 1, memory_order_relaxed);
	pthread_mutex_lock(&mutex);
}

static void unlocks_only(void *argument)
{
	if (atomic_load_explicit(&flag, memory_order_relaxed) == 0)
		pthread_mutex_unlock(&mutex);
}

TWO(unlocked_by_other, locks_only, unlocks_only)

static void dekker(atomic_int *own, atomic_int *others, int mark)
{
	atomic_store_explicit(own, 1, memory_order_relaxed);
	if (atomic_load_explicit(others, memory_order_relaxed) == 1)
		return;
	atomic_store_explicit(&inside, mark, memory_order_relaxed);
	pfs_check_assert(atomic_load_explicit(&inside, memory_order_relaxed) == mark);
}

static void dekker_left(void *argument)
{
	dekker(&flag, &other, 1);
}

static void dekker_right(void *argument)
{
	dekker(&other, &flag, 2);
}

TWO(relaxed_dekker, dekker_left, dekker_right)

static void frees(void *argument)
{
	int *cell = malloc(sizeof(*cell));
	atomic_store(&published, cell);
	free(cell);
}

static void writes_freed(void *argument)
{
	int *cell = atomic_load(&published);
	if (cell != NULL)
		*cell = 1;
}

TWO(freed, frees, writes_freed)
