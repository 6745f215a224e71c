/*
 * cell.h - what one life of a thread has of one instrument, and how a block is credited to it,
 * whoever frees it and whenever.
 *
 * A block names its cell. A cell is not used again while a block names it: so no version goes with
 * the block, and nothing wraps. The owner counts what it allocates and frees in a line of its own,
 * by plain stores. Others count in `word`, which decides who is the last when the life has ended:
 *
 *	live      word = R, what others freed so far
 *	ended     word = K - blocks that are left
 *	at K      whoever made it so folds the cell: moves its sums, which are even, upwards
 *
 * Invariants
 *	[X1] word < K - 2^61 iff the life has not ended.
 *	[X2] blocks in use = allocs - frees - R of a live cell, K - word of one that has ended.
 *	[X3] exactly one step makes word K, and its thread folds. Steps on word are
 *	     read-modify-writes, so in one order; the end adds K - (allocs - frees) once, each
 *	     free by another adds 1 once; together they are K when, and only when, every block
 *	     is free and the life has ended. Whoever has yet to add keeps it below K, so nobody
 *	     folds before, and nobody touches the cell after his own step unless that made it K.
 *	[X4] a fold moves allocs = frees and as many bytes: no current value of any row changes.
 *
 * Ordering:  [J1] sums: store or fetch-add, release  <->  [J2] reader: load, acquire
 *            carries, from a free: its allocation's stores, which went to who frees with the
 *            block, by the program's own means; so a reader who counts a free counts its
 *            allocation, and no difference is below zero. From any store: that the record is
 *            in a new life, so that a reader of its sums cannot confirm the word of the old one
 *            (pfs_lock.h, [L5]), and that sums are being moved (books.h, [J4])
 *            [J3] word: fetch-add, acq_rel  <->  [J3] word: fetch-add, acq_rel
 *            carries: foreign_bytes of all who freed, and the owner's sums, to who folds
 * Progress   all wait-free. To fold takes the desk's lock, later and by whoever has time.
 * Source:    our own. That index, version and account go with the block, and a tagged word decides,
 *            is the form in which it was tried first; a cell that stays needs neither.
 */
#ifndef PFS_CELL_H
#define PFS_CELL_H

#include <stdbool.h>

#include "containers/barrier.h"
#include "containers/compiler.h"
#include "memory/box/layout.h"

/* Add to a word that the calling thread alone writes. */
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

/* The owner allocated a block. */
static inline void pfs_cell_debit(struct pfs_cell *self, uint64_t bytes)
{
	pfs_cell_add_own(&self->allocs, 1);
	pfs_cell_add_own(&self->alloc_bytes, bytes);
}

/* May a mark have to rise? By the owner, after a debit. */
static inline bool pfs_cell_is_trapped(struct pfs_cell *self)
{
	/* relaxed: all of it the owner's own. */
	uint64_t count = pfs_load_relaxed(&self->allocs) - pfs_load_relaxed(&self->frees);
	uint64_t bytes = pfs_load_relaxed(&self->alloc_bytes) - /* relaxed: its own */
			 pfs_load_relaxed(&self->free_bytes);   /* relaxed: its own */
	return count > pfs_load_relaxed(&self->trap_count) ||   /* relaxed: its own */
	       bytes > pfs_load_relaxed(&self->trap_bytes);     /* relaxed: its own */
}

/* The owner allocates a block. False: not yet, nothing is counted; a mark may have to rise, it is a
 * sample, or something has changed. */
static inline bool pfs_cell_debit_quick(struct pfs_cell *self, _Atomic(uint32_t) *generation,
					uint64_t bytes)
{
	/* As in pfs_cell_is_trapped, of what will be. */
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

/* The owner freed one. */
static inline void pfs_cell_credit_own(struct pfs_cell *self, uint64_t bytes)
{
	pfs_cell_add_own(&self->frees, 1);
	pfs_cell_add_own(&self->free_bytes, bytes);
}

/* Another thread did. True: it was the last of a life that has ended; the caller folds. */
static inline bool pfs_cell_credit_foreign(struct pfs_cell *self, uint64_t bytes)
{
	/* [J1] acq_rel, pairs with [J2]; before word: whoever makes that K has all bytes. */
	(void)pfs_fetch_add_acq_rel(&self->foreign_bytes, bytes);
	/* [J3] acq_rel, pairs with [J3]; and a release for [J2], as above. */
	return pfs_fetch_add_acq_rel(&self->word, 1) + 1 == PFS_CELL_ENDED;
}

/* Is the life that the cell is of the calling thread's, which is not 0? Its end makes it nobody's,
 * before the thread's reference is used again. */
static inline bool pfs_cell_is_own(struct pfs_cell *self, uint32_t thread)
{
	/* relaxed: a thread sees its own stores; of another's life it may see either, and neither
	 * is its own reference. */
	return pfs_load_relaxed(&self->owner) == thread;
}

/* The life ends. True: no block is in use; the caller folds. Else whoever frees the last. */
static inline bool pfs_cell_end(struct pfs_cell *self)
{
	/* relaxed: the owner's own. */
	uint64_t net = pfs_load_relaxed(&self->allocs) - pfs_load_relaxed(&self->frees);
	pfs_store_relaxed(&self->owner, 0); /* relaxed: see pfs_cell_is_own */
	/* [J3] acq_rel, pairs with [J3]. */
	return pfs_fetch_add_acq_rel(&self->word, PFS_CELL_ENDED - net) == net;
}

/* What a cell had at a moment; differences are signed. */
struct pfs_cell_sums {
	uint64_t allocs, frees, alloc_bytes, free_bytes;
};

/* Frees by others, of a word as it was read, with the owner's two sums of the same cell. */
static inline uint64_t pfs_cell_foreign(uint64_t word, uint64_t allocs, uint64_t frees)
{
	return word < PFS_CELL_ENDED / 2 ? word : word - (PFS_CELL_ENDED - (allocs - frees));
}

/* By anybody. Of a live cell no difference is below zero; and at rest it is exact. */
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
