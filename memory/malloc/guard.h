/*
 * guard.h - guarded blocks: a few of a program's blocks are on pages of their own. The block ends
 * at a page without access, or begins after one, and its own pages lose access when it is freed. So
 * an access beyond the block, or after its end, is a fault, and the fault tells which block it was.
 *
 * The pool has pfs_conf.guard_slots slots. It is reserved with the first guarded block: address
 * space without access. Each slot has PFS_GUARD_BYTES_MOST bytes for a block, followed by a page
 * that is never accessible; so has the pool's begin. Only the pages of a living block have memory.
 *
 *	page  | slot 0: ....[block] | page | slot 1: [block].... | page | slot 2 ...
 *
 * Three of four blocks lie at the end of their slot, rounded up to 16 bytes (8 up to 8 bytes), the
 * others at its beginning. If an alignment was asked for, the end is rounded to that. What is left
 * of their pages holds a pattern, which is compared when the block is freed. The usable size of a
 * guarded block is the size that was asked for.
 *
 * A pool takes at most a 64th of a limited address space (RLIMIT_AS).
 *
 * A freed slot is used again when no other was free for longer. Its record stays until then: who
 * allocated it, who freed it. If all blocks of the pool are in use, mallocs get ordinary ones.
 *
 * Invariants
 *	[GU1] a slot's extent is GUARDED while its block is in use, and HELD from its first use on
 *	     otherwise: so no arena takes it for a free neighbour.
 *	[GU2] the thread that took a slot out of the list, or changed its extent from GUARDED to
 *	     HELD, owns it until it makes it GUARDED or gives it back.
 *	[GU3] from the first use of a slot on, all its pages have entries in the page map that lead
 *	     to its extent. So has no other page of the pool.
 *
 * Ordering:  [GU4] kind: CAS, acq_rel  <->  [GU5] kind: store, release
 *            carries: the slot's record, from the thread that made the block to the one that frees
 *            it, and to a handler that reads it
 * Source:    GWP-ASan (K. Serebryany and others), the idea; the code is our own.
 */
#ifndef PFS_MALLOC_GUARD_H
#define PFS_MALLOC_GUARD_H

#include "extent.h"
#include "trace.h"

#define PFS_GUARD_BYTES_MOST ((size_t)64 << 10)

struct pfs_guard_slot {
	struct pfs_extent extent; /* first; [GU1] */
	uint32_t tag;
	_Atomic(uint32_t) is_freed;  /* the block; [GU4] [GU5] */
	struct pfs_guard_slot *next; /* in the list of freed ones; under lock */
	char *pages;                 /* of the block; [GU2], like all below */
	size_t page_bytes;
	struct pfs_trace allocated, freed;
};

static inline struct pfs_guard_slot *pfs_guard_slot_of(struct pfs_extent *extent)
{
	return (struct pfs_guard_slot *)(void *)extent;
}

/*
 * pfs_guard_take - a slot that no block uses: of those that were used, the one that was freed
 * first.
 *
 * Returns   it; NULL: there is none. is_first: the pool was reserved. is_at_begin: drawn for the
 *           block.
 * Progress  blocking: a lock, held for some instructions; the system, once.
 */
struct pfs_guard_slot *pfs_guard_take(bool *is_first, bool *is_at_begin);

/* Give it back. Blocking, as above. */
void pfs_guard_give(struct pfs_guard_slot *slot);

/* Where its PFS_GUARD_BYTES_MOST bytes begin. */
char *pfs_guard_begin(const struct pfs_guard_slot *slot);

/* The extents of all slots that were ever used; NULL is before the first and after the last. */
struct pfs_extent *pfs_guard_next(struct pfs_extent *before);

/* What is known of the block that an address of the pool belongs to. Calls nothing. */
struct pfs_guard_found {
	uintptr_t block;
	size_t size_bytes;
	bool is_freed;
	struct pfs_trace *allocated, *freed;
};
/* False: the address is outside the pool, or no block was ever near it. */
bool pfs_guard_find(uintptr_t address, struct pfs_guard_found *found);

/* Is it the address of a guarded block that was freed? */
bool pfs_guard_was(uintptr_t address);

/* Memory for the thread that reports, there with the first guarded block. */
#define PFS_GUARD_SCRATCH_BYTES 8192u
char *pfs_guard_scratch(void);

/* The program is about to end: no slot is used again. */
void pfs_guard_stop(void);

/* Around fork: keep all other threads out. */
void pfs_guard_lock(void);
void pfs_guard_unlock(void);

#endif
