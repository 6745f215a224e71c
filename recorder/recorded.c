/*
 * recorded.c - a program for the tests of the recorder, which reports what it allocates and frees.
 *
 * usage: recorded threads N | fork | endless | pairs N
 * Threads allocate objects of 1000 to 1999 bytes, which no other code here does, by every function
 * that is recorded; they free some, hand others to the next thread, and end. The program prints how
 * many of each it did, and what it left alive. With pairs the threads do nothing but allocate and
 * free, for overhead.py.
 */
#define _GNU_SOURCE 1
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 3000
#define PASSED 500
#define PAIRS 1000000u
#define SIZE_FIRST 1000u

struct lane {
	void *passed[PASSED]; /* to the next thread */
	pthread_t thread;
	unsigned long allocations, frees;
	unsigned index;
};

static struct lane *lanes;
static unsigned lane_count;
static pthread_barrier_t barrier;

static void *get(struct lane *self, unsigned round)
{
	size_t size = SIZE_FIRST + round % 1000;
	void *object = NULL;

	self->allocations++;
	switch (round % 6) {
	case 0: return malloc(size);
	case 1: return calloc(1, size);
	case 2: return aligned_alloc(64, size < 1024 ? 1024 : size / 64 * 64);
	case 3: return posix_memalign(&object, 64, size) == 0 ? object : NULL;
	case 4: return memalign(32, size);
	default: object = realloc(malloc(size), 1999 - round % 100); break;
	}
	self->allocations++; /* a realloc is a free and an allocation */
	self->frees++;
	return object;
}

static void give(struct lane *self, void *object)
{
	if (object == NULL || malloc_usable_size(object) < SIZE_FIRST)
		abort();
	self->frees++;
	free(object);
}

static void *run(void *context)
{
	struct lane *self = context;
	void *kept[16] = { NULL };

	for (unsigned i = 0; i < PASSED; i++)
		self->passed[i] = get(self, i);
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < ROUNDS; i++) {
		void **place = &kept[i * 7 % 16];
		if (*place != NULL)
			give(self, *place);
		*place = get(self, i);
		if (i < PASSED) /* what the neighbour made, while it works */
			give(self, lanes[(self->index + 1) % lane_count].passed[i]);
	}
	for (unsigned i = 1; i < 16; i++) /* one is left alive */
		give(self, kept[i]);
	return NULL;
}

static int run_threads(unsigned count)
{
	unsigned long allocations = 0, frees = 0;

	lane_count = count;
	lanes = calloc(count, sizeof(*lanes));
	if (lanes == NULL || pthread_barrier_init(&barrier, NULL, count) != 0)
		return 1;
	for (unsigned i = 0; i < count; i++) {
		lanes[i].index = i;
		if (pthread_create(&lanes[i].thread, NULL, run, &lanes[i]) != 0)
			return 1;
	}
	for (unsigned i = 0; i < count; i++) {
		pthread_join(lanes[i].thread, NULL);
		allocations += lanes[i].allocations;
		frees += lanes[i].frees;
	}
	printf("%u %lu %lu\n", count, allocations, frees);
	return 0;
}

/* The child allocates, execs and exits; only what the parent does belongs to the trace. */
static int run_fork(char *self)
{
	struct lane lane = { .frees = 0 };

	for (unsigned i = 0; i < ROUNDS; i++) {
		give(&lane, get(&lane, i));
		if (i % 500 != 250)
			continue;
		pid_t child = fork();
		if (child == 0) {
			struct lane mine = { .frees = 0 };
			for (unsigned j = 0; j < ROUNDS; j++)
				give(&mine, get(&mine, j));
			if (i == 250)
				execl(self, self, "threads", "2", (char *)NULL);
			exit(0);
		}
		waitpid(child, NULL, 0);
	}
	fflush(stdout);
	printf("1 %lu %lu\n", lane.allocations, lane.frees);
	return 0;
}

static void *run_pairs(void *context)
{
	for (unsigned i = 0; i < PAIRS; i++) {
		void *volatile object = malloc(64);
		free(object);
	}
	return context;
}

static int run_pair_threads(unsigned count)
{
	pthread_t threads[64];

	for (unsigned i = 0; i < count; i++)
		if (i == 64 || pthread_create(&threads[i], NULL, run_pairs, NULL) != 0)
			return 1;
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	struct lane lane = { .frees = 0 };

	if (argc == 3 && strcmp(argv[1], "threads") == 0)
		return run_threads((unsigned)atoi(argv[2]));
	if (argc == 3 && strcmp(argv[1], "pairs") == 0)
		return run_pair_threads((unsigned)atoi(argv[2]));
	if (argc == 2 && strcmp(argv[1], "fork") == 0)
		return run_fork(argv[0]);
	if (argc != 2 || strcmp(argv[1], "endless") != 0)
		return 2;
	for (unsigned i = 0;; i++)
		give(&lane, get(&lane, i));
}
