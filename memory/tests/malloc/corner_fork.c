/*
 * corner_fork.c - fork next to threads that allocate, flush stdio, start and end; and what parent
 * and child can do afterwards. A child that hangs is ended by its alarm, which fails the subtest.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "corner.h"

#define HANG_SECONDS 20
#ifndef FORKS
#define FORKS 60
#endif
#define CROWD 4
#define KEPT 64

static volatile int stopping;
static pthread_mutex_t next_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t size_of(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	unsigned bits = *state >> 28;
	return 1 + (*state >> 8) % ((size_t)16 << bits);
}

/* Allocate and free blocks of all sizes; each is stamped while it is in use. */
static void churn(unsigned seed, unsigned turns)
{
	unsigned char *blocks[KEPT] = { NULL };
	size_t lengths[KEPT];
	for (unsigned i = 0; i < turns; i++) {
		unsigned at = i % KEPT;
		if (blocks[at] != NULL) {
			CORNER_CHECK(corner_stamp_differs(blocks[at], lengths[at], at) ==
					     lengths[at],
				     "a block of %zu bytes changed", lengths[at]);
			free(blocks[at]);
		}
		size_t size = size_of(&seed);
		blocks[at] = malloc(size);
		CORNER_CHECK(blocks[at] != NULL, "malloc(%zu)", size);
		lengths[at] = size < 256 ? size : 256;
		corner_stamp(blocks[at], lengths[at], at);
	}
	for (unsigned i = 0; i < KEPT; i++)
		free(blocks[i]);
}

static void *churn_until_stopped(void *unused)
{
	(void)unused;
	for (unsigned i = 1; !stopping; i++)
		churn(i, 500);
	return NULL;
}

/* fflush(NULL) calls this while the list of all files is locked. */
static ssize_t write_and_allocate(void *unused, const char *text, size_t length)
{
	(void)unused;
	for (size_t size = 1; size < 200000; size *= 2) {
		char *copy = malloc(size);
		copy[0] = text[0];
		free(copy);
	}
	return (ssize_t)length;
}

static void *flush_until_stopped(void *unused)
{
	const cookie_io_functions_t calls = { .write = write_and_allocate };
	FILE *file = fopencookie(NULL, "w", calls);
	(void)unused;
	while (!stopping) {
		(void)fprintf(file, "%d and some text\n", stopping);
		(void)fflush(NULL);
		FILE *other = fopen("/dev/null", "w");
		(void)fputs("x", other);
		(void)fclose(other);
	}
	(void)fclose(file);
	return NULL;
}

/* Holds the lock of a file while it allocates. fflush(NULL) waits for that lock with its list
 * locked. */
static void *read_until_stopped(void *unused)
{
	static char text[3000];
	(void)unused;
	memset(text, 'x', sizeof(text) - 1);
	while (!stopping) {
		char *line = NULL;
		size_t length = 0;
		FILE *file = fmemopen(text, sizeof(text) - 1, "r");
		CORNER_CHECK(file != NULL && getline(&line, &length, file) > 0, "getline");
		(void)fclose(file);
		free(line);
	}
	return NULL;
}

static void *read_or_flush_until_stopped(void *unused)
{
	static unsigned number;
	(void)pthread_mutex_lock(&next_lock);
	bool reads = number++ % 2 == 0;
	(void)pthread_mutex_unlock(&next_lock);
	return reads ? read_until_stopped(unused) : flush_until_stopped(unused);
}

static void *churn_once(void *unused)
{
	(void)unused;
	churn(7, 200);
	return NULL;
}

static void *start_until_stopped(void *unused)
{
	(void)unused;
	while (!stopping) {
		pthread_t thread;
		CORNER_CHECK(pthread_create(&thread, NULL, churn_once, NULL) == 0, "no thread");
		(void)pthread_join(thread, NULL);
	}
	return NULL;
}

static void crowd_start(void *(*body)(void *))
{
	stopping = 0;
	corner_start(CROWD, body, NULL);
	(void)usleep(20000);
}

static void crowd_stop(void)
{
	stopping = 1;
	corner_join();
}

static void child_allocates(void *unused)
{
	(void)unused;
	churn(11, 2000);
}

static void child_flushes(void *unused)
{
	(void)unused;
	(void)fflush(NULL);
	churn(11, 200);
	(void)fflush(NULL);
}

static void child_starts(void *unused)
{
	(void)unused;
	churn(3, 200);
	corner_threads(4, churn_once, NULL);
	churn(3, 200);
}

