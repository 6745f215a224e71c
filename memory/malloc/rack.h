/*
 * rack.h - a thread's freed blocks of 16 to 256 KiB, kept for its next requests of their sizes.
 *
 * A rack has 19 slots, for five groups of size classes: 4 slots for 16 KiB, 8 up to 32 KiB, 4 up to
 * 64 KiB, 2 up to 128 KiB and 1 up to 256 KiB. So a thread keeps at most 1088 KiB. If the group of
 * a freed block is full, the block replaces the others in turn.
 *
 * Any thread may empty a slot: its owner for a request; a tick that finds the block there for the
 * second time; a thread that takes new memory for a large block, or is about to take it for a
 * slab. That costs a locked instruction each time, but needs neither a barrier nor an
 * announcement, as rings do: calls of this size are rare enough.
 *
 * Invariants
 * 	[RK1] only its owner puts a block into a slot, and only into an empty one. Any thread may
 * 	     empty it.
 * 	[RK2] a block on a rack is of its thread's arena, and its extent's kind is CACHED. So a
 * 	     second free is noticed at once, and pfs_malloc_walk passes the block over.
 *
 * Ordering:  [RK3] slot: store, release  <->  [RK4] slot: CAS or exchange, acquire
 *            carries: the owner's last bytes and what the extent says of the block, to the thread
 *            that gets it.
 * Progress   put and take: wait-free, except that put frees the block that it replaces.
 * Source:    our own.
 */
#ifndef PFS_MALLOC_RACK_H
#define PFS_MALLOC_RACK_H

#include <stdbool.h>

#include "cache.h"

#define PFS_RACK_MOST ((size_t)256 << 10) /* bytes of a block */

/* A block for a request of the calling thread, with arbitrary bytes; NULL: none is there. Without a
 * block of the size class, nothing is changed. */
void *pfs_rack_take(size_t size_bytes);

/* Keep a freed large block; false: it is not of a size, an arena or a program that keeps them. */
bool pfs_rack_put(struct pfs_extent *extent);

/* Free the blocks of a rack: all, or those that the last call without `all` has seen. Returns
 * whether some stay. If its owner asks for all, none stays, whatever other threads do meanwhile: a
 * thread that ends gives back its cache. Blocking: the extents' lock. */
bool pfs_rack_tick(struct pfs_cache *cache, bool all);

/* Add what a rack holds, and how many requests it has served. */
void pfs_rack_count(struct pfs_cache_counts *counts, struct pfs_cache *cache);

/* An arena takes new memory: free what some of its racks hold, so that it is used next. Passes if
 * another thread has the registry. Under no lock but a bin's `growing`. */
void pfs_racks_take_back(struct pfs_arena *arena);

#endif
