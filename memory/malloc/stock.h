/*
 * stock.h - free blocks of a bin that overflowed from rings, kept for the next refill: pointers in
 * chunks that all bins share, under the bin's lock. A batch comes and goes by a copy. Words would
 * need a locked instruction for each block, if blocks were freed in random order.
 *
 * Blocks in a stock can serve only their class, and keep their slabs alive. So a stock is bounded;
 * what was not needed since the last tick goes to the words; and for each slab of new memory some
 * of it goes, of the classes in turn, while the stocks hold more than a 64th of what is in use.
 *
 * Whether the pointers are blocks in use is checked only when they go to the words.
 */
#ifndef PFS_MALLOC_STOCK_H
#define PFS_MALLOC_STOCK_H

#include <stdint.h>

#include "containers/atomic.h"

struct pfs_bin;
struct pfs_arena;

#ifdef PFS_SIM_SMALL
#define PFS_STOCK_CHUNK_BLOCKS 2u
#else
#define PFS_STOCK_CHUNK_BLOCKS 255u /* 2 KiB: a class with few blocks uses little */
#endif

/* The newest block is the highest in the top chunk; the chunks below are full. */
struct pfs_stock_chunk {
	struct pfs_stock_chunk *below;
	void *blocks[PFS_STOCK_CHUNK_BLOCKS];
};

struct pfs_stock {
	struct pfs_stock_chunk *top;   /* under the bin's lock, like all below */
	struct pfs_stock_chunk *empty; /* for the blocks that come next */
	_Atomic(uint32_t) count;       /* read by any thread */
	uint32_t room;                 /* in top and empty */
	uint32_t low;                  /* the fewest since the last tick */
};

/* The number of blocks in the top chunk, from the number of all. */
static inline uint32_t pfs_stock_in_top(uint32_t count)
{
	return count == 0 ? 0 : (count - 1) % PFS_STOCK_CHUNK_BLOCKS + 1;
}

/* Add blocks of the bin's class; false: no room, the bin is locked, or one is of another arena. */
bool pfs_stock_store(struct pfs_bin *bin, void *const *blocks, uint32_t count);

/* Under the bin's lock: take up to count blocks, from slots[count - 1] downwards. Returns how many
 * are missing. */
uint32_t pfs_stock_take(struct pfs_stock *self, void **slots, uint32_t count);

/* Move blocks to the words: all, or those not needed since the last call without `all`. */
void pfs_stock_empty(struct pfs_bin *bin, bool all);

/* All stocks of an arena, all their blocks. */
void pfs_stocks_empty(struct pfs_arena *arena);

/* An arena is about to take new memory: move up to 1024 blocks to the words if its stocks hold
 * much. Under no lock but a bin's `growing`. */
void pfs_stocks_shrink(struct pfs_arena *arena);

#endif
