/*
 * walk_test.c - compares the walk and the counts with the test's own list of every block. Threads
 * allocate, free, resize, hand blocks to each other and end. Whenever all of them rest, the walk
 * must find exactly the listed blocks, each with the size of its class.
 *
 * The owner writes each block from end to end without atomics, and the thread that frees it reads
 * it back, so ThreadSanitizer sees whether a block's bytes were handed on.
 */
#include <pfslab/malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define THREADS 6u
#define ROUNDS 6u
#define STEPS 2500u
#define OWN_MOST 400u

struct held {
	unsigned char *block;
	size_t size;
	unsigned char stamp;
};

struct worker {
	struct held held[OWN_MOST];
	uint32_t count;
	uint64_t random;
	pthread_t thread;
};
static struct worker workers[THREADS];

static uint64_t draw(struct worker *self, uint64_t below)
{
	self->random ^= self->random << 13;
	self->random ^= self->random >> 7;
	self->random ^= self->random << 17;
	return self->random % below;
}

static size_t draw_size(struct worker *self)
{
	uint64_t kind = draw(self, 100);
	if (kind < 70)
		return draw(self, 512);
	if (kind < 97)
		return draw(self, 14400);
	return draw(self, 300000);
}

static void stamp(struct worker *self, struct held *held)
{
	held->stamp = (unsigned char)draw(self, 256);
	memset(held->block, held->stamp, held->size);
}

static void check(const struct held *held, size_t size)
{
	for (size_t i = 0; i < size; i++)
		CHECK(held->block[i] == held->stamp, "byte %zu of a block of %zu changed", i,
		      held->size);
}

static void allocate(struct worker *self)
{
	struct held *held = &self->held[self->count++];
	held->size = draw_size(self);
	switch (draw(self, 6)) {
	case 0:
		held->block = pfs_calloc(1, held->size);
		held->stamp = 0;
		check(held, held->size);
		break;
	case 1: held->block = pfs_memalign((size_t)16 << draw(self, 10), held->size); break;
	default: held->block = pfs_malloc(held->size);
	}
	CHECK(held->block != NULL, "no memory for %zu bytes", held->size);
	CHECK(pfs_malloc_usable_size(held->block) >= held->size, "too short");
	stamp(self, held);
}

static void release(struct worker *self)
{
	uint32_t at = (uint32_t)draw(self, self->count);
	check(&self->held[at], self->held[at].size);
	pfs_block_free(self->held[at].block);
	self->held[at] = self->held[--self->count];
}

static void resize(struct worker *self)
{
	struct held *held = &self->held[draw(self, self->count)];
	size_t size = 1 + draw_size(self);
	size_t kept = size < held->size ? size : held->size;
	held->block = pfs_realloc(held->block, size);
	CHECK(held->block != NULL, "no memory for %zu bytes", size);
	check(held, kept);
	held->size = size;
	stamp(self, held);
}

static void *work(void *opaque)
{
	struct worker *self = opaque;
	for (uint32_t step = 0; step < STEPS; step++) {
		uint64_t kind = draw(self, 100);
		if (self->count == OWN_MOST || (kind < 45 && self->count != 0))
			release(self);
		else if (kind < 55 && self->count != 0)
			resize(self);
		else
			allocate(self);
	}
	return NULL;
}

struct list {
	struct pfs_malloc_block blocks[THREADS * OWN_MOST];
	size_t count;
};

static bool note(const struct pfs_malloc_block *block, void *context)
{
	struct list *list = context;
	CHECK(list->count < THREADS * OWN_MOST, "the walk finds more blocks than there can be");
	list->blocks[list->count++] = *block;
	return true;
}

static int by_address(const void *one, const void *other)
{
	uintptr_t a = (uintptr_t)((const struct pfs_malloc_block *)one)->block;
	uintptr_t b = (uintptr_t)((const struct pfs_malloc_block *)other)->block;
	return a < b ? -1 : a > b;
}

static struct list kept, found;

static void list_kept(void)
{
	kept.count = 0;
	for (uint32_t i = 0; i < THREADS; i++) {
		for (uint32_t h = 0; h < workers[i].count; h++) {
			unsigned char *block = workers[i].held[h].block;
			size_t size = pfs_malloc_usable_size(block);
			kept.blocks[kept.count++] = (struct pfs_malloc_block){ block, size, 0 };
		}
	}
}

static void compare(uint32_t round)
{
	struct pfs_malloc_counts counts;
	uint64_t bytes = 0;
	found.count = 0;
	list_kept();
	uint64_t visited = pfs_malloc_walk(note, &found);
	pfs_malloc_count(&counts);
	CHECK(visited == kept.count, "round %u: %llu blocks found, %zu are kept", round,
	      (unsigned long long)visited, kept.count);
	qsort(kept.blocks, kept.count, sizeof(kept.blocks[0]), by_address);
	qsort(found.blocks, found.count, sizeof(found.blocks[0]), by_address);
	for (size_t i = 0; i < kept.count; i++) {
		CHECK(kept.blocks[i].block == found.blocks[i].block &&
			      kept.blocks[i].size_bytes == found.blocks[i].size_bytes,
		      "round %u: %p of %zu is kept, %p of %zu found", round, kept.blocks[i].block,
		      kept.blocks[i].size_bytes, found.blocks[i].block, found.blocks[i].size_bytes);
		bytes += kept.blocks[i].size_bytes;
	}
	CHECK(counts.allocated == bytes, "round %u: %llu bytes counted, %llu are kept", round,
	      (unsigned long long)counts.allocated, (unsigned long long)bytes);
	CHECK(counts.mallocs - counts.frees == kept.count, "round %u: %llu - %llu calls", round,
	      (unsigned long long)counts.mallocs, (unsigned long long)counts.frees);
	CHECK(counts.mapped == counts.active + counts.dirty + counts.muzzy + counts.retained,
	      "round %u: mapped does not add up", round);
	CHECK(counts.active == counts.allocated + counts.cached + counts.slab_free,
	      "round %u: active does not add up", round);
}

/* In the next round each thread has another thread's blocks. */
static void hand_over(void)
{
	struct worker first = workers[0];
	for (uint32_t i = 0; i + 1 < THREADS; i++) {
		memcpy(workers[i].held, workers[i + 1].held, sizeof(first.held));
		workers[i].count = workers[i + 1].count;
	}
	memcpy(workers[THREADS - 1].held, first.held, sizeof(first.held));
	workers[THREADS - 1].count = first.count;
}

int main(void)
{
	for (uint32_t i = 0; i < THREADS; i++)
		workers[i].random = i + 1;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < THREADS; i++)
			CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0,
			      "no thread");
		for (uint32_t i = 0; i < THREADS; i++)
			(void)pthread_join(workers[i].thread, NULL);
		compare(round);
		hand_over();
	}
	return 0;
}
