/*
 * mapper.c - a program that maps memory itself, in all ways, and reports it; or starts threads
 * continuously, or asks where their stacks are; or maps in signal handlers while it forks; or locks
 * all its memory; or grows between two measurements; or ends by quick_exit.
 *
 * usage: mapper maps | stacks | asks | signals SECONDS | locked | moment | quick
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define PAGE 4096u

static char large[8u << 20]; /* touched only by mlockall */

static void must(bool fine, const char *what)
{
	if (fine)
		return;
	(void)fprintf(stderr, "mapper: %s\n", what);
	_exit(3);
}

static char *map_at(void *at, size_t bytes, int flags)
{
	char *pages = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags,
			   -1, 0);
	must(pages != MAP_FAILED, "no memory");
	(void)madvise(pages, bytes, MADV_NOHUGEPAGE);
	return pages;
}

static void touch(char *pages, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += PAGE)
		pages[at] = 1;
}

static void *idle(void *unused)
{
	free(malloc(100)); /* a thread that counts: ticks are made by one from now on */
	(void)pause();
	return unused;
}

/* Prints "maps RANGES MAPPED RESIDENT PID", then waits until the caller has looked. */
static void say(unsigned ranges, size_t mapped, size_t resident)
{
	char byte;
	(void)printf("maps %u %zu %zu %d\n", ranges, mapped, resident, (int)getpid());
	(void)fflush(stdout);
	must(read(STDIN_FILENO, &byte, 1) >= 0, "the caller has gone");
}

static void maps(void)
{
	pthread_t thread;
	(void)pthread_create(&thread, NULL, idle, NULL);
	char *one = map_at(NULL, 64 * MIB, MAP_NORESERVE);
	touch(one, 24 * MIB);
	say(1, 64 * MIB, 24 * MIB);
	if (munmap(one, (size_t)1 << 50) == 0) /* beyond all addresses: nothing is unmapped */
		must(false, "munmap of too much");
	say(1, 64 * MIB, 24 * MIB);
	(void)munmap(one + 8 * MIB, 8 * MIB); /* out of the middle */
	say(2, 56 * MIB, 16 * MIB);
	/* Another kind of memory over a part; then the same kind, which changes nothing. */
	must(mmap(one, 2 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1,
		  0) == one,
	     "MAP_FIXED, shared");
	(void)map_at(one + 4 * MIB, MIB, MAP_FIXED);
	say(2, 54 * MIB, 13 * MIB);
	char *moved = mremap(one + 16 * MIB, 48 * MIB, 100 * MIB, MREMAP_MAYMOVE);
	must(moved != MAP_FAILED, "mremap");
	touch(moved + 90 * MIB, MIB);
	say(2, 106 * MIB, 14 * MIB);
	if (mremap(moved, 100 * MIB, 4 * MIB, 0) != moved ||                       /* smaller */
	    mremap(moved, 4 * MIB, (size_t)1 << 50, MREMAP_MAYMOVE) != MAP_FAILED) /* cannot be */
		must(false, "mremap, smaller");
	say(2, 10 * MIB, 9 * MIB);
	(void)munmap(moved, 4 * MIB);
	(void)munmap(one, 8 * MIB);
	must(munmap(one + 1, PAGE) != 0 && munmap(one, 0) != 0, "munmap of an invalid range");
	say(0, 0, 0);
}

/* ---- threads that begin during a measurement ---- */

#define STACKS 2000u
#define STACK_BYTES (256u << 10)

static char *half_of[STACKS]; /* the upper half of its stack */
static atomic_uint begun;

static void *idle_deep(void *place)
{
	volatile char deep[STACK_BYTES / 4];
	pthread_attr_t attributes;
	void *lowest = NULL;
	size_t bytes = 0;
	for (size_t at = 0; at < sizeof(deep); at += PAGE)
		deep[at] = 1;
	free(malloc(100));
	must(pthread_getattr_np(pthread_self(), &attributes) == 0 &&
		     pthread_attr_getstack(&attributes, &lowest, &bytes) == 0,
	     "the stack cannot be found");
	*(char **)place = (char *)lowest + bytes - STACK_BYTES / 2;
	(void)pthread_attr_destroy(&attributes);
	atomic_fetch_add(&begun, 1);
	(void)pause();
	return place;
}

static size_t resident_of_stacks(void)
{
	static unsigned char there[STACK_BYTES / 2 / PAGE];
	size_t count = 0;
	for (unsigned i = 0; i < STACKS; i++) {
		must(mincore(half_of[i], STACK_BYTES / 2, there) == 0, "mincore");
		for (size_t k = 0; k < sizeof(there); k++)
			count += there[k] & 1;
	}
	return count * PAGE;
}

