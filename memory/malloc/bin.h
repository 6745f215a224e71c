/*
 * bin.h - the slabs of one size class in an arena: where rings are refilled and flushed.
 *
 * Blocks are taken from the lowest slab of the lowest group that has room: so the others empty,
 * and go. One empty slab is kept as a spare until a tick finds that it was not used.
 *
 * No new slab comes while a region of the class is free in the stock or a word of the arena; nor,
 * with rings of other threads, while these hold as many as a slab has (strict: any). A slab of
 * dirty pages is no new memory.
 *
 * Locks, in this order: `growing`, the registry of caches, `lock`, the extents'.
 */
#ifndef PFS_MALLOC_BIN_H
#define PFS_MALLOC_BIN_H

#include "base.h"
#include "containers/mutex.h"
#include "stock.h"
#include "slab.h"

/* Three lines: what a taker writes in the first and the last, what givers look at between. */
struct pfs_bin {
	alignas(PFS_LINE) struct pfs_mutex lock;
	struct pfs_group **groups; /* under lock, as all but what says otherwise */
	uint32_t group_count, group_capacity;
	uint32_t group_with_hole; /* none below has one */
	uint32_t slab_count;
	_Atomic(uint64_t) room;  /* [K2] [K3] [K5] */
	struct pfs_arena *arena; /* made once, as class */
	struct pfs_mutex growing;
	struct pfs_stock stock;
	uint32_t class;
	uint32_t slab_peak;
	struct pfs_group *first_group; /* groups points here while there is no second one */
	struct pfs_extent *spare;      /* empty, and the only one that is; or NULL */
	uint64_t slabs_made;
	uint64_t slabs_ended;
	uint64_t refills;
	uint64_t takes;     /* regions */
	uint64_t needless;  /* slabs made while a slab's worth was free [only counted] */
	bool spare_is_idle; /* since the last tick */
};

void pfs_bin_init(struct pfs_bin *self, struct pfs_arena *arena, uint32_t class);

/*
 * pfs_bin_take - up to count blocks, into slots[count - 1] downwards in the order of addresses.
 *
 * Returns   how many; 0: no memory. More than 0 but fewer than count: what there was.
 * Errors    as returned.
 * Progress  blocking, on the bin's lock, and where it grows on what the header names.
 * Order     acquire [K6]: the blocks' last bytes.
 */
uint32_t pfs_bin_take(struct pfs_bin *self, void **slots, uint32_t count);

/*
 * pfs_blocks_give - blocks of any slabs, of any arenas, of one or several classes, become free.
 *
 * Returns   nothing. call is for the line that names a pointer which is no block in use.
 * Errors    a block that is free already, a pointer inside of one: pfs_die.
 * Progress  wait-free, one locked instruction for each run of blocks of one word; blocking where a
 *           slab is empty.
 * Order     release [K1].
 */
void pfs_blocks_give(void *const *blocks, uint32_t count, const char *call);

/* A slab of a group was seen empty: it becomes the spare, or ends, or the spare if that lies
 * higher. Takes the lock, and looks again. */
void pfs_bin_settle(struct pfs_bin *self, struct pfs_group *group, uint32_t slot);

/* A tick: end the spare slab if it was not used since the last one. all: end it in any case. */
void pfs_bin_tick(struct pfs_bin *self, bool all);

/* What a bin's slabs hold, and did: all at one moment, but for what is given meanwhile. */
struct pfs_bin_counts {
	uint64_t free_regions;  /* in words, and in the stock */
	uint64_t taken_regions; /* now: in use, or in rings */
	uint64_t takes, gives;  /* of regions, ever */
	uint64_t refills, slabs, slabs_peak, slabs_made, needless;
};
void pfs_bin_count(struct pfs_bin *self, struct pfs_bin_counts *counts);

/* ---- slabs.c, for bin.c ---- */

/* Under lock: up to count free regions of a slab into slots[count - 1] downwards; how many are
 * missing. */
uint32_t pfs_slab_take(struct pfs_extent *slab, void **slots, uint32_t count);

/* A slab that nobody knows; NULL: no memory. */
struct pfs_extent *pfs_slab_new(struct pfs_bin *self);

/* Under lock: it is one of the bin's. False: no memory for a group. */
bool pfs_slab_insert(struct pfs_bin *self, struct pfs_extent *slab);

/* Under lock: it is the bin's no more. end: and its pages go back, outside of the lock. */
void pfs_slab_remove(struct pfs_bin *self, struct pfs_extent *slab);
void pfs_slab_end(struct pfs_extent *slab);

/* Is any region free? Under lock. A false answer is exact, see [SL3]. */
struct pfs_extent *pfs_bin_slab_with_room(struct pfs_bin *self);

#endif
