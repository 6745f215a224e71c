/*
 * written.c - functions of pthread and libc write what they are told where they are told: others
 * that read it race.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
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
