/*
 * depot.h - blocks of free records on their way from the ring of one thread to that of another.
 *
 * If one thread allocates and another one frees, rings alone would send each record through its
 * word, with a locked instruction on either side. A full ring sends half of its records as a block,
 * an empty one receives a block: a few locked instructions for all of it. Blocks lie in arrays, one
 * for each NUMA node, under a tree that shows which of them hold records (room.h); its root is one
 * of those that the proof reads.
 *
 *	EMPTY -> FILLING     sender, CAS: it may write the block; the records are in its ring
 *	FILLING -> FULL      sender, CAS: this moves the records into the block; then the path is
 *	                     raised
 *	FILLING -> SPOILED   a taker of the sender's ring: the records stay there
 *	FILLING, SPOILED -> EMPTY  the sender that met a taker; it may have been writing until then
 *	FULL -> CLAIMED      receiver, CAS: it may copy the records, which are still here
 *	CLAIMED -> EMPTY     receiver, CAS: this moves the records into its ring
 *	CLAIMED -> FULL      a taker of the receiver's ring, or the receiver that met one
 *	CLAIMED -> CLAIMED   a taker of all blocks, under `growth`, from a receiver whose ring it
 *	                     revoked
 *
 * Every change raises the turn, so a hold, {block, state, turn}, is valid once. At every moment a
 * record is in one place, and the state of one word tells which one, wherever a thread is stopped:
 * no stopped thread keeps a record. A block that a stopped thread was filling cannot be used until
 * that thread goes on; if it was the last block, others send through the words.
 *
 * Invariants
 *	[Y1] records belong to a block while it is FULL or CLAIMED, and only then.
 *	[Y2] a block that is FULL or CLAIMED has a path that shows it, except between [Y3] and the
 *	     raise by its sender, whose ring shows throughout that a move is in flight.
 *
 * Ordering:  [Y3] fill: CAS, acq_rel       <->  [Y4] claim: CAS, acq_rel
 *            carries: the block's entries, and the bytes of the records
 *            [Y5] empty: CAS, acq_rel      <->  [Y6] reserve: CAS, acquire
 *            carries: that the entries were copied; and to a thread that looks at the receiver's
 *            ring, the ring's entries [Y8]
 *            [Y7] second look: CAS, acq_rel  <->  [Y3] fill
 *            carries: that the path is being cleared; as [W5] of occupancy.h, for blocks
 *            [Y8] look: load, acquire      <->  [Y3] [Y5]
 *            [Y9] claim: CAS, acq_rel      <->  [Y10] walk: load, acquire
 *            carries: that the receiver's ring is open, to a taker that then revokes it
 * Source:    magazines and their depot: J. Bonwick and J. Adams, Magazines and vmem, USENIX 2001,
 *            where a lock guards the depot; the protocol is our own.
 */
#ifndef PFS_DEPOT_H
#define PFS_DEPOT_H

#include "variants/exact/room.h"

#ifdef PFS_SIM /* fewer in some searches, so that few records fill a ring */
uint32_t pfs_sim_ring_records(void);
#define PFS_MAGAZINE_RECORDS pfs_sim_ring_records()
#else
#define PFS_MAGAZINE_RECORDS 64u
#endif
#define PFS_MAGAZINE_RECORDS_MOST 64u
#define PFS_BLOCK_RECORDS (PFS_MAGAZINE_RECORDS / 2)
#define PFS_DEPOT_BLOCKS_MOST 1024u

enum pfs_block_state {
	PFS_BLOCK_EMPTY,
	PFS_BLOCK_FILLING,
	PFS_BLOCK_SPOILED,
	PFS_BLOCK_FULL,
	PFS_BLOCK_CLAIMED,
	PFS_BLOCK_STATE_MASK = 7
};

#define PFS_BLOCK_TURN UINT64_C(8)

