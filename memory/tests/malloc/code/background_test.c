/*
 * background_test.c - the library's own thread: many threads start and end it at once; it is gone
 * when an end returns; one that left is started again; a forked child has none.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "memory/malloc/background.h"

#define THREADS 4u
#define ROUNDS 200u

static void run(void);
static struct pfs_background background = PFS_BACKGROUND("background", run);
static uint64_t runs;    /* without atomics: by one such thread after the other */
static bool leaves;      /* written while there is none */
static unsigned running; /* likewise */

#define CHECK(condition, what)                                                \
	do {                                                                  \
		if (!(condition)) {                                           \
			(void)fprintf(stderr, "background_test: " what "\n"); \
			_exit(1);                                             \
		}                                                             \
	} while (0)

static uint64_t in_ms(uint64_t ms)
{
	return pfs_now_ns(CLOCK_MONOTONIC) + ms * 1000000;
}

static void run(void)
{
	runs++;
	running++;
	while (!leaves && !pfs_background_must_end(&background))
		(void)pfs_background_wait(&background, in_ms(10000));
	if (!leaves)
		(void)usleep(1000); /* the last step */
	running--;
	if (leaves)
		pfs_background_leave(&background);
}

static void *start_and_end(void *unused)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		CHECK(pfs_background_start(&background), "no thread");
		pfs_background_wake(&background);
		pfs_background_end(&background);
	}
	return unused;
}

/* Others may have started it again. */
static void at_once(void)
{
	pthread_t threads[THREADS];
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, start_and_end, NULL) == 0,
		      "pthread_create");
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	pfs_background_end(&background);
	CHECK(running == 0, "it runs after it was ended");
	CHECK(runs != 0, "it never ran");
}

static void one(void)
{
	CHECK(pfs_background_start(&background) && pfs_background_start(&background), "no thread");
	CHECK(pfs_background_is_there(&background), "it is not there");
	int status = 1;
	pid_t child = fork();
	if (child == 0) {
		(void)alarm(20);
		pfs_background_child(&background);
		pfs_background_end(&background); /* waits for no thread of the parent */
		_exit(pfs_background_is_there(&background));
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0, "a child waits for it");
	pfs_background_end(&background);
	CHECK(running == 0, "it runs after it was ended");
}

static void leave_and_start(void)
{
	leaves = true;
	uint64_t before = runs;
	for (unsigned i = 0; i < ROUNDS; i++) {
		CHECK(pfs_background_start(&background), "no thread");
		while (pfs_background_is_there(&background))
			(void)usleep(100);
	}
	pfs_background_end(&background);
	CHECK(runs == before + ROUNDS, "it was not started again each time");
}

int main(void)
{
	one();
	at_once();
	leave_and_start();
	(void)printf("%llu runs\n", (unsigned long long)runs);
	return 0;
}
