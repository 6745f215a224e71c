/*
 * proof.h - no record is free: proved by the roots of the trees, and then a page is added.
 *
 * Ordering:  [P1] begin of a move: fetch-add, acq_rel  <->  [P3] look: load, acquire
 *            [P2] end of a move: fetch-add, acq_rel    <->  [P3]
 *            carries: that bits are in somebody's hands, or a path is on its way
 */
#ifndef PFS_PROOF_H
#define PFS_PROOF_H

#include "front.h"
#include "occupancy.h"

/* How often a thread that waits for another one's page looks on, with a yield between, before it
 * sleeps. */
#ifdef PFS_SIM
uint32_t pfs_sim_proof_looks(void);
#define PFS_PROOF_LOOKS pfs_sim_proof_looks()
#else
#define PFS_PROOF_LOOKS 16384u
#endif
#define PFS_PROOF_LOCK_LOOKS 64u   /* in so many it looks whether nobody makes a page */
#define PFS_PROOF_ROOM_LOOKS 1024u /* and whether there is room elsewhere */
#define PFS_PROOF_ATTEMPTS 8u      /* of a thread whose turn it is, before the next one's */

enum pfs_proof {
	PFS_PROOF_CLAIM,  /* the claim is the first record of a page that was added, or one that
			   * was granted, or found meanwhile */
	PFS_PROOF_AGAIN,  /* there may be room, or was meanwhile: search again */
	PFS_PROOF_REFUSED /* none is free, and no page can be added */
};

/*
 * pfs_prove_or_grow - a search found nothing: prove that no record is free, then add a page; or
 * wait for a record of another thread's page (seats.h).
 *
 * Returns   what came of it; *claim with CLAIM; thread->growth with REFUSED.
 * Errors    as returned.
 * Progress  a refusal while no ring is open: wait-free, but while a page comes or goes. Otherwise
 *           blocking: takes `mapping`, under which memory is mapped, and `growth`, under which
 *           nothing waits.
 * Order     acquire [T7] [P3].
 * Cost      two loads a root; where rings are open, they are closed, with one heavy barrier.
 */
enum pfs_proof pfs_prove_or_grow(struct pfs_thread *thread, struct pfs_claim *claim);

/* For proofs of what stands in front of the words, too (front.h): one look at the roots of what
 * anybody takes from; and were all roots EMPTY between two such looks? */
struct pfs_look pfs_look_at_shared(struct pfs_container *self);
bool pfs_looks_agree(struct pfs_look first, struct pfs_look second);

/* Under `growth`: from hold to release a proof fails, since a page comes, goes, or moves from
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
