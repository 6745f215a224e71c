/*
 * load.h - workloads of pfs-malloc-load: a fixed amount of work by plain malloc and free, so that
 * differences are due to the preloaded allocator. A workload's own tables are mapped, see load_map.
 */
#ifndef PFS_BENCH_LOAD_H
#define PFS_BENCH_LOAD_H

#include <stdint.h>
#include <stdlib.h>

#define LOAD_THREADS_MAX 4096u

struct load_options {
	uint32_t threads;
	uint64_t count; /* the workload says of what */
	uint64_t seed;
	uint32_t idle_ms;  /* how long its idle memory is watched; 0: not at all */
	const char *trace; /* a recorded trace; NULL where none is given */
};

struct load {
	const char *name;
	const char *summary; /* says what count counts */
	uint32_t threads;    /* default values */
	uint64_t count;
	void (*run)(const struct load_options *options);
};

extern const struct load load_tiny, load_pair, load_burst, load_buffers;   /* load_simple.c */
extern const struct load load_large;                                       /* the same */
extern const struct load load_handoff, load_drain;                         /* load_handoff.c */
extern const struct load load_idle, load_idle_foreign, load_free_only;     /* load_idle.c */
extern const struct load load_server, load_dying, load_mixed, load_replay,
	load_tails; /* each its file */

/* One line to stderr, exit 1. */
void load_fail(const char *what) __attribute__((noreturn));

/* Print "name value" on stdout for the measuring script, without malloc. */
void load_say(const char *name, uint64_t value);

/* Resident bytes of this process, exact. */
uint64_t load_resident(void);

/* Print "idle", sleep for idle_ms, print the resident bytes. Does nothing if idle_ms is 0. */
void load_settle(const struct load_options *options);

/* Zeroed memory from the system, bypassing the allocator. */
void *load_map(size_t bytes);
void load_unmap(void *memory, size_t bytes);

/* Run body once in each of `count` new threads, with contexts of size bytes each, until all end. */
void load_threads(uint32_t count, void *(*body)(void *), void *contexts, size_t size);

/* A few cycles each; *state is any number. */
static inline uint64_t load_random(uint64_t *state)
{
	uint64_t x = (*state += UINT64_C(0x9E3779B97F4A7C15));

	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	return x ^ (x >> 29);
}

static inline uint32_t load_below(uint64_t *state, uint32_t limit)
{
	return (uint32_t)(((load_random(state) >> 32) * limit) >> 32);
}

/* A size from 2^from to 2^to bytes: each power of two as often as twice that. */
static inline size_t load_size(uint64_t *state, uint32_t from, uint32_t to)
{
	size_t base = (size_t)1 << (from + load_below(state, to - from));

	return base + load_below(state, (uint32_t)base);
}

/* Allocate a block of at least 8 bytes, write to each of its pages, and store its size in the first
 * word. */
static inline void *load_take(size_t size)
{
	char *block = malloc(size);

	if (block == NULL)
		load_fail("no memory");
	for (size_t at = 4096; at < size; at += 4096)
		block[at] = 1;
	*(uint64_t *)block = (uint64_t)size;
	return block;
}

/* Free such a block; its first word must still have the size. */
static inline void load_give(void *block, size_t size)
{
	if (*(uint64_t *)block != (uint64_t)size)
		load_fail("a block was overwritten: it had two owners");
	free(block);
}

#endif