static void fork_beside(void *(*body)(void *), void (*in_child)(void *))
{
	crowd_start(body);
	for (unsigned i = 0; i < FORKS; i++) {
		corner_child(in_child, NULL, HANG_SECONDS);
		churn(i, 300);
	}
	crowd_stop();
	churn(1, 2000);
}

CORNER(fork_allocating)
{
	fork_beside(churn_until_stopped, child_allocates);
}

CORNER(fork_stdio)
{
	fork_beside(flush_until_stopped, child_flushes);
}

CORNER(fork_getline)
{
	fork_beside(read_or_flush_until_stopped, child_flushes);
}

CORNER(fork_ending)
{
	fork_beside(start_until_stopped, child_allocates);
}

CORNER(fork_child_threads)
{
	fork_beside(churn_until_stopped, child_starts);
}

static void child_forks(void *left)
{
	unsigned *generations = left;
	churn(5, 300);
	if (--*generations > 0)
		corner_child(child_forks, generations, HANG_SECONDS);
	churn(5, 300);
}

CORNER(fork_nested)
{
	crowd_start(churn_until_stopped);
	for (unsigned i = 0; i < 10; i++) {
		unsigned generations = 6;
		corner_child(child_forks, &generations, HANG_SECONDS);
	}
	crowd_stop();
}

static void *fork_here(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 10; i++) {
		churn(i, 100);
		corner_child(child_starts, NULL, HANG_SECONDS);
	}
	return NULL;
}

/* The children also call corner_threads, on their own copy of its table. */
CORNER(fork_in_threads)
{
	corner_threads(3, fork_here, NULL);
}

static unsigned char *shared_blocks[CROWD * KEPT];
static pthread_barrier_t filled;
static unsigned next_part;

static void *fill_and_wait(void *unused)
{
	(void)unused;
	(void)pthread_mutex_lock(&next_lock);
	unsigned first = next_part++ * KEPT;
	(void)pthread_mutex_unlock(&next_lock);
	for (unsigned i = first; i < first + KEPT; i++) {
		shared_blocks[i] = malloc(16 + i * 37);
		corner_stamp(shared_blocks[i], 16 + i * 37, i);
	}
	(void)pthread_barrier_wait(&filled);
	(void)pthread_barrier_wait(&filled);
	return NULL;
}

static void child_frees(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < CROWD * KEPT; i++) {
		size_t size = 16 + i * 37;
		CORNER_CHECK(corner_stamp_differs(shared_blocks[i], size, i) == size,
			     "block %u changed", i);
		free(shared_blocks[i]);
	}
	churn(9, 1000);
}

/* The child frees blocks of threads that do not exist in it; the parent still has all of them. */
CORNER(fork_child_frees)
{
	(void)pthread_barrier_init(&filled, NULL, CROWD + 1);
	crowd_start(fill_and_wait);
	(void)pthread_barrier_wait(&filled);
	for (int i = 0; i < 5; i++)
		corner_child(child_frees, NULL, HANG_SECONDS);
	child_frees(NULL);
	(void)pthread_barrier_wait(&filled);
	crowd_stop();
}

static void atfork_churns(void)
{
	churn(13, 50);
}

#define SLEEPERS 100
/* 130 to 220 in four allocators; 15 for each thread if all caches are emptied */
#define FAULTS_MOST 500

static void *cache_and_wait(void *unused)
{
	void *blocks[4000];
	for (size_t i = 0; i < 4000; i++)
		blocks[i] = malloc(16 + i * 37 % 1000);
	for (size_t i = 0; i < 4000; i++)
		free(blocks[i]);
	(void)pthread_barrier_wait(&filled);
	(void)pthread_barrier_wait(&filled);
	return unused;
}

static void child_ends(void *unused)
{
	struct rusage usage;
	(void)unused;
	(void)getrusage(RUSAGE_SELF, &usage);
	CORNER_CHECK(usage.ru_minflt < FAULTS_MOST, "%ld page faults before its first line",
		     usage.ru_minflt);
}

/* What threads cached costs nothing to a child that exits or calls exec, and is available to one
 * that goes on. */
CORNER(fork_beside_caches)
{
	(void)pthread_barrier_init(&filled, NULL, SLEEPERS + 1);
	corner_start(SLEEPERS, cache_and_wait, NULL);
	(void)pthread_barrier_wait(&filled);
	for (int i = 0; i < 5; i++) {
		corner_child(child_ends, NULL, HANG_SECONDS);
		corner_child(child_allocates, NULL, HANG_SECONDS);
		corner_child(child_starts, NULL, HANG_SECONDS);
	}
	(void)pthread_barrier_wait(&filled);
	corner_join();
}

