/*
 * bin.h - the slabs of one size class in an arena: where rings are refilled and flushed.
 *
 * Blocks are taken from the lowest slab with room in the lowest group with room, so that the other
 * slabs become empty and end. One empty slab is kept as a spare until a tick finds it unused.
 *
 * No slab is made while a region of the class is free in the stock or in a word of the arena, nor,
 * if other threads have rings, while these hold at least a slab's worth (option strict: any
 * region). A slab from dirty pages is exempt: it takes no new memory.
 *
 * Locks, in this order: `growing`, the registry of caches, `lock`, the extents' lock.
 */
#ifndef PFS_MALLOC_BIN_H
#define PFS_MALLOC_BIN_H

#include "base.h"
#include "containers/mutex.h"
#include "stock.h"
#include "slab.h"

struct pfs_cache;

/* Three cache lines: a taker writes the first and the last, givers read the one between. */
struct pfs_bin {
	alignas(PFS_LINE) struct pfs_mutex lock;
	struct pfs_group **groups; /* under lock, like all fields not marked otherwise */
	uint32_t group_count, group_capacity;
	uint32_t group_with_hole; /* no group below has a free place */
	uint32_t slab_count;
	_Atomic(uint64_t) room;  /* [K2] [K3] [K5] */
	struct pfs_arena *arena; /* set once, like class */
	struct pfs_mutex growing;
	struct pfs_stock stock;
	uint32_t class;
	uint32_t slab_peak;
	struct pfs_group *first_group; /* storage for groups[0] while there is one group */
	struct pfs_extent *spare;      /* the only empty slab; or NULL */
	uint64_t slabs_made;
	uint64_t slabs_ended;
	uint64_t refills;
	uint64_t takes;     /* regions */
	uint64_t needless;  /* slabs made while rings held a slab's worth [a statistic] */
	bool spare_is_idle; /* unused since the last tick */
	/* under the registry: where the next look for blocks begins; NULL: anywhere */
	struct pfs_cache *look_next;
};

void pfs_bin_init(struct pfs_bin *self, struct pfs_arena *arena, uint32_t class);

/*
 * pfs_bin_take - up to count blocks, in order of address, from slots[count - 1] downwards.
 *
 * Returns   how many; 0: no memory. More than 0 but fewer than count: all that was available.
 * Errors    as returned.
 * Progress  blocking, on the bin's lock, and where it grows on what the header names.
 * Order     acquire [K6]: the blocks' last bytes.
 */
uint32_t pfs_bin_take(struct pfs_bin *self, void **slots, uint32_t count);

/*
 * pfs_blocks_give - free blocks of any slabs, of any arenas and any classes.
 *
 * Returns   nothing. call is the function that pfs_die names if a pointer is not a block in use.
 * Errors    a block that is already free, a pointer into the middle of one: pfs_die.
 * Progress  wait-free, one locked instruction for each run of blocks of one word; blocking where a
 *           slab becomes empty.
 * Order     release [K1].
 */
void pfs_blocks_give(void *const *blocks, uint32_t count, const char *call);

/* A slab of a group was seen empty. Under the lock, if it still is: it becomes the spare, or ends.
 * Of two empty slabs the lower one is the spare. */
void pfs_bin_settle(struct pfs_bin *self, struct pfs_group *group, uint32_t slot);

/* A tick: move the stock's blocks to the words, and end the spare slab, as far as they were not
 * used since the last one. all: in any case. True: some are left, for a later tick. */
bool pfs_bin_tick(struct pfs_bin *self, bool all);

/* What a bin's slabs hold and have done: a consistent snapshot, except for concurrent frees. */
struct pfs_bin_counts {
	uint64_t free_regions;  /* in words and in the stock */
	uint64_t taken_regions; /* now: in use or in rings */
	uint64_t takes, gives;  /* of regions, since the start */
	uint64_t refills, slabs, slabs_peak, slabs_made, needless;
};
void pfs_bin_count(struct pfs_bin *self, struct pfs_bin_counts *counts);

/* ---- slabs.c, for bin.c ---- */

/* Under lock: up to count free regions of a slab, from slots[count - 1] downwards. Returns how many
 * are missing. */
uint32_t pfs_slab_take(struct pfs_extent *slab, void **slots, uint32_t count);

/* A new slab, not in the bin yet; NULL: no memory. */
struct pfs_extent *pfs_slab_new(struct pfs_bin *self);

/* Under lock: add the slab to the bin. False: no memory for a group. */
bool pfs_slab_insert(struct pfs_bin *self, struct pfs_extent *slab);

/* remove, under lock: take the slab out of the bin. end, without the lock: return its pages. */
void pfs_slab_remove(struct pfs_bin *self, struct pfs_extent *slab);
void pfs_slab_end(struct pfs_extent *slab);

/* Under lock: a slab with a free region. NULL is exact, see [SL3]. */
struct pfs_extent *pfs_bin_slab_with_room(struct pfs_bin *self);

#endif