/* The memory below all stacks makes a measurement slow. Prints "maps THREADS BYTES BYTES PID". */
static void stacks(void)
{
	pthread_t thread;
	pthread_attr_t attributes;
	const struct timespec pause = { .tv_nsec = 500000 };
	char *low = map_at((void *)((uintptr_t)1 << 32), 256 * MIB, MAP_FIXED_NOREPLACE);
	touch(low, 256 * MIB);
	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (unsigned i = 0; i < STACKS; i++) {
		must(pthread_create(&thread, &attributes, idle_deep, &half_of[i]) == 0,
		     "no thread");
		(void)nanosleep(&pause, NULL);
	}
	while (atomic_load(&begun) < STACKS)
		(void)nanosleep(&pause, NULL);
	size_t resident = resident_of_stacks();
	say(STACKS, (size_t)STACKS * STACK_BYTES, resident);
}

/* A thread's first allocation is libc's, in pthread_getattr_np, under a lock of the thread. */
static void *ask(void *unused)
{
	pthread_attr_t attributes;
	must(pthread_getattr_np(pthread_self(), &attributes) == 0, "the stack cannot be found");
	(void)pthread_attr_destroy(&attributes);
	return unused;
}

static void asks(void)
{
	for (unsigned i = 0; i < 100; i++) {
		pthread_t thread;
		must(pthread_create(&thread, NULL, ask, NULL) == 0 &&
			     pthread_join(thread, NULL) == 0,
		     "no thread");
	}
}

/* ---- from everywhere ---- */

static volatile sig_atomic_t handled;

static void handler(int number)
{
	(void)number;
	char *pages = map_at(NULL, 3 * (size_t)PAGE, 0);
	(void)munmap(pages + PAGE, PAGE);
	(void)munmap(pages, 3 * (size_t)PAGE);
	handled = handled + 1;
}

static time_t end_of_run;

static void *map_on(void *unused)
{
	while (time(NULL) < end_of_run) {
		char *pages = map_at(NULL, 4 * (size_t)PAGE, 0);
		pages = mremap(pages, 4 * (size_t)PAGE, 9 * (size_t)PAGE, MREMAP_MAYMOVE);
		must(pages != MAP_FAILED, "mremap");
		(void)munmap(pages, 9 * (size_t)PAGE);
		free(malloc(200000)); /* the allocator maps, too */
	}
	return unused;
}

static void child(void)
{
	(void)map_at(NULL, PAGE, 0);
	free(malloc(300000));
	_exit(0);
}

static void signals(unsigned seconds)
{
	pthread_t threads[3];
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { { 0, 0 }, { 0, 0 } };
	end_of_run = time(NULL) + seconds;
	(void)sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < 3; i++)
		(void)pthread_create(&threads[i], NULL, map_on, NULL);
	(void)setitimer(ITIMER_REAL, &often, NULL);
	while (time(NULL) < end_of_run) {
		int status = 1;
		pid_t pid = fork();
		if (pid == 0)
			child();
		must(pid >= 0 && waitpid(pid, &status, 0) == pid && status == 0, "a child failed");
	}
	(void)setitimer(ITIMER_REAL, &never, NULL);
	for (int i = 0; i < 3; i++)
		(void)pthread_join(threads[i], NULL);
	must(handled != 0, "no signal was handled");
	(void)pthread_create(&threads[0], NULL, idle, NULL);
	say(0, 0, 0);
}

/* ---- locked ---- */

static void locked(void)
{
	static unsigned char there[sizeof(large) / PAGE];
	size_t count = 0;
	pthread_t thread;
	(void)pthread_create(&thread, NULL, idle, NULL);
	if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
		(void)printf("refused\n");
		exit(0);
	}
	char *begin = (char *)(((uintptr_t)large + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
	char *later = map_at(NULL, MIB, 0); /* MCL_FUTURE */
	must(mincore(begin, sizeof(large) - PAGE, there) == 0, "mincore");
	for (size_t i = 0; i < sizeof(large) / PAGE - 1; i++)
		count += there[i] & 1;
	must(count == sizeof(large) / PAGE - 1, "mapped memory is not resident");
	must(mincore(later, MIB, there) == 0 && (there[0] & 1) != 0 && (there[200] & 1) != 0,
	     "memory mapped later is not resident");
	say(1, MIB, MIB);
}

/* ---- growth between two measurements ---- */

/* Address space makes a measurement slow, so several ticks pass before the next one. */
static void moment(void)
{
	const size_t wide = 12 * 1024 * MIB, more = 200 * MIB;
	pthread_t thread;
	(void)pthread_create(&thread, NULL, idle, NULL);
	(void)map_at(NULL, wide, MAP_NORESERVE);
	say(1, wide, 0);
	char *grown = malloc(more);
	must(grown != NULL, "no memory");
	touch(grown, more);
	say(1, wide, 0);
	free(grown);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (strcmp(what, "maps") == 0)
		maps();
	else if (strcmp(what, "stacks") == 0)
		stacks();
	else if (strcmp(what, "asks") == 0)
		asks();
	else if (strcmp(what, "signals") == 0)
		signals(argc > 2 ? (unsigned)atoi(argv[2]) : 2);
	else if (strcmp(what, "locked") == 0)
		locked();
	else if (strcmp(what, "moment") == 0)
		moment();
	else if (strcmp(what, "quick") == 0)
		quick_exit(argc > 2 ? atoi(argv[2]) : 0);
	else
		must(false, "unknown case: see usage");
	return 0;
}
