/*
 * cell.h - counts of one instrument for one life of a thread. A block is credited to its cell
 * whichever thread frees it, and whenever.
 *
 * A block names its cell. A cell is not reused while a block names it, so blocks carry no version,
 * and nothing wraps. The owner counts its allocations and frees in its own cache line, by plain
 * stores. Others count in `word`, which decides who frees the last block after the life's end:
 *
 *	live      word = R, the frees by other threads so far
 *	ended     word = K - blocks left
 *	at K      the thread that reached K folds the cell: it moves the sums, now equal, upwards
 *
 * Invariants
 *	[X1] word < K - 2^61 iff the life has not ended.
 *	[X2] blocks in use = allocs - frees - R of a live cell, K - word of one that has ended.
 *	[X3] exactly one step makes word K, and its thread folds. All steps on word are
 *	     read-modify-writes, so they are totally ordered. The end adds K - (allocs - frees)
 *	     once; each free by another thread adds 1. The sum is K if and only if every block is
 *	     free and the life has ended. A step that is still to come keeps word below K, so no
 *	     thread folds before it. After its own step a thread does not touch the cell, unless
 *	     that step made word K.
 *	[X4] a fold moves allocs = frees and as many bytes: no current value of any row changes.
 *
 * Ordering:  [J1] sums: store or fetch-add, release  <->  [J2] reader: load, acquire
 *            carries, from a free: its allocation's stores, which reached the freeing thread with
 *            the block, by the program's own synchronization; so a reader that counts a free counts
 *            its allocation, and no difference is below zero. From any store: that the record is in
 *            a new life, so that a reader of its sums cannot confirm the word of the old one
 *            (pfs_lock.h, [L5]), and that sums are being moved (books.h, [J4])
 *            [J3] word: fetch-add, acq_rel  <->  [J3] word: fetch-add, acq_rel
 *            carries: foreign_bytes of all freeing threads, and the owner's sums, to the folding
 *            thread
 * Progress   all wait-free. Folding takes the desk's lock; the next pfs_desk_open does it.
 * Source:    our own. A first form stored index, version and account in the block, and used a
 *            tagged word; a cell that is not reused needs neither.
 */
#ifndef PFS_CELL_H
#define PFS_CELL_H

#include <stdbool.h>

#include "containers/barrier.h"
#include "containers/compiler.h"
#include "memory/box/layout.h"

/* Adds to a word that only the calling thread writes. */
static inline void pfs_cell_add_own(_Atomic(uint64_t) *word, uint64_t by)
{
#if defined(__SANITIZE_THREAD__) || defined(PFS_SIM) || !defined(__x86_64__)
	/* [J1] release, pairs with [J2]; relaxed: its own last store. */
	pfs_store_release(word, pfs_load_relaxed(word) + by);
#else
	pfs_barrier_light();
	pfs_add_owned(word, by); /* [J1]: every store of this processor is a release */
#endif
}

/* Counts a block that the owner allocated. */
static inline void pfs_cell_debit(struct pfs_cell *self, uint64_t bytes)
{
	pfs_cell_add_own(&self->allocs, 1);
	pfs_cell_add_own(&self->alloc_bytes, bytes);
}

/* May a mark have to rise? Called by the owner, after a debit. */
static inline bool pfs_cell_is_trapped(struct pfs_cell *self)
{
	/* relaxed: the owner's own words. */
	uint64_t count = pfs_load_relaxed(&self->allocs) - pfs_load_relaxed(&self->frees);
	uint64_t bytes = pfs_load_relaxed(&self->alloc_bytes) - /* relaxed: its own */
			 pfs_load_relaxed(&self->free_bytes);   /* relaxed: its own */
	return count > pfs_load_relaxed(&self->trap_count) ||   /* relaxed: its own */
	       bytes > pfs_load_relaxed(&self->trap_bytes);     /* relaxed: its own */
}

/* Counts a block that the owner allocates, on the fast path. False: nothing is counted, because a
 * mark may have to rise, the block is a sample, or the control area has changed. */
