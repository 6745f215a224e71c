/*
 * misuse.c - objects of pthread that are used outside their lives, threads that are joined although
 * they are detached, read locks that a thread takes twice, variables of functions that have
 * returned, and memory that nothing has written. Scenarios without fails_ are right.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <pfslab/check.h>

static pthread_mutex_t mutex;
static pthread_cond_t condition;
static pthread_rwlock_t rwlock;
static pthread_barrier_t barrier;
static pthread_spinlock_t spinlock;
static sem_t semaphore;
static atomic_int done;

#define ONE(name)                                 \
	static void name##_body(void *argument);  \
	PFS_CHECK_SCENARIO(name)                  \
	{                                         \
		pfs_check_thread(name##_body, 0); \
	}                                         \
	static void name##_body(void *argument)

/* Each object lives twice. */
ONE(lives)
{
	(void)argument;
	for (int i = 0; i < 2; i++) {
		pthread_mutex_init(&mutex, 0);
		pthread_cond_init(&condition, 0);
		pthread_rwlock_init(&rwlock, 0);
		pthread_barrier_init(&barrier, 0, 1);
		pthread_spin_init(&spinlock, 0);
		sem_init(&semaphore, 0, 1);
		pthread_mutex_lock(&mutex);
		pthread_cond_signal(&condition);
		pthread_mutex_unlock(&mutex);
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
		pthread_barrier_wait(&barrier);
		pthread_spin_lock(&spinlock);
		pthread_spin_unlock(&spinlock);
		sem_wait(&semaphore);
		pthread_mutex_destroy(&mutex);
		pthread_cond_destroy(&condition);
		pthread_rwlock_destroy(&rwlock);
		pthread_barrier_destroy(&barrier);
		pthread_spin_destroy(&spinlock);
		sem_destroy(&semaphore);
	}
}

__attribute__((noinline)) static void uses_stack(void)
{
	pthread_mutex_t own;
	pthread_mutex_init(&own, 0);
	pthread_mutex_lock(&own);
	pthread_mutex_unlock(&own); /* it is not destroyed, and the next one is at its place */
}

ONE(on_stack)
{
	(void)argument;
	uses_stack();
	uses_stack();
}

static void destroys(void *argument)
{
	(void)argument;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	pthread_mutex_destroy(&mutex);
	atomic_store_explicit(&done, 1, memory_order_release);
}

static void locks_late(void *argument)
{
	(void)argument;
	if (atomic_load_explicit(&done, memory_order_acquire) == 0)
		return;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

PFS_CHECK_SCENARIO(fails_mutex)
{
	pthread_mutex_init(&mutex, 0);
	pfs_check_thread(destroys, 0);
	pfs_check_thread(locks_late, 0);
}

ONE(fails_condition)
{
	(void)argument;
	pthread_cond_init(&condition, 0);
	pthread_cond_destroy(&condition);
	pthread_cond_signal(&condition);
}

ONE(fails_rwlock)
{
	(void)argument;
	pthread_rwlock_destroy(&rwlock);
	pthread_rwlock_wrlock(&rwlock);
}

ONE(fails_spin)
{
	(void)argument;
	pthread_spin_destroy(&spinlock);
	pthread_spin_lock(&spinlock);
}

ONE(fails_barrier)
{
	(void)argument;
	pthread_barrier_init(&barrier, 0, 1);
	pthread_barrier_destroy(&barrier);
	pthread_barrier_wait(&barrier);
}

ONE(fails_new_barrier)
{
	(void)argument;
	pthread_barrier_wait(&barrier);
}

ONE(fails_new_semaphore)
{
	(void)argument;
	sem_post(&semaphore);
}

ONE(fails_new_mutex)
{
	(void)argument;
	pthread_mutex_t *own = malloc(sizeof(*own));
	pthread_mutex_lock(own);
	free(own);
}

ONE(fails_twice)
{
	(void)argument;
	pthread_mutex_init(&mutex, 0);
	pthread_mutex_init(&mutex, 0);
}

static void *nothing(void *argument)
{
	return argument;
}

ONE(detached)
{
	pthread_t thread;
	pthread_create(&thread, 0, nothing, argument);
	pthread_detach(thread);
}

ONE(fails_join)
{
	pthread_t thread;
	pthread_create(&thread, 0, nothing, argument);
	pthread_detach(thread);
	pthread_join(thread, 0);
}

ONE(fails_join_created)
{
	pthread_attr_t attributes;
	pthread_t thread;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_create(&thread, &attributes, nothing, argument);
	pthread_join(thread, 0);
}

ONE(fails_detach)
{
	pthread_t thread;
	pthread_create(&thread, 0, nothing, argument);
	pthread_join(thread, 0);
	pthread_detach(thread);
}

ONE(fails_read_twice)
{
	pthread_rwlockattr_t attributes;
	(void)argument;
	pthread_rwlockattr_init(&attributes);
	pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&rwlock, &attributes);
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_rdlock(&rwlock);
}

static _Atomic(int *) published;

__attribute__((noinline)) static void publishes(int *own)
{
	*own = 1;
	atomic_store(&published, own);
}

__attribute__((noinline)) static void returns(void)
{
	int own;
	publishes(&own);
}

static void returns_body(void *argument)
{
	(void)argument;
	returns();
	atomic_store(&done, 1);
}

static void reads_returned(void *argument)
{
	(void)argument;
	int *value = atomic_load(&published);
	if (value != 0 && atomic_load(&done))
		pfs_check_assert(*(volatile int *)value == 1);
}

PFS_CHECK_SCENARIO(fails_returned)
{
	pfs_check_thread(returns_body, 0);
	pfs_check_thread(reads_returned, 0);
}

static void sets(void *argument)
{
	*(volatile int *)argument = 1;
}

/* A variable of the scenario's function. */
PFS_CHECK_SCENARIO(fails_scenarios_own)
{
	int own = 0;
	pfs_check_thread(sets, &own);
}

/* Two functions, one after the other, whose variables of two sizes are at one place. */
static _Atomic(void *) shown;

__attribute__((noinline)) static void with_int(void)
{
	atomic_int own = 0;
	atomic_store(&shown, &own);
	atomic_fetch_add(&own, 1);
	atomic_store(&shown, 0);
}

__attribute__((noinline)) static void with_long(void)
{
	atomic_long own = 0;
	atomic_store(&shown, &own);
	atomic_fetch_add(&own, 1);
	atomic_store(&shown, 0);
}

ONE(one_place)
{
	(void)argument;
	with_int();
	with_long();
}

/* With --uninitialized. */
ONE(unwritten)
{
	(void)argument;
	long *block = malloc(2 * sizeof(*block));
	block[0] = 1;
	if (*(volatile long *)&block[1] == 0)
		block[0] = 2;
	free(block);
}
