/*
 * stock.h - free blocks of a bin that overflowed from rings, for the next refill: pointers in
 * chunks that all bins share, under the bin's lock. A batch comes and goes by a copy, where words
 * want a locked instruction for each block that was freed at random.
 *
 * What lies there is free for the class alone, and keeps its slabs; so it is bounded, what was not
 * needed since the last tick goes to the words, and all of it before the arena takes new memory, if
 * its stocks hold a 64th of what is in use.
 *
 * Whether they are blocks in use at all is found out when they go to the words.
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
#define PFS_STOCK_CHUNK_BLOCKS 255u /* 2 KiB, so that a class that has few pays for few */
#endif

/* The latest block of all stands highest in the top chunk; those below are full. */
struct pfs_stock_chunk {
	struct pfs_stock_chunk *below;
	void *blocks[PFS_STOCK_CHUNK_BLOCKS];
};

struct pfs_stock {
	struct pfs_stock_chunk *top;   /* under the bin's lock, as all below */
	struct pfs_stock_chunk *empty; /* for what comes next */
	_Atomic(uint32_t) count;       /* anybody reads */
	uint32_t room;                 /* in top and empty */
	uint32_t low;                  /* the least there were since the last tick */
};

/* Blocks in the top chunk, of so many in all. */
static inline uint32_t pfs_stock_in_top(uint32_t count)
{
	return count == 0 ? 0 : (count - 1) % PFS_STOCK_CHUNK_BLOCKS + 1;
}

/* Blocks of the bin's class; false: no room, or the bin is locked, or one is of another arena. */
bool pfs_stock_store(struct pfs_bin *bin, void *const *blocks, uint32_t count);

/* Under the bin's lock: up to count blocks into slots[count - 1] downwards; how many are
 * missing. */
uint32_t pfs_stock_take(struct pfs_stock *self, void **slots, uint32_t count);

/* To the words: all, or what was not needed since the last call without all. */
void pfs_stock_empty(struct pfs_bin *bin, bool all);

/* An arena is about to take new memory: if its stocks hold much, they are emptied. Under no lock
 * but a bin's `growing`. */
void pfs_stocks_shrink(struct pfs_arena *arena);

#endif
