/*
 * count_cases.c - see count_cases.h.
 *
 * Each case runs next to 500 live blocks of the same size with holes between them. Everything is
 * done several times before the first mark, so the steady state is counted; "-first" cases skip
 * that.
 */
#include "count_cases.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEIGHBOURS 1000u /* every second one stays allocated */
#define BLOCKS 1000u
#define STEADY 4u /* rounds; the last one counts */

static void *neighbours[NEIGHBOURS];
static void *blocks[BLOCKS];

static inline void mark(void)
{
	__asm__ volatile("int3" ::: "memory");
}

static void take_neighbours(uint32_t size)
{
	for (uint32_t i = 0; i < NEIGHBOURS; i++)
		neighbours[i] = malloc(size);
	for (uint32_t i = 0; i < NEIGHBOURS; i += 2)
		free(neighbours[i]);
}

static void pairs(const struct pfs_count_case *self)
{
	uint32_t size = self->size;

	take_neighbours(size);
	for (uint32_t round = 1; round <= self->rounds; round++) {
		if (round == self->rounds)
			mark();
		for (uint32_t i = self->calls; i != 0; i--) {
			void *block = malloc(size);
			/* keeps the compiler from removing the pair */
			__asm__ volatile("" : "+r"(block));
			free(block);
		}
		if (round == self->rounds)
			mark();
	}
}

static void take_blocks(uint32_t size)
{
	for (uint32_t i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(size);
}

static void give_blocks(void)
{
	for (uint32_t i = 0; i < BLOCKS; i++)
		free(blocks[i]);
}

static void mallocs(const struct pfs_count_case *self)
{
	take_neighbours(self->size);
	for (uint32_t round = 1; round < self->rounds; round++) {
		take_blocks(self->size);
		give_blocks();
	}
	mark();
	take_blocks(self->size);
	mark();
}

static void frees(const struct pfs_count_case *self)
{
	take_neighbours(self->size);
	for (uint32_t round = 1; round < self->rounds; round++) {
		take_blocks(self->size);
		give_blocks();
	}
	take_blocks(self->size);
	mark();
	give_blocks();
	mark();
}

/* Another thread, which stays alive while its blocks are freed. */
struct stranger {
	sem_t go, done;
	uint32_t size, rounds;
};

static void *be_stranger(void *opaque)
{
	struct stranger *self = opaque;

	take_neighbours(self->size);
	for (uint32_t round = 1; round <= self->rounds; round++) {
		sem_wait(&self->go);
		take_blocks(self->size);
		sem_post(&self->done);
	}
	sem_wait(&self->go);
	return NULL;
}

static void foreign_frees(const struct pfs_count_case *self)
{
	struct stranger stranger = { .size = self->size, .rounds = self->rounds };
	pthread_t thread;

	sem_init(&stranger.go, 0, 0);
	sem_init(&stranger.done, 0, 0);
	if (pthread_create(&thread, NULL, be_stranger, &stranger) != 0)
		exit(1);
	for (uint32_t round = 1; round <= self->rounds; round++) {
		sem_post(&stranger.go);
		sem_wait(&stranger.done);
		if (round == self->rounds)
			mark();
		give_blocks();
		if (round == self->rounds)
			mark();
	}
	sem_post(&stranger.go);
	pthread_join(thread, NULL);
}

static const struct pfs_count_case cases[] = {
	{ "pair-64", 200, 64, STEADY, pairs },
	{ "malloc-64", BLOCKS, 64, STEADY, mallocs },
	{ "free-64", BLOCKS, 64, STEADY, frees },
	{ "foreign-64", BLOCKS, 64, STEADY, foreign_frees },
	{ "pair-4000", 100, 4000, STEADY, pairs },
	{ "pair-100000", 100, 100000, STEADY, pairs },
	{ "malloc-64-first", BLOCKS, 64, 1, mallocs },
	{ "free-64-first", BLOCKS, 64, 1, frees },
	{ "foreign-64-first", BLOCKS, 64, 1, foreign_frees },
};

const struct pfs_count_case *pfs_count_case_find(const char *name)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(cases[i].name, name) == 0)
			return &cases[i];
	return NULL;
}

int pfs_count_case_run(const struct pfs_count_case *self)
{
	if (self == NULL)
		return 2;
	self->run(self);
	return 0;
}