static inline bool pfs_cell_debit_quick(struct pfs_cell *self, _Atomic(uint32_t) *generation,
					uint64_t bytes)
{
	/* As in pfs_cell_is_trapped, for the values after the debit. */
	uint64_t count = pfs_load_owned(&self->allocs) - pfs_load_owned(&self->frees);
	uint64_t all_bytes = bytes + pfs_load_owned(&self->alloc_bytes);
	uint64_t net_bytes = all_bytes - pfs_load_owned(&self->free_bytes);
	if (!pfs_likely(count < pfs_load_owned(&self->trap_count)) ||
	    !pfs_likely(all_bytes < pfs_load_owned(&self->sample_at)) ||
	    !pfs_likely(net_bytes <= pfs_load_owned(&self->trap_bytes)) ||
	    !pfs_likely(pfs_load_relaxed(generation) == /* relaxed: a switch */
			*(const uint32_t *)(const void *)&self->seen))
		return false;
	pfs_cell_debit(self, bytes);
	return true;
}

/* Counts a block that the owner freed. */
static inline void pfs_cell_credit_own(struct pfs_cell *self, uint64_t bytes)
{
	pfs_cell_add_own(&self->frees, 1);
	pfs_cell_add_own(&self->free_bytes, bytes);
}

/* Counts a foreign free. True: it was the last block of an ended life; the caller folds. */
static inline bool pfs_cell_credit_foreign(struct pfs_cell *self, uint64_t bytes)
{
	/* [J1] acq_rel, pairs with [J2]; before word: who makes it K sees all bytes. */
	(void)pfs_fetch_add_acq_rel(&self->foreign_bytes, bytes);
	/* [J3] acq_rel, pairs with [J3]; and a release for [J2], as above. */
	return pfs_fetch_add_acq_rel(&self->word, 1) + 1 == PFS_CELL_ENDED;
}

/* Does the cell belong to the calling thread's life? thread is not 0. The end of a life sets owner
 * to 0 before the thread's reference is reused. */
static inline bool pfs_cell_is_own(struct pfs_cell *self, uint32_t thread)
{
	/* relaxed: a thread sees its own stores; for another thread's life it may see the old or
	 * the new value, and neither is its own reference. */
	return pfs_load_relaxed(&self->owner) == thread;
}

/* Ends the life. True: no block is in use; the caller folds. False: the last free's thread does. */
static inline bool pfs_cell_end(struct pfs_cell *self)
{
	/* relaxed: the owner's own. */
	uint64_t net = pfs_load_relaxed(&self->allocs) - pfs_load_relaxed(&self->frees);
	pfs_store_relaxed(&self->owner, 0); /* relaxed: see pfs_cell_is_own */
	/* [J3] acq_rel, pairs with [J3]. */
	return pfs_fetch_add_acq_rel(&self->word, PFS_CELL_ENDED - net) == net;
}

/* The sums of a cell at one moment; differences are signed. */
struct pfs_cell_sums {
	uint64_t allocs, frees, alloc_bytes, free_bytes;
};

/* Frees by others, from a loaded word and the owner's two sums of the same cell. */
static inline uint64_t pfs_cell_foreign(uint64_t word, uint64_t allocs, uint64_t frees)
{
	return word < PFS_CELL_ENDED / 2 ? word : word - (PFS_CELL_ENDED - (allocs - frees));
}

/* Called by any thread. For a live cell no difference is below zero; at rest it is exact. */
static inline struct pfs_cell_sums pfs_cell_read(struct pfs_cell *self)
{
	struct pfs_cell_sums sums;
	uint64_t word = pfs_load_acquire(&self->word); /* [J2] acquire, pairs with [J1] */
	/* [J2] acquire, pairs with [J1]; so the next two. */
	uint64_t foreign = pfs_load_acquire(&self->foreign_bytes);
	sums.frees = pfs_load_acquire(&self->frees);             /* [J2] acquire, pairs with [J1] */
	sums.free_bytes = pfs_load_acquire(&self->free_bytes);   /* [J2] acquire, pairs with [J1] */
	sums.allocs = pfs_load_acquire(&self->allocs);           /* [J2] acquire, pairs with [J1] */
	sums.alloc_bytes = pfs_load_acquire(&self->alloc_bytes); /* [J2] acquire, pairs with [J1] */
	sums.frees += pfs_cell_foreign(word, sums.allocs, sums.frees);
	sums.free_bytes += foreign;
	return sums;
}

#endif
