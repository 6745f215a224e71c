/*
 * written.c - functions of pthread and libc write what they are told where they are told: others
 * that read it race. So do threads that access a variable on another one's stack.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <pfslab/check.h>

static union {
	int value;
	time_t seconds;
	struct timespec time;
	pthread_t thread;
	pthread_key_t key;
	void *pointer;
	char *text;
	char letters[4096];
} told;
static sem_t semaphore;
static volatile int seen;

static void reads(void *argument)
{
	(void)argument;
	seen = told.value;
}

static void *returns(void *argument)
{
	return argument;
}

static int returns_one(void *argument)
{
	(void)argument;
	return 1;
}

#define WRITES(name, ...)                   \
	static void name(void *argument)    \
	{                                   \
		(void)argument;             \
		__VA_ARGS__                 \
	}                                   \
	PFS_CHECK_SCENARIO(name##_fails)    \
	{                                   \
		sem_init(&semaphore, 0, 1); \
		pfs_check_thread(name, 0);  \
		pfs_check_thread(reads, 0); \
	}

WRITES(creates, pthread_create(&told.thread, NULL, returns, NULL); pthread_join(told.thread, NULL);)
WRITES(joins, pthread_t own; pthread_create(&own, NULL, returns, NULL);
       pthread_join(own, &told.pointer);)
WRITES(joins_c11, thrd_t own; thrd_create(&own, returns_one, NULL); thrd_join(own, &told.value);)
WRITES(makes_key, pthread_key_create(&told.key, NULL);)
WRITES(looks_at_semaphore, sem_getvalue(&semaphore, &told.value);)
WRITES(looks_at_clock, clock_gettime(CLOCK_MONOTONIC, &told.time);)
WRITES(looks_at_seconds, time(&told.seconds);)
WRITES(allocates, (void)!posix_memalign(&told.pointer, 64, 64); free(told.pointer);)
WRITES(prints, (void)!asprintf(&told.text, "%d", 1); free(told.text);)
WRITES(names_folder, (void)!getcwd(told.letters, sizeof(told.letters));)

/* ---- on stacks ---- */

static atomic_int *_Atomic lent;
static atomic_int word;

static void wait_until_back(void)
{
	while (atomic_load(&lent) != NULL)
		;
}

/* Its first write is not ordered before what the other does. */
static void lends_early(void *argument)
{
	int own = 1;
	(void)argument;
	atomic_store_explicit(&lent, (atomic_int *)&own, memory_order_relaxed);
	wait_until_back();
}

/* It hands it over, and writes it no more; or it does, as what a compare-and-swap expects. */
static void lends(void *swaps)
{
	int own = 1;
	atomic_store_explicit(&lent, (atomic_int *)&own, memory_order_release);
	if (swaps != NULL)
		(void)atomic_compare_exchange_strong(&word, &own, 2);
	wait_until_back();
}

static void borrows(void *stores)
{
	atomic_int *place;
	while ((place = atomic_load_explicit(&lent, memory_order_acquire)) == NULL)
		;
	if (stores != NULL)
		atomic_store_explicit(place, 3, memory_order_relaxed);
	else
		seen = *(int *)place;
	atomic_store(&lent, NULL);
}

#define LENDS(name, lender, swaps, stores)           \
	PFS_CHECK_SCENARIO(name)                     \
	{                                            \
		pfs_check_thread((lender), (swaps)); \
		pfs_check_thread(borrows, (stores)); \
	}
LENDS(lends_to_reader, lends, NULL, NULL)
LENDS(lends_to_writer, lends, NULL, &word)
LENDS(lends_early_to_reader_fails, lends_early, NULL, NULL)
LENDS(lends_early_to_writer_fails, lends_early, NULL, &word)
LENDS(lends_expected_to_reader_fails, lends, &word, NULL)
LENDS(lends_expected_to_writer_fails, lends, &word, &word)