/* Fork handlers that allocate, registered late. */
CORNER(fork_atfork)
{
	CORNER_CHECK(pthread_atfork(atfork_churns, atfork_churns, atfork_churns) == 0, "atfork");
	fork_beside(churn_until_stopped, child_allocates);
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void hold(void)
{
	(void)pthread_mutex_lock(&held);
}

static void let_go(void)
{
	(void)pthread_mutex_unlock(&held);
}

static void *hold_and_churn_until_stopped(void *unused)
{
	for (unsigned i = 1; !stopping; i++) {
		hold();
		churn(i, 100);
		let_go();
	}
	return unused;
}

/* Threads hold a lock while they allocate, and a fork handler waits for that lock. If the
 * allocator's locks were taken first, this would deadlock. Registered while there is one thread. */
CORNER(fork_ordered)
{
	CORNER_CHECK(pthread_atfork(hold, let_go, let_go) == 0, "atfork");
	fork_beside(hold_and_churn_until_stopped, child_allocates);
}

static void *fork_only(void *unused)
{
	for (unsigned i = 0; i < FORKS; i++)
		corner_child(child_allocates, NULL, HANG_SECONDS);
	stopping = 1;
	return unused;
}

/* The program's second thread only forks, while the first is inside malloc. */
CORNER(fork_alone)
{
	stopping = 0;
	corner_start(1, fork_only, NULL);
	(void)churn_until_stopped(NULL);
	corner_join();
}

CORNER(fork_spawn)
{
	extern char **environ;
	crowd_start(churn_until_stopped);
	for (int i = 0; i < 30; i++) {
		char name[] = "true";
		char *arguments[] = { name, NULL };
		pid_t child;
		int status = 1;
		CORNER_CHECK(posix_spawnp(&child, name, NULL, NULL, arguments, environ) == 0,
			     "posix_spawnp");
		(void)waitpid(child, &status, 0);
		CORNER_CHECK(status == 0, "status %#x", (unsigned)status);
	}
	crowd_stop();
}

/* A program with one thread whose child lives on, as a daemon does. */
CORNER(fork_single)
{
	churn(1, 1000);
	for (int i = 0; i < 30; i++) {
		corner_child(child_starts, NULL, HANG_SECONDS);
		corner_child(child_flushes, NULL, HANG_SECONDS);
	}
}

#define HANDLER_FORKS 100u

static volatile sig_atomic_t handler_forks, is_child, child_status, do_return;

static void signal_in_us(unsigned us)
{
	struct itimerval once = { { 0, 0 }, { 0, (suseconds_t)us } };
	(void)setitimer(ITIMER_PROF, &once, NULL);
}

/* The next signal comes some time after this one, or the program would do nothing else. */
static void fork_in_handler(int unused)
{
	int errno_before = errno, status = 0;
	unsigned number = (unsigned)handler_forks + 1;
	(void)unused;
	pid_t child = fork();
	if (child == 0 && (do_return == 0 || number % 4 != 0))
		_exit(0);
	handler_forks = (sig_atomic_t)number;
	if (child == 0) {
		is_child = 1;
		(void)alarm(HANG_SECONDS);
	} else {
		if (waitpid(child, &status, 0) != child || status != 0)
			child_status = status != 0 ? status : -1;
		signal_in_us(100 + number * 37 % 400);
	}
	errno = errno_before;
}

static void fork_interrupted(void *unused)
{
	struct sigaction action = { .sa_handler = fork_in_handler, .sa_flags = SA_RESTART };
	(void)unused;
	handler_forks = 0;
	CORNER_CHECK(sigaction(SIGPROF, &action, NULL) == 0, "sigaction");
	signal_in_us(100);
	for (unsigned i = 1; (unsigned)handler_forks < HANDLER_FORKS && is_child == 0; i++)
		churn(i, 20);
	signal_in_us(0);
	CORNER_CHECK(child_status == 0, "a child has status %#x", (unsigned)child_status);
}

/* A program with one thread is interrupted by signals whose handler forks, most often in malloc or
 * free. */
CORNER(fork_in_signal)
{
	corner_child(fork_interrupted, NULL, HANG_SECONDS);
}

/* Every fourth child returns into what was interrupted. (Beside accounts it is not to return: what
 * a malloc has just read of them is zeroed in a child.) */
CORNER(fork_in_signal_returns)
{
	const char *preloaded = getenv("LD_PRELOAD");
	if (preloaded != NULL && strstr(preloaded, "pfsmem") != NULL)
		corner_skip("libpfsmem");
	do_return = 1;
	corner_child(fork_interrupted, NULL, HANG_SECONDS);
}
