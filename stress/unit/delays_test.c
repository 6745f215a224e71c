/*
 * delays_test.c - the waits of containers/delays.h: they hit a window of two instructions, a seed
 * repeats them, and a program that aborts prints the seed.
 *
 * usage: delays_test window SECONDS | decisions | panic | free_twice
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "containers/atomic.h"
#include "containers/compiler.h"
#include "containers/delays.h"

#define DECISIONS 200000u
#define LOOK_NS 300000

static _Atomic(uint64_t) ready, data, stop, rounds;

static double seconds_now(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void rest(void)
{
	struct timespec wait = { 0, LOOK_NS };
	(void)nanosleep(&wait, NULL);
}

/* The defect: the word that announces the data is stored before the data. */
#define ANNOUNCE_TOO_EARLY(round)                                                 \
	do {                                                                      \
		pfs_store_release(&ready, (round)); /* the window is from here */ \
		pfs_store_release(&data, (round));  /* to here */                 \
	} while (0)

/* Several places, as a program has several windows. */
static void announce(uint64_t round)
{
	switch (round % 4) {
	case 0: ANNOUNCE_TOO_EARLY(round); break;
	case 1: ANNOUNCE_TOO_EARLY(round); break;
	case 2: ANNOUNCE_TOO_EARLY(round); break;
	default: ANNOUNCE_TOO_EARLY(round);
	}
}

static void *announcer(void *unused)
{
	for (uint64_t round = 1; pfs_load_acquire(&stop) == 0; round++) {
		announce(round);
		pfs_store_release(&rounds, round);
		rest();
	}
	return unused;
}

/* Looks about as often as there are rounds: a look must fall between the two stores. */
static int find_window(double seconds)
{
	pthread_t native;
	bool found = false;
	double begin = seconds_now();
	if (pthread_create(&native, NULL, announcer, NULL) != 0)
		return 2;
	while (!found && seconds_now() < begin + seconds) {
		uint64_t round = pfs_load_acquire(&ready);
		found = pfs_load_acquire(&data) < round;
		rest();
	}
	pfs_store_release(&stop, 1);
	(void)pthread_join(native, NULL);
	(void)printf("%s after %.3f s, %llu rounds\n", found ? "found" : "not found",
		     seconds_now() - begin, (unsigned long long)pfs_load_acquire(&rounds));
	return found ? 0 : 1;
}

/* Accesses of a fast path, and now and then one of a slow one. */
static void *decide(void *unused)
{
	static _Atomic(uint64_t) word;
	for (uint32_t i = 0; i < DECISIONS; i++) {
		uint64_t seen = pfs_load_relaxed(&word);
		if (i % 1000 == 7)
			pfs_store_release(&word, seen + 2);
		(void)pfs_cas_acquire(&word, &seen, seen + 1);
	}
	(void)printf("%016llx\n", (unsigned long long)pfs_delays_digest());
	return unused;
}

/* One thread after the other, so that the counts repeat, too. */
static int show_decisions(void)
{
	pthread_t native;
	(void)decide(NULL);
	return pthread_create(&native, NULL, decide, NULL) != 0 || pthread_join(native, NULL) != 0;
}

static int free_twice(void)
{
	void *volatile block = malloc(100);
	void *volatile again = block;
	(void)pfs_load_relaxed(&ready); /* the program's own copy of the waits says nothing */
	free(block);
	free(again);
	return 0;
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	if (strcmp(part, "window") == 0 && argc == 3)
		return find_window(atof(argv[2]));
	if (strcmp(part, "decisions") == 0)
		return show_decisions();
	if (strcmp(part, "free_twice") == 0)
		return free_twice();
	if (strcmp(part, "panic") == 0) {
		(void)pfs_load_relaxed(&ready);
		pfs_panic_plain("asked for");
	}
	(void)fprintf(stderr,
		      "usage: delays_test window SECONDS | decisions | panic | free_twice\n");
	return 2;
}
