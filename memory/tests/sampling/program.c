/*
 * program.c - a program whose stacks are known: it allocates along paths of named functions,
 * reports that, and waits. It is built with frame pointers and without.
 *
 * usage: program PART [PLUGIN...]
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

#define ROUNDS 200u
#define NOINLINE __attribute__((noinline))

static void *kept[64 * ROUNDS];
static unsigned kept_count;

/* Prevents a tail call. */
#define STAY __asm__ volatile("" : : : "memory")

static void keep(void *block)
{
	memset(block, 1, 8);
	kept[kept_count++] = block;
}

static void wait_for(const char *said)
{
	(void)printf("%s %d %u\n", said, (int)getpid(), kept_count);
	(void)fflush(stdout);
	(void)getchar();
}

/* ---- plain calls ---- */

NOINLINE void middle(unsigned depth);
NOINLINE void other_leaf(void);

NOINLINE void leaf(void)
{
	keep(malloc(1000));
	STAY;
}

void other_leaf(void)
{
	keep(calloc(10, 100));
	keep(realloc(malloc(500), 1000));
	keep(aligned_alloc(64, 1024));
	STAY;
}

void middle(unsigned depth)
{
	if (depth != 0)
		middle(depth - 1);
	else
		leaf();
	STAY;
}

NOINLINE static void part_plain(void)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		middle(2);
		other_leaf();
	}
	wait_for("plain");
	STAY;
}

/* ---- a frame of the C library in the middle, without a frame pointer ---- */

NOINLINE int compare(const void *one, const void *other);
int compare(const void *one, const void *other)
{
	keep(malloc(500));
	STAY;
	return *(const int *)one - *(const int *)other;
}

NOINLINE void sort_some(void);
void sort_some(void)
{
	int numbers[3] = { 3, 1, 2 };
	qsort(numbers, 3, sizeof(int), compare);
	STAY;
}

NOINLINE static void part_sort(void)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		sort_some();
	wait_for("sort");
	STAY;
}

/* ---- a C++ library calls back ---- */

NOINLINE void called_back(void);
void called_back(void)
{
	keep(malloc(300));
	STAY;
}

NOINLINE static void part_cxx(void)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		keep(program_cxx(called_back));
	wait_for("cxx");
	STAY;
}

/* ---- threads, deep stacks, coroutines' stacks ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

NOINLINE void in_thread(void);
void in_thread(void)
{
	void *block = malloc(2000);
	(void)pthread_mutex_lock(&lock);
	keep(block);
	(void)pthread_mutex_unlock(&lock);
	STAY;
}

NOINLINE static void *thread_main(void *unused)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		in_thread();
	return unused;
}

static void *frees_all(void *unused)
{
	for (unsigned i = 0; i < kept_count; i++)
		free(kept[i]);
	return unused;
}

NOINLINE static void part_threads(void)
{
	pthread_t threads[4], freer;
	for (unsigned i = 0; i < 4; i++)
		(void)pthread_create(&threads[i], NULL, thread_main, NULL);
	for (unsigned i = 0; i < 4; i++)
		(void)pthread_join(threads[i], NULL);
	wait_for("threads");
	(void)pthread_create(&freer, NULL, frees_all, NULL);
	(void)pthread_join(freer, NULL);
	kept_count = 0;
	wait_for("freed");
	STAY;
}

NOINLINE void deep(unsigned depth);
void deep(unsigned depth)
{
	if (depth != 0)
		deep(depth - 1);
	else
		keep(malloc(700));
	STAY;
}

NOINLINE static void part_deep(void)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		deep(200);
	wait_for("deep");
	STAY;
}

/* ---- libraries that come and go: each plugin at the address of the one before, if possible ----
 * */

NOINLINE static void part_plugins(char **paths)
{
	for (; *paths != NULL; paths++) {
		void *file = dlopen(*paths, RTLD_NOW);
		void *(*plugin)(void) = NULL;
		if (file != NULL)
			plugin = (void *(*)(void))dlsym(file, "plugin");
		if (plugin == NULL) {
			(void)fprintf(stderr, "%s\n", dlerror());
			exit(2);
		}
		for (unsigned i = 0; i < ROUNDS; i++)
			keep(plugin());
		wait_for("plugin");
		(void)dlclose(file);
	}
	wait_for("closed");
	STAY;
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	if (strcmp(part, "plain") == 0)
		part_plain();
	else if (strcmp(part, "sort") == 0)
		part_sort();
	else if (strcmp(part, "cxx") == 0)
		part_cxx();
	else if (strcmp(part, "threads") == 0)
		part_threads();
	else if (strcmp(part, "deep") == 0)
		part_deep();
	else if (strcmp(part, "plugins") == 0)
		part_plugins(argv + 2);
	else
		return 2;
	return 0;
}
