/*
 * known.c - a program without accounts of its own, whose allocations are known: from two libraries,
 * in three pools of threads, by every call. check_preload.py compares its box with them.
 *
 * usage: known WHAT [...]
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "known.h"

static void must(bool fine, const char *what)
{
	if (fine)
		return;
	(void)printf("known: %s\n", what);
	_exit(3);
}

static void *filled(void *block)
{
	must(block != NULL, "no memory");
	memset(block, 1, malloc_usable_size(block));
	return block;
}

/* Report that all is allocated, and wait until the caller has looked. Does not allocate. */
static void rest(const char *said)
{
	char line[64];
	int length = snprintf(line, sizeof(line), "%s %d\n", said, (int)getpid());
	must(write(STDOUT_FILENO, line, (size_t)length) == length &&
		     read(STDIN_FILENO, line, 1) >= 0,
	     "the caller has gone");
}

/* ---- pools: n threads, each with its share, at rest at one moment ---- */

static pthread_barrier_t all_there, all_seen;

struct share {
	char name[16];
	void *(*allocate)(size_t bytes);
	size_t bytes;
	uint32_t blocks;
};

static void *live(void *context)
{
	const struct share *share = context;
	void **blocks = mmap_bytes(share->blocks * sizeof(void *));
	must(blocks != NULL, "no memory");
	(void)prctl(PR_SET_NAME, share->name);
	for (uint32_t i = 0; i < share->blocks; i++)
		blocks[i] = filled(share->allocate(share->bytes));
	for (uint32_t i = 0; i < share->blocks; i += 2) /* allocate every second one again */
		free(blocks[i]);
	for (uint32_t i = 0; i < share->blocks; i += 2)
		blocks[i] = filled(share->allocate(share->bytes));
	(void)pthread_barrier_wait(&all_there);
	(void)pthread_barrier_wait(&all_seen);
	for (uint32_t i = 0; i < share->blocks; i++)
		free(blocks[i]);
	return NULL;
}

/* Writes a walk report into the file of KNOWN_REPORT. */
extern uint64_t pfs_memory_walk_report(FILE *to) __attribute__((weak));

static void report(void)
{
	const char *path = getenv("KNOWN_REPORT");
	FILE *file = path != NULL && pfs_memory_walk_report != NULL ? fopen(path, "w") : NULL;
	if (file == NULL)
		return;
	must(pfs_memory_walk_report(file) != 0, "no report");
	(void)fclose(file);
}

static void pools(void)
{
	struct share shares[6] = {
		{ "alpha-1", known_one, 100, 1000 },  { "alpha-2", known_one, 100, 500 },
		{ "beta-1", known_two, 5000, 300 },   { "beta-2", known_one, 24, 4000 },
		{ "gamma-1", known_two, 300000, 20 }, { "gamma-2", known_two, 7, 777 },
	};
	pthread_t threads[6];
	(void)pthread_barrier_init(&all_there, NULL, 7);
	(void)pthread_barrier_init(&all_seen, NULL, 7);
	for (int i = 0; i < 6; i++)
		must(pthread_create(&threads[i], NULL, live, &shares[i]) == 0, "no thread");
	(void)pthread_barrier_wait(&all_there);
	report();
	rest("there");
	(void)pthread_barrier_wait(&all_seen);
	for (int i = 0; i < 6; i++)
		(void)pthread_join(threads[i], NULL);
	rest("ended");
}

/* ---- every call, by a library of its own: what is left is known ---- */

static void calls(void)
{
	void *kept[32];
	uint32_t count = 0;
	size_t bytes = known_calls(kept, &count);
	char said[64];
	(void)snprintf(said, sizeof(said), "left %zu %u", bytes, count);
	rest(said);
	for (uint32_t i = 0; i < count; i++)
		free(kept[i]);
	rest("freed");
}

/* ---- foreign: a thread allocates and ends; another frees ---- */

static void *handed[2000];

static void *allocate_and_end(void *unused)
{
	(void)prctl(PR_SET_NAME, "giver-7");
	for (uint32_t i = 0; i < 2000; i++)
		handed[i] = filled(known_one(64));
	return unused;
}

static void *free_half(void *unused)
{
	(void)prctl(PR_SET_NAME, "taker-1");
	for (uint32_t i = 0; i < 1000; i++)
		free(handed[i]);
	return unused;
}

