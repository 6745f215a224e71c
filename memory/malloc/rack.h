/*
 * rack.h - a thread's freed blocks of 16 to 256 KiB, kept for its next requests of their sizes.
 *
 * A rack has 64 slots for blocks of any of its 17 size classes. The owner notes the slots of each
 * class in a word, so it finds a block, or that there is none, without a search. If its class has
 * none, a request gets a block of the next class: so fewer blocks serve as many requests, and what
 * the program does not touch of them stays without memory. A freed block for which there is no room
 * replaces others, in turn.
 *
 * The bytes that a rack may hold follow what its thread asks for. They begin at 0, so a thread that
 * only frees keeps nothing. Each miss adds a 128th of its bytes, up to 256 KiB, because a thread
 * with few requests would keep more than it uses again. A miss of a class of which a block was
 * replaced since the last miss is a regret: a larger rack would have served it. From the 128th on,
 * each regret adds its bytes, up to 4 MiB. If more than 16 threads share the arena, they share
 * 64 MiB, but each may have 1 MiB.
 *
 * Any thread may empty a slot: its owner for a request; a tick that finds the block there for the
 * second time; a thread that takes new memory for a large block, or is about to take it for a
 * slab. That costs a locked instruction each time, but needs neither a barrier nor an
 * announcement, as rings do: calls of this size are rare enough.
 *
 * Invariants
 * 	[RK1] only its owner puts a block into a slot, and only into one that it has not noted as
 * 	     used. Any thread may empty it.
 * 	[RK2] a block on a rack is of its thread's arena, and its extent's kind is CACHED. So a
 * 	     second free is noticed at once, and pfs_malloc_walk passes the block over.
 * 	[RK5] a slot with a block is noted as used, with the block's class: the note precedes the
 * 	     put, and is erased only after the owner itself has emptied the slot. So a note may
 * 	     be of a block that another thread has taken. The owner erases it when it meets the
 * 	     empty slot. A forked child may lack a thread that was changing its notes, so an
 * 	     explicit cache is settled before the child uses it.
 * 	[RK6] while no cache has a rack's memory, all its slots are empty. So a new owner erases
 * 	     only the notes.
 *
 * Ordering:  [RK3] slot: store, release  <->  [RK4] slot: CAS or exchange, acquire
 *            carries: the owner's last bytes and what the extent says of the block, to the thread
 *            that gets it.
 * Progress   put and take: wait-free, except that put frees the blocks that it replaces (usually
 *            one, at most all) and makes the rack.
 * Source:    our own.
 */
#ifndef PFS_MALLOC_RACK_H
#define PFS_MALLOC_RACK_H

#include <stdbool.h>

#include "cache.h"

#define PFS_RACK_MOST ((size_t)256 << 10) /* bytes of a block */
/* Of all blocks: at first, with many threads, with few. */
#define PFS_RACK_BYTES_FIRST ((uint32_t)256 << 10)
#define PFS_RACK_BYTES_SHARED ((uint32_t)1 << 20)
#define PFS_RACK_BYTES_MOST ((uint32_t)4 << 20)
#define PFS_RACK_CLASSES 17u
#ifndef PFS_RACK_SLOTS /* fewer in the searches */
#define PFS_RACK_SLOTS 64u
#endif
#define PFS_RACK_FULL (UINT64_MAX >> (64 - PFS_RACK_SLOTS)) /* all slots are used */

struct pfs_rack {
	/* The owner's notes [RK5]: which slots are used, and for which class. */
	uint64_t used, of_class[PFS_RACK_CLASSES];
	uint8_t class[PFS_RACK_SLOTS];
	uint32_t bytes; /* of the used slots */
	uint32_t turn;  /* the slot after the one that was replaced last */
	/* A bit for each class: a block of it was replaced since its last miss. */
	uint32_t replaced;
	uint32_t regrets; /* up to those that let a rack grow */
	alignas(PFS_LINE) _Atomic(uint64_t) slots[PFS_RACK_SLOTS]; /* [RK1] */
	_Atomic(uint32_t) has_some; /* any thread: a hint that it holds blocks */
};

/* A block for a request of the calling thread, of more than PFS_SMALL_MAX bytes, with arbitrary
 * bytes; NULL: none is there. may_be_larger: it may be of the next class, at most a quarter
 * longer. */
void *pfs_rack_take(size_t size_bytes, bool may_be_larger);

/* The calling thread, with this cache, gets a large block of a size class elsewhere. */
void pfs_rack_missed(struct pfs_cache *cache, size_t bytes);

/* Keep a freed large block; false: there is no room, or it is not of a size, an arena or a program
 * that keeps them. */
bool pfs_rack_put(struct pfs_extent *extent);

/* Does a rack hold blocks? A hint. By its owner, or under the registry. */
bool pfs_rack_has_some(struct pfs_cache *cache);

/* Free the blocks of a rack that the last call has seen. Returns whether some stay. By its owner,
 * or under the registry. Blocking: the extents' lock. */
bool pfs_rack_tick(struct pfs_cache *cache);

/* Free all blocks of a rack. Returns their bytes. If its owner asks, none stays, whatever other
 * threads do meanwhile: a thread that ends gives back its cache. Otherwise likewise. */
uint64_t pfs_rack_empty(struct pfs_cache *cache);

/* In a child of fork: make the notes anew from the slots, under the registry, before the child's
 * first use of a cache that a thread of its parent may have been using. */
void pfs_rack_settle(struct pfs_cache *cache);

/* The empty rack of a cache that ends: free its memory. */
void pfs_rack_end(struct pfs_cache *cache);

/* Add what a rack holds, and how many requests it has served. Under the registry. */
void pfs_rack_count(struct pfs_cache_counts *counts, struct pfs_cache *cache);

/*
 * An arena takes new memory: free what some of its racks hold, so that it is used next. Passes if
 * another thread has the registry. spares: the memory is for a block of a size that racks keep;
 * passes, too, if less new memory was taken since the last time than the racks held then. Threads
 * that use their racks would otherwise lose them with each miss. Under no lock but a bin's
 * `growing`.
 */
void pfs_racks_take_back(struct pfs_arena *arena, bool spares);

#endif
