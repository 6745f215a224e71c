/*
 * proof.h - proves by the roots of the trees that no record is free, and then adds a page.
 *
 * Ordering:  [P1] begin of a move: fetch-add, acq_rel  <->  [P3] look: load, acquire
 *            [P2] end of a move: fetch-add, acq_rel    <->  [P3]
 *            carries: that some thread holds bits, or that a path is being raised
 */
#ifndef PFS_PROOF_H
#define PFS_PROOF_H

#include "front.h"
#include "occupancy.h"

/* How often a thread that waits for another thread's page looks, with a yield between, before it
 * sleeps. */
#ifdef PFS_SIM
uint32_t pfs_sim_proof_looks(void);
#define PFS_PROOF_LOOKS pfs_sim_proof_looks()
#else
#define PFS_PROOF_LOOKS 16384u
#endif
#define PFS_PROOF_LOCK_LOOKS 64u   /* one look in this many checks whether the lock is free */
#define PFS_PROOF_ROOM_LOOKS 1024u /* and one in this many whether there is room elsewhere */
#define PFS_PROOF_ATTEMPTS 8u      /* of a thread that holds the lock, before the next thread's */

enum pfs_proof {
	PFS_PROOF_CLAIM,  /* the claim is the first record of a page that was added, or a record
			   * that was granted or found meanwhile */
	PFS_PROOF_AGAIN,  /* there may be room, or was meanwhile: search again */
	PFS_PROOF_REFUSED /* none is free, and no page can be added */
};

/*
 * pfs_prove_or_grow - a search found nothing: prove that no record is free, then add a page; or
 * wait for a record of another thread's page (seats.h).
 *
 * Returns   the outcome; *claim with CLAIM; thread->growth with REFUSED.
 * Errors    as returned.
 * Progress  a refusal while no ring is open: wait-free, unless a page comes or goes. Otherwise
 *           blocking: takes `mapping`, under which memory is mapped, and `growth`, under which
 *           nothing waits.
 * Order     acquire [T7] [P3].
 * Cost      two loads a root; if rings are open, closing them, with one heavy barrier.
 */
enum pfs_proof pfs_prove_or_grow(struct pfs_thread *thread, struct pfs_claim *claim);

/* For proofs about the front, too (front.h). look_at_shared: one look at the roots of what any
 * thread may take from. looks_agree: were all roots EMPTY between two such looks? */
struct pfs_look pfs_look_at_shared(struct pfs_container *self);
bool pfs_looks_agree(struct pfs_look first, struct pfs_look second);

/* Under `growth`: from hold to release a proof fails, because a page comes, goes, or moves from
 * tree to tree. */
static inline void pfs_proof_hold(struct pfs_occupancy *index)
{
	/* [P1] acq_rel, pairs with [P3]: odd before the first bit is taken. */
	(void)pfs_fetch_add_acq_rel(&index->moves, 1);
}

static inline void pfs_proof_release(struct pfs_occupancy *index)
{
	/* [P2] acq_rel, pairs with [P3]: even when all bits are back, or their page is gone. */
	(void)pfs_fetch_add_acq_rel(&index->moves, 1);
}

#endif
