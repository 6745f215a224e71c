/*
 * locks.c - reader-writer locks, semaphores, spin locks, barriers, calls with a time limit, clocks:
 * right, and used wrongly.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include <pfslab/check.h>

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t items, rooms;
static int value, other, turns;
static atomic_int inside;

/* ---- reader-writer locks ---- */

static void write_both(void *argument)
{
	pthread_rwlock_wrlock(&rwlock);
	value++;
	other++;
	pthread_rwlock_unlock(&rwlock);
}

static void read_both(void *argument)
{
	pthread_rwlock_rdlock(&rwlock);
	pfs_check_assert(value == other);
	pthread_rwlock_unlock(&rwlock);
}

PFS_CHECK_SCENARIO(rwlock)
{
	pfs_check_thread(write_both, NULL);
	pfs_check_thread(read_both, NULL);
	pfs_check_thread(read_both, NULL);
}

/* Two at once: if no schedule had that, the lock would be a mutex, and this would hold. */
static void read_and_count(void *argument)
{
	pthread_rwlock_rdlock(&rwlock);
	pfs_check_assert(atomic_fetch_add(&inside, 1) == 0);
	atomic_fetch_sub(&inside, 1);
	pthread_rwlock_unlock(&rwlock);
}

PFS_CHECK_SCENARIO(rwlock_shared_fails)
{
	pfs_check_thread(read_and_count, NULL);
	pfs_check_thread(read_and_count, NULL);
}

static void write_under_read(void *argument)
{
	pthread_rwlock_rdlock(&rwlock);
	value++;
	pthread_rwlock_unlock(&rwlock);
}

PFS_CHECK_SCENARIO(rwlock_read_fails)
{
	pfs_check_thread(write_under_read, NULL);
	pfs_check_thread(read_both, NULL);
}

static void upgrade(void *argument)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

PFS_CHECK_SCENARIO(rwlock_upgrade)
{
	pfs_check_thread(upgrade, NULL);
}

static void unlock_alone(void *argument)
{
	pthread_rwlock_unlock(&rwlock);
}

PFS_CHECK_SCENARIO(rwlock_not_had)
{
	pfs_check_thread(unlock_alone, NULL);
}

/* ---- semaphores ---- */

static void produce(void *argument)
{
	for (int i = 0; i < 2; i++) {
		sem_wait(&rooms);
		value++;
		sem_post(&items);
	}
}

static void consume(void *argument)
{
	for (int i = 0; i < 2; i++) {
		sem_wait(&items);
		pfs_check_assert(value == i + 1);
		sem_post(&rooms);
	}
}

PFS_CHECK_SCENARIO(semaphores)
{
	sem_init(&rooms, 0, 1);
	sem_init(&items, 0, 0);
	pfs_check_thread(produce, NULL);
	pfs_check_thread(consume, NULL);
}

PFS_CHECK_SCENARIO(semaphores_roomy_fails)
{
	sem_init(&rooms, 0, 2);
	sem_init(&items, 0, 0);
	pfs_check_thread(produce, NULL);
	pfs_check_thread(consume, NULL);
}

PFS_CHECK_SCENARIO(semaphores_stuck)
{
	sem_init(&rooms, 0, 0);
	sem_init(&items, 0, 0);
	pfs_check_thread(produce, NULL);
	pfs_check_thread(consume, NULL);
}

/* ---- spin locks and barriers ---- */

static void add_spinning(void *argument)
{
	if (pthread_spin_trylock(&spin) != 0)
		pthread_spin_lock(&spin);
	value++;
	pthread_spin_unlock(&spin);
}

static void is_two(void *argument)
{
	pfs_check_assert(value == 2);
}

PFS_CHECK_SCENARIO(spinning)
{
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pfs_check_thread(add_spinning, NULL);
	pfs_check_thread(add_spinning, NULL);
	pfs_check_at_rest(is_two, NULL);
}

static void phases(void *argument)
{
	int *own = argument == NULL ? &value : &other;
	*own = 1;
	int last = pthread_barrier_wait(&barrier);
	pfs_check_assert(value == 1 && other == 1);
	if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
		turns++;
	if (last == PTHREAD_BARRIER_SERIAL_THREAD)
		atomic_fetch_add(&inside, 1);
}

static void one_was_last(void *argument)
{
	pfs_check_assert(turns == 1 && inside == 1);
}

PFS_CHECK_SCENARIO(barriers)
{
	pthread_barrier_init(&barrier, NULL, 2);
	pfs_check_thread(phases, NULL);
	pfs_check_thread(phases, &turns);
	pfs_check_at_rest(one_was_last, NULL);
}

PFS_CHECK_SCENARIO(barrier_of_three)
{
	pthread_barrier_init(&barrier, NULL, 3);
	pfs_check_thread(phases, NULL);
	pfs_check_thread(phases, &turns);
}

/* ---- limits and clocks ---- */

static const struct timespec soon = { .tv_sec = 1 };

static void told_or_late(void *argument)
{
	int waited = 0;
	pthread_mutex_lock(&mutex);
	while (value == 0 && waited != ETIMEDOUT)
		waited = pthread_cond_timedwait(&condition, &mutex, &soon);
	pthread_mutex_unlock(&mutex);
}

PFS_CHECK_SCENARIO(limit_nobody_tells)
{
	pfs_check_thread(told_or_late, NULL);
}

static void told_for_sure(void *argument)
{
	pthread_mutex_lock(&mutex);
	if (value == 0)
		pfs_check_assert(pthread_cond_timedwait(&condition, &mutex, &soon) == 0);
	pthread_mutex_unlock(&mutex);
}

static void tell(void *argument)
{
	pthread_mutex_lock(&mutex);
	value = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
}

PFS_CHECK_SCENARIO(limit_passes_fails)
{
	pfs_check_thread(told_for_sure, NULL);
	pfs_check_thread(tell, NULL);
}

static void lock_both(void *argument)
{
	pthread_rwlock_wrlock(&rwlock);
	if (argument == NULL || pthread_mutex_timedlock(&mutex, &soon) == 0) {
		if (argument == NULL)
			pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	pthread_rwlock_unlock(&rwlock);
}

static void lock_both_crosswise(void *argument)
{
	pthread_mutex_lock(&mutex);
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	pthread_mutex_unlock(&mutex);
}

PFS_CHECK_SCENARIO(limit_against_deadlock)
{
	pfs_check_thread(lock_both, &turns);
	pfs_check_thread(lock_both_crosswise, NULL);
}

PFS_CHECK_SCENARIO(no_limit)
{
	pfs_check_thread(lock_both, NULL);
	pfs_check_thread(lock_both_crosswise, NULL);
}

static void watch_clock(void *argument)
{
	struct timespec first, last;
	clock_gettime(CLOCK_MONOTONIC, &first);
	nanosleep(&soon, NULL);
	clock_gettime(CLOCK_MONOTONIC, &last);
	pfs_check_assert(last.tv_sec == first.tv_sec + 1);
	while (last.tv_nsec < first.tv_nsec + 5000) /* it comes to an end */
		clock_gettime(CLOCK_MONOTONIC, &last);
}

PFS_CHECK_SCENARIO(clocks)
{
	pfs_check_thread(watch_clock, NULL);
	pfs_check_thread(watch_clock, NULL);
}
