/*
 * malloc_world.h - the allocator of memory/malloc on the simulated machine: an arena or two, one
 * class, a cache for each virtual thread, and an oracle that knows who owns which block.
 *
 * The sources of bins, rings, extents and the page map are the very same, with PFS_SIM_SMALL:
 * four classes, words of two regions, groups of two slabs, one group with a bit of its own. What
 * they ask of the world is answered in malloc_world.c: the system's memory is an array, metadata
 * lie in another one (base.h), threads take turns at the arenas, there is no ticker, and pfs_die
 * ends the execution.
 *
 * All of it lies in the same place in each execution, so that a search by states knows a state when
 * it comes again.
 */
#ifndef PFS_SIM_MALLOC_WORLD_H
#define PFS_SIM_MALLOC_WORLD_H

#include "memory/malloc/arena.h"
#include "memory/malloc/rings.h"
#include "memory/search/scene_command.h"

#define PFS_MALLOC_THREADS_MAX 4u
#define PFS_MALLOC_BLOCKS_MAX 64u /* of 1024 bytes each, from the first page on, of all arenas */
#define PFS_MALLOC_ARENAS_MAX 2u
#define PFS_MALLOC_BASE_BYTES ((size_t)32 << 10)
#define PFS_MALLOC_POOLS_MAX 16u

/* Classes, by the regions of their slabs; PAGES: of three pages, and four regions. */
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

/* All that changes in an execution, but what the machine and static variables hold. */
struct pfs_malloc_world {
	struct pfs_arena arenas[PFS_MALLOC_ARENAS_MAX];
	struct pfs_cache *own[PFS_MALLOC_THREADS_MAX];
	alignas(PFS_LINE) char base[PFS_MALLOC_BASE_BYTES];
	size_t base_used;
	struct pfs_mutex base_lock;
	uint64_t stamps[PFS_MALLOC_BLOCKS_MAX]; /* written by a block's owner, without atomics */

	/* The oracle's: nobody's races. */
	struct pfs_malloc_oracle {
		uint32_t owner[PFS_MALLOC_BLOCKS_MAX]; /* 0; 1 + thread; OWNER_KEPT */
		struct pfs_malloc_thread threads[PFS_MALLOC_THREADS_MAX];
		uint32_t aside; /* the thread that set-up and final checks stand for */
		uint64_t slabs_before;
		uint64_t mallocs, frees;
	} oracle;

	/* Of all executions. */
	const struct pfs_malloc_scene *scene;
	const char *calls;
	uint32_t arena_count;
	struct pfs_machine *machine;
	struct pfs_base_pool
		*pools[PFS_MALLOC_POOLS_MAX]; /* static ones, once something went there */
	uint32_t pool_count;
	uint64_t taken_back; /* blocks that others took from rings */
	uint64_t slabs_made, slabs_ended;
};
extern struct pfs_malloc_world pfs_malloc_world;

/* Nothing is there: no slab, no cache, all memory as at first. */
void pfs_malloc_world_reset(struct pfs_malloc_world *self);

/* For a search by states: as pfs_scenario has them. */
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

/* Two parts of the page map that no extent is in: threads reserve one of them, and write entries.
 * reset: none of the two has a leaf. */
void pfs_malloc_map_reset(void);
void pfs_malloc_map_keep(struct pfs_machine_snapshot *snapshot);
void pfs_malloc_map_reserve(uint32_t thread);
void pfs_malloc_map_check(uint32_t threads);
struct pfs_map_leaf *pfs_malloc_map_leaf(void);
void pfs_malloc_map_unleaf(const void *leaf);

/* Which of the oracle's blocks. */
uint32_t pfs_malloc_block_id(const void *block);

/* malloc_calls.c: the calls of a thread, as the body of a virtual one; those of a text, aside. */
void pfs_malloc_calls_body(void *thread);
void pfs_malloc_calls_make(struct pfs_malloc_thread *thread, const char *calls);

/* malloc_check.c: at rest. Fails the execution. Then: two ticks leave nothing in a stock. */
void pfs_malloc_check(struct pfs_malloc_world *self);
void pfs_malloc_check_ticks(struct pfs_malloc_world *self);

#endif
