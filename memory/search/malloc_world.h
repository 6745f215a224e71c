/*
 * malloc_world.h - the allocator of memory/malloc on the simulated machine: one or two arenas, one
 * class, a cache for each virtual thread, and an oracle that knows the owner of each block.
 *
 * Bins, rings, extents and the page map are the library's sources, compiled with PFS_SIM_SMALL:
 * four classes, words of two regions, groups of two slabs, one group with a bit of its own.
 * malloc_world.c replaces what they need of the system: memory is an array, metadata are in another
 * one (base.h), threads use the arenas in turn, there is no ticker, and pfs_die ends the execution.
 *
 * Everything has the same address in each execution, so that a search by states recognises a state
 * that it has seen.
 */
#ifndef PFS_SIM_MALLOC_WORLD_H
#define PFS_SIM_MALLOC_WORLD_H

#include "memory/malloc/arena.h"
#include "memory/malloc/rings.h"
#include "memory/search/scene_command.h"

#define PFS_MALLOC_THREADS_MAX 4u
#define PFS_MALLOC_BLOCKS_MAX 64u /* of 1024 bytes each, from the first page on, in all arenas */
#define PFS_MALLOC_ARENAS_MAX 2u
#define PFS_MALLOC_BASE_BYTES ((size_t)32 << 10)
#define PFS_MALLOC_POOLS_MAX 16u

/* Classes, by the regions of a slab; PAGES: four regions in three pages. */
enum { PFS_MALLOC_FOUR, PFS_MALLOC_TWO, PFS_MALLOC_PAGES, PFS_MALLOC_ONE };

/* A scenario: threads with a few calls each. */
struct pfs_malloc_scene {
	struct pfs_scene scene; /* the letters are in malloc_calls.c */
	uint32_t class;
	/* Each region of the first slabs, by address: the thread that owns it at first, '.' if it
	 * is free, '-' if it stays in use. 'a' and 'b' are threads 0 and 1 with two arenas, one of
	 * threads 0 and 2, one of threads 1 and 3: the region is of the other thread's arena. */
	const char *blocks;
	const char *before;    /* calls of each thread in the set-up, one thread after the other */
	uint32_t ring_entries; /* of the largest ring */
	bool grows_not;        /* a region is free whenever one is wanted: no slab may be added */
	bool strict;           /* the option of this name */
};

struct pfs_malloc_thread {
	uint32_t id;
	char calls[PFS_SCENE_CALLS_MAX + 1];
	void *owned[2 * PFS_SCENE_CALLS_MAX]; /* oldest first */
	uint32_t owned_count;
};

/* What changes in an execution, except the machine and static variables. */
struct pfs_malloc_world {
	struct pfs_arena arenas[PFS_MALLOC_ARENAS_MAX];
	struct pfs_cache *own[PFS_MALLOC_THREADS_MAX];
	alignas(PFS_LINE) char base[PFS_MALLOC_BASE_BYTES];
	size_t base_used;
	struct pfs_mutex base_lock;
	uint64_t stamps[PFS_MALLOC_BLOCKS_MAX]; /* written by a block's owner, without atomics */

	/* The oracle's: not checked for races. */
	struct pfs_malloc_oracle {
		uint32_t owner[PFS_MALLOC_BLOCKS_MAX]; /* 0; 1 + thread; OWNER_KEPT */
		struct pfs_malloc_thread threads[PFS_MALLOC_THREADS_MAX];
		uint32_t aside; /* the thread for which set-up and final checks act */
		uint64_t slabs_before;
		uint64_t mallocs, frees;
	} oracle;

	/* Of all executions. */
	const struct pfs_malloc_scene *scene;
	const char *calls;
	uint32_t arena_count;
	struct pfs_machine *machine;
	struct pfs_base_pool *pools[PFS_MALLOC_POOLS_MAX]; /* static; once they are used */
	uint32_t pool_count;
	uint64_t taken_back; /* rings that other threads took back */
	uint64_t slabs_made, slabs_ended;
};
extern struct pfs_malloc_world pfs_malloc_world;

/* Back to the start: no slab, no cache, memory as it was first. */
void pfs_malloc_world_reset(struct pfs_malloc_world *self);

/* For a search by states: see pfs_scenario. */
uint64_t pfs_malloc_world_known(struct pfs_machine *machine, void *context);
void pfs_malloc_world_keep(struct pfs_machine_snapshot *snapshot, void *context);

/* A name for traces. */
bool pfs_malloc_world_name(void *context, const void *address, char *name, size_t name_bytes);

static inline struct pfs_bin *pfs_malloc_world_bin_of(struct pfs_malloc_world *self, uint32_t arena)
{
	return &self->arenas[arena].bins[self->scene->class];
}

/* Of the first arena. */
static inline struct pfs_bin *pfs_malloc_world_bin(struct pfs_malloc_world *self)
{
	return pfs_malloc_world_bin_of(self, 0);
}

/* Of a thread's arena. */
static inline struct pfs_bin *pfs_malloc_thread_bin(struct pfs_malloc_world *self, uint32_t thread)
{
	return pfs_malloc_world_bin_of(self, thread % self->arena_count);
}

/* Two parts of the page map without extents: threads reserve one of them and write entries. After a
 * reset, neither has a leaf. */
void pfs_malloc_map_reset(void);
void pfs_malloc_map_keep(struct pfs_machine_snapshot *snapshot);
void pfs_malloc_map_reserve(uint32_t thread);
void pfs_malloc_map_check(uint32_t threads);
struct pfs_map_leaf *pfs_malloc_map_leaf(void);
void pfs_malloc_map_unleaf(const void *leaf);

/* The number of a block in the oracle. */
uint32_t pfs_malloc_block_id(const void *block);

/* malloc_calls.c: the body of a virtual thread; and calls made outside of virtual threads. */
void pfs_malloc_calls_body(void *thread);
void pfs_malloc_calls_make(struct pfs_malloc_thread *thread, const char *calls);

/* malloc_check.c: fail the execution unless, at rest, all is in place; after two ticks, no stock
 * may hold a block. */
void pfs_malloc_check(struct pfs_malloc_world *self);
void pfs_malloc_check_ticks(struct pfs_malloc_world *self);

#endif
