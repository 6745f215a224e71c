/*
 * stock.h - free blocks of a bin that overflowed from rings, for the next refill: an array of
 * pointers under the bin's lock. A batch comes and goes by a copy, where words want a locked
 * instruction for each block that was freed at random.
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

struct pfs_stock {
	void **blocks;            /* under the bin's lock, as all below */
	_Atomic(uint32_t) count;  /* anybody reads */
	uint32_t capacity;
	uint32_t low;             /* the least there were since the last tick */
};

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
