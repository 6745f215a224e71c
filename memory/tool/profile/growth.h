/*
 * growth.h - which lines have grown: what each holds now and held at moments of the history of
 * stacks.
 */
#ifndef PFS_MEM_GROWTH_H
#define PFS_MEM_GROWTH_H

#include "memory/box/reader_profile.h"
#include "owner.h"
#include "holders.h"

struct pfs_growth {
	struct pfs_holders holders;         /* what grew most since the oldest moment first */
	uint32_t moments[PFS_MOMENTS_KEPT]; /* of the heap, the newest first */
	uint32_t moment_count;
	double *bytes; /* by holder, moment_count each; below 0: not known */
};

/*
 * pfs_growth_make - compare the heap, as sampled, with the oldest of its moments; and choose at
 * most so many of them: the oldest, and some nearer to now, each a quarter of the age of the next.
 *
 * A line whose stacks all did not fit into a moment that left stacks out is not known there. The
 * heap has a base from then on. False: no memory.
 */
bool pfs_growth_make(struct pfs_growth *self, struct pfs_heap *heap, const struct pfs_rules *rules,
		     bool by_name, uint32_t moments_most);
void pfs_growth_drop(struct pfs_growth *self);

/* Of a holder at a chosen moment; below 0: not known. */
static inline double pfs_growth_at(const struct pfs_growth *self, uint32_t holder, uint32_t moment)
{
	return self->bytes[(size_t)holder * self->moment_count + moment];
}

#endif