struct pfs_block {
	alignas(PFS_LINE) _Atomic(uint64_t) state; /* {state, turn}; any thread */
	uint64_t met;                              /* under `growth`: state seen by a walk */
	uint64_t watched;                          /* counting builds; under `growth` */
	alignas(PFS_LINE) _Atomic(void *) records[PFS_MAGAZINE_RECORDS_MOST / 2];
};

/* Written by start only, except the blocks and the nodes. */
struct pfs_depot {
	struct pfs_room room; /* over the blocks */
	struct pfs_block *blocks;
	uint32_t block_count;
};

/* A block that a thread holds while the block's state is this one. */
struct pfs_hold {
	struct pfs_depot *depot;
	uint32_t block;
	uint64_t state;
};

/* Make a depot for each of `nodes` nodes, of a container of `records` records; pass *memory to
 * free. NULL: no memory. */
struct pfs_depot *pfs_depots_new(uint32_t nodes, uint64_t records, void **memory);

/* Of one depot: the bytes of blocks that were ever used, and of its tree. */
uint64_t pfs_depot_bytes(struct pfs_depot *self);

/*
 * pfs_depot_reserve - an EMPTY block near `from` becomes FILLING; the caller may write it.
 * pfs_depot_claim - a FULL block becomes CLAIMED; the caller may copy it. Blocks that are found
 * without records are cleared.
 *
 * Returns   false: reserve: the blocks it looked at are in use; claim: no block was found FULL.
 * Errors    none.
 * Progress  reserve: wait-free, a few blocks; claim: lock-free.
 * Order     acquire [Y6]; acq_rel [Y4] [Y9].
 */
bool pfs_depot_reserve(struct pfs_depot *self, uint32_t from, struct pfs_hold *hold);
bool pfs_depot_claim(struct pfs_depot *self, uint32_t from, struct pfs_hold *hold);

/* As claim, but the block is not changed: was one FULL? Lock-free. */
bool pfs_depot_has_full(struct pfs_depot *self, uint32_t from);

/*
 * The end of a hold. fill: FULL, with its path raised. spoil: SPOILED. empty: EMPTY. return: FULL
 * again. False: another thread ended the hold before. drop: the sender's own end of a block that is
 * FILLING or SPOILED. Wait-free.
 */
bool pfs_depot_fill(struct pfs_hold hold);
bool pfs_depot_spoil(struct pfs_hold hold);
bool pfs_depot_empty(struct pfs_hold hold);
bool pfs_depot_return(struct pfs_hold hold);
void pfs_depot_drop(struct pfs_hold hold);

/* A walk over the blocks that hold records; initialize with zeroes. */
struct pfs_seizure {
	uint32_t block;
	bool met_claimed;     /* out */
	struct pfs_hold hold; /* out */
};

/*
 * pfs_depot_seize - under `growth`: CLAIM the next block that holds records; the caller must empty
 * it.
 *
 * again: include blocks that the previous walk met CLAIMED and that still are. Their receivers must
 * be unable to go on with them: all rings were revoked in between, see magazine.h.
 *
 * Returns   false: none is left.
 * Errors    none.
 * Progress  lock-free.
 * Order     acquire [Y4].
 */
bool pfs_depot_seize(struct pfs_depot *self, struct pfs_seizure *seizure, bool again);

static inline struct pfs_block *pfs_depot_block(struct pfs_depot *self, uint32_t block)
{
	return &self->blocks[block];
}

static inline bool pfs_block_has_records(uint64_t state)
{
	return (state & PFS_BLOCK_STATE_MASK) >= PFS_BLOCK_FULL;
}

static inline struct pfs_block *pfs_hold_block(struct pfs_hold hold)
{
	return pfs_depot_block(hold.depot, hold.block);
}

/* Is the hold still valid? */
static inline bool pfs_hold_stands(struct pfs_hold hold)
{
	/* [Y8] acquire, pairs with [Y3] and [Y5]. */
	return pfs_load_acquire(&pfs_hold_block(hold)->state) == hold.state;
}

#endif