static void foreign(void)
{
	pthread_t thread;
	(void)pthread_create(&thread, NULL, allocate_and_end, NULL);
	(void)pthread_join(thread, NULL);
	(void)pthread_create(&thread, NULL, free_half, NULL);
	(void)pthread_join(thread, NULL);
	rest("half");
	for (uint32_t i = 1000; i < 2000; i++)
		free(handed[i]);
	rest("none");
}

/* ---- a thread is renamed in its life ---- */

static void *rename_and_go_on(void *unused)
{
	void *block = filled(known_one(111));
	(void)prctl(PR_SET_NAME, "late-3");
	void *more[400];
	for (int round = 0; round < 100; round++) {
		(void)usleep(30000);
		for (int i = 0; i < 4; i++)
			more[round * 4 + i] = filled(known_two(1000));
	}
	rest("renamed");
	for (int i = 0; i < 400; i++)
		free(more[i]);
	free(block);
	return unused;
}

static void renamed(void)
{
	pthread_t thread;
	(void)pthread_create(&thread, NULL, rename_and_go_on, NULL);
	(void)pthread_join(thread, NULL);
}

/* ---- threads that come and go, and hand blocks over ---- */

static pthread_mutex_t exchange_lock = PTHREAD_MUTEX_INITIALIZER;
static void *exchange[256];

static void *swap(uint32_t at, void *block)
{
	(void)pthread_mutex_lock(&exchange_lock);
	void *before = exchange[at];
	exchange[at] = block;
	(void)pthread_mutex_unlock(&exchange_lock);
	return before;
}

static void *churn(void *context)
{
	uint64_t state = (uint64_t)(uintptr_t)context * 2654435761u + 1;
	for (int i = 0; i < 3000; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		uint32_t at = (uint32_t)(state >> 40) % 256;
		size_t bytes = (size_t)(state >> 50) % 700;
		void *block = (state >> 33) % 2 != 0 ? known_one(bytes) : known_two(bytes);
		if ((state >> 20) % 8 == 0)
			block = realloc(block, 900);
		free(swap(at, filled(block)));
	}
	return NULL;
}

static void threads(int rounds)
{
	for (int round = 0; round < rounds; round++) {
		pthread_t some[8];
		for (uintptr_t i = 0; i < 8; i++)
			(void)pthread_create(&some[i], NULL, churn,
					     (void *)(i + (uintptr_t)round * 8));
		for (int i = 0; i < 8; i++)
			(void)pthread_join(some[i], NULL);
	}
	for (uint32_t i = 0; i < 256; i++)
		free(swap(i, NULL));
	rest("over");
}

/* ---- fork ---- */

static void *idle(void *unused)
{
	free(filled(known_two(50)));
	(void)pause();
	return unused;
}

/* The child holds what it inherited and 3 x 1000 bytes of its own; the parent is unchanged. */
static void forks(bool is_threaded, bool is_deep)
{
	pthread_t thread;
	int status = 0;
	void *before[10];
	if (is_threaded)
		(void)pthread_create(&thread, NULL, idle, NULL);
	for (int i = 0; i < 10; i++)
		before[i] = filled(known_one(200));
	pid_t child = fork();
	if (child == 0) {
		if (is_deep && fork() != 0) {
			(void)wait(&status);
			exit(WEXITSTATUS(status));
		}
		void *own[3];
		for (int i = 0; i < 3; i++)
			own[i] = filled(known_two(1000));
		for (int i = 0; i < 4; i++)
			free(before[i]);
		rest("child");
		free(own[0]);
		exit(0);
	}
	rest("parent");
	(void)waitpid(child, &status, 0);
	rest("alone");
	exit(WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (strcmp(what, "pools") == 0)
		pools();
	else if (strcmp(what, "calls") == 0)
		calls();
	else if (strcmp(what, "foreign") == 0)
		foreign();
	else if (strcmp(what, "renamed") == 0)
		renamed();
	else if (strcmp(what, "threads") == 0)
		threads(argc > 2 ? atoi(argv[2]) : 10);
	else if (strcmp(what, "fork") == 0 || strcmp(what, "fork_threaded") == 0)
		forks(strcmp(what, "fork") != 0, false);
	else if (strcmp(what, "fork_deep") == 0)
		forks(false, true);
	else
		must(false, "unknown case: see usage");
	return 0;
}
