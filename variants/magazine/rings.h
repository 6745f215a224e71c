/*
 * rings.h - which rings of free records are open: a bit for each ring, in words of 64, and a tree
 * over the words, whose root tells that none is.
 *
 * A ring begins closed: its owner frees to the words. To open it, the owner sets the ring's bit,
 * then raises the path of the bit's word (room.h), and only then puts records into the ring. A
 * taker closes rings again: it gives the records to the words, then clears the bit. So the root is
 * one of those that a proof reads (proof.c): EMPTY says that no ring holds a record. A refusal then
 * looks at no ring, and needs no lock and no barrier; and a walk over the rings visits only those
 * that are open.
 *
 * Invariants
 *	[RG1] a ring holds free records, or its owner may put one there, only while its bit is set;
 *	      and the path of the bit was raised before the first record came.
 *	[RG2] a bit is cleared only under `growth`, by a thread that keeps the owner from the ring,
 *	      after all records of the ring went to the words: by a taker while the control word is
 *	      HANDED (magazine.h), and only if no free is in flight; or by the owner. The owner
 *	      opens the ring again before it uses it.
 *
 * Ordering:  [RG3] open: fetch-or, seq         <->  [RG4] second look: CAS, acq_rel
 *            carries: that the path is being cleared; as [W5] of occupancy.h, for rings. It is seq
 *            for the visits of a proof
 *            [RG5] visit: load, seq            <->  [RG3] open
 *            carries: the ring's place in the word. It is seq so that a ring that is missed here
 *            was opened after this load, in the order of the seq operations
 *            [RG6] close: fetch-and, seq       <->  [RG4] second look
 *            carries: that the ring's records are in the words, to a proof that finds the root
 *            EMPTY [T6] [T7]
 *            [RG7] word: store, release        <->  [RG8] word: load, acquire
 *            carries: the word, zeroed
 * Source:    our own.
 */
#ifndef PFS_RINGS_H
#define PFS_RINGS_H

#include <stddef.h>

#include "variants/exact/room.h"

#define PFS_RING_WORD_RINGS 64u
#ifdef PFS_SIM
#define PFS_RING_WORDS 2u
#else
#define PFS_RING_WORDS 1024u /* a handle that comes later has a ring that stays closed */
#endif

struct pfs_magazine;

struct pfs_ring_word {
	alignas(PFS_LINE) _Atomic(uint64_t) open; /* owners, takers; [RG3] [RG6] */
	/* Written under `roster`, before the ring is opened for the first time. */
	struct pfs_magazine *rings[PFS_RING_WORD_RINGS];
};

struct pfs_rings {
	struct pfs_room room;                                  /* over the words */
	_Atomic(struct pfs_ring_word *) words[PFS_RING_WORDS]; /* the first ones; the rest NULL */
	uint32_t used; /* rings with a place; under `roster` */
	void *nodes;
};

/* All rings closed; NULL: no memory. */
struct pfs_rings *pfs_rings_new(void);
void pfs_rings_free(struct pfs_rings *self); /* runs alone; NULL is allowed */

/* The place of a new ring, which is closed; PFS_RING_NONE: it has to stay closed, because there are
 * too many, or there is no memory. Under `roster`. */
#define PFS_RING_NONE UINT32_MAX
uint32_t pfs_rings_assign(struct pfs_rings *self, struct pfs_magazine *ring);

/*
 * pfs_rings_open - by the ring's owner: from here on takers visit it, and no proof overlooks it.
 * pfs_rings_close - see [RG2].
 * pfs_rings_clear - under `growth`: clear words without an open ring in the tree.
 *
 * Returns   nothing.
 * Errors    none.
 * Progress  open, close: wait-free. clear: lock-free.
 * Order     open: seq [RG3], then that of pfs_room_raise. close: seq [RG6]. clear: acq_rel [RG4].
 */
PFS_COLD void pfs_rings_open(struct pfs_rings *self, uint32_t place);
PFS_COLD void pfs_rings_close(struct pfs_rings *self, uint32_t place);
PFS_COLD void pfs_rings_clear(struct pfs_rings *self);

/* A word, or NULL: there are no more. */
static inline struct pfs_ring_word *pfs_rings_word(struct pfs_rings *self, uint32_t number)
{
	if (number == PFS_RING_WORDS)
		return NULL;
	/* [RG8] acquire, pairs with [RG7]: the word is zeroed. */
	return pfs_load_acquire(&self->words[number]);
}

#endif
