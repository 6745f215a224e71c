/*
 * decay.h - how many surplus pages may stay: a smooth curve from all of them to none.
 *
 * Pages that became surplus in the same reclaim pass are a cohort; its age is the number of passes
 * since. Of a cohort of n pages, n * h(age) may stay, with
 *
 *	h(age) = 1 - S(age / passes),   S(x) = 6 x^5 - 15 x^4 + 10 x^3  ("smootherstep")
 *
 * so h(0) = 1, h(passes) = 0, and the curve is flat at both ends. The sum over all cohorts may
 * stay, rounded to the nearest page. A page that is used again leaves its cohort. A page that was
 * given back still counts in it, or the rest would fall faster than the curve.
 *
 * Invariant: cohort[a], counted from the newest, is the number of pages that became surplus a
 * passes ago and were not used since. A cohort of age `passes` is forgotten. So without new surplus
 * the limit never rises, and `passes` passes after the last one it is 0. Only a reclaim pass
 * touches this, under `passing`; it has no atomics.
 * Source:    decay of dirty pages in jemalloc (src/decay.c, smoothstep.h), which keeps the count of
 *            each of 200 epochs and does not remove a page that is used again.
 */
#ifndef PFS_DECAY_H
#define PFS_DECAY_H

#include <stdbool.h>
#include <stdint.h>

#define PFS_DECAY_BITS 30          /* of the fraction of a weight */
#define PFS_DECAY_PASSES_MAX 1000u /* so that passes^5 fits 64 bits */

struct pfs_decay {
	uint32_t passes;   /* init only; 0: no page may stay */
	uint32_t newest;   /* index in cohorts of the cohort of age 0 */
	uint32_t *weights; /* [passes] init only: h(age) * 2^PFS_DECAY_BITS, rounded down */
	uint32_t *cohorts; /* [passes] a ring */
};

/* pfs_decay_weight - h(age) in units of 2^-PFS_DECAY_BITS, rounded down: exact in integers. */
uint32_t pfs_decay_weight(uint32_t passes, uint32_t age);

/* pfs_decay_init - passes from 0 to PFS_DECAY_PASSES_MAX; false: no memory. fini may follow either
 * result. */
bool pfs_decay_init(struct pfs_decay *self, uint32_t passes);
void pfs_decay_fini(struct pfs_decay *self);

/*
 * The steps of a reclaim pass. turn: age every cohort by one pass and begin a new one. enter: a
 * page became surplus in this pass. leave: a page of the cohort of this age was used again. limit:
 * the number of surplus pages that may stay. clear: no page is surplus any more.
 */
void pfs_decay_turn(struct pfs_decay *self);
void pfs_decay_enter(struct pfs_decay *self);
void pfs_decay_leave(struct pfs_decay *self, uint32_t age);
uint64_t pfs_decay_limit(const struct pfs_decay *self);
void pfs_decay_clear(struct pfs_decay *self);

#endif
