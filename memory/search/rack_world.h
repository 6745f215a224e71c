/*
 * rack_world.h - the racks of memory/malloc/rack.h on the simulated machine: two arenas, a cache
 * for each virtual thread, racks of three slots and usually 256 KiB, a few blocks of 128 and of 256
 * KiB, and an oracle that knows where each block is.
 *
 * rack.c, racks.c and large_end.c are the library's sources. rack_calls.c replaces what they need:
 * extents are an array, and a free one is found under the lock of its arena's extents. A block's
 * bytes are one stamp, written without atomics, as are the fields of its extent.
 */
#ifndef PFS_SIM_RACK_WORLD_H
#define PFS_SIM_RACK_WORLD_H

#include "memory/malloc/arena.h"
#include "memory/malloc/rack.h"
#include "memory/malloc/rings.h"
#include "memory/search/scene_command.h"

#define PFS_RACK_THREADS_MAX 3u
#define PFS_RACK_ARENAS 2u
#define PFS_RACK_BLOCKS_MAX 4u /* of each arena */
#define PFS_RACK_BLOCKS_ALL (PFS_RACK_ARENAS * PFS_RACK_BLOCKS_MAX)

struct pfs_rack_scene {
	struct pfs_scene scene; /* the letters are in rack_calls.c */
	/* Of each arena: 's' is a block of 128 KiB, 'S' one of 256 KiB. */
	const char *blocks;
	const char *before;  /* calls of each thread in the set-up */
	bool loops;          /* each thread makes its calls forever, in any order */
	uint32_t rack_bytes; /* what a rack may hold; 0: 256 KiB */
};

/* What a block is; else 1 + the thread that has it. */
enum { PFS_RACK_FREE = 100, PFS_RACK_PUT /* freed, and not yet with its arena or a new owner */ };

struct pfs_rack_actor {
	uint32_t id;
	uint32_t arena; /* that it is bound to, or will be */
	uint32_t in_call;
	char calls[PFS_SCENE_CALLS_MAX + 1];
};

/* What changes in an execution, except the machine and static variables. */
struct pfs_rack_world {
	struct pfs_extent extents[PFS_RACK_BLOCKS_ALL];
	struct pfs_cache *own[PFS_RACK_THREADS_MAX];
	uint64_t stamps[PFS_RACK_BLOCKS_ALL];            /* the bytes of a block */
	struct pfs_rack racks[1 + PFS_RACK_THREADS_MAX]; /* of the cache with the same place */
	/* The oracle's: not checked for races. */
	struct pfs_rack_oracle {
		uint32_t at[PFS_RACK_BLOCKS_ALL]; /* where a block is */
		struct pfs_rack_actor actors[PFS_RACK_THREADS_MAX];
	} oracle;

	/* The first is that of threads without one. */
	struct pfs_cache caches[1 + PFS_RACK_THREADS_MAX];
	struct pfs_arena arenas[PFS_RACK_ARENAS];

	/* Of all executions. */
	const struct pfs_rack_scene *scene;
	const char *calls;
	uint32_t block_count; /* of each arena */
	uint32_t aside;       /* the thread for which set-up and final checks act */
	struct pfs_machine *machine;
	uint64_t takes, new, ended; /* blocks from a rack, from an arena, and back to one */
};
extern struct pfs_rack_world pfs_rack_world;

/* rack_calls.c: the body of a virtual thread; and calls made outside of virtual threads. */
void pfs_rack_calls_body(void *actor);
void pfs_rack_calls_make(struct pfs_rack_actor *actor, const char *calls);

/*
 * rack_check.c: fail the execution unless each block on a rack is in one slot, put, and of the
 * cache's arena, and at most two blocks for each thread in a call are in no place. A child of fork
 * finds what memory holds between two steps, so this is also what it may rely on.
 */
void pfs_rack_check(void *world);

/* At rest: empty all racks, as a child of fork does. All blocks are then free or in use. */
void pfs_rack_check_emptied(struct pfs_rack_world *self);

#endif
