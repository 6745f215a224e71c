/*
 * snapshot.h - a machine between two steps, and back: restored at the cost of a few copies, as if
 * the steps had been executed again.
 *
 * Kept are stacks and registers of threads, their buffers, the containers' pages and heap (heap.h),
 * and what a scenario adds. The schedule and the recorded steps only grow, and what comes later
 * overwrites them. A snapshot of the whole also keeps what a final check changes: which pages are
 * mapped; clocks, accesses, views; and what threads that yield wait for.
 */
#ifndef PFS_SIM_SNAPSHOT_H
#define PFS_SIM_SNAPSHOT_H

#include "check/machine/machine.h"

struct pfs_machine_snapshot {
	char *bytes;
	size_t used, room;
	uint32_t pages;     /* of the whole: mapped pages */
	uint64_t widenings; /* of the whole: of table.h */
	bool no_memory;
};

void pfs_snapshot_fini(struct pfs_machine_snapshot *self);

/*
 * pfs_machine_snapshot_take - keep all of the machine; the caller may put more.
 *
 * Returns   false: not possible here, see above, or no memory. The machine must choose outside of
 *           threads, have no clocks, and not be traced.
 * Errors    as returned.
 * Progress  wait-free: copies some 20 KiB.
 * Order     none.
 */
bool pfs_machine_snapshot_take(struct pfs_machine_snapshot *self, struct pfs_machine *machine);

/*
 * pfs_snapshot_take_whole - keep a machine of any model, whose execution may have ended when it is
 * restored.
 *
 * Returns   false: a page was given back and is hidden, or no memory. The machine must choose
 *           outside of threads, and not be traced.
 * Errors    as returned.
 * Progress  wait-free: copies some ten KiB.
 * Order     none.
 */
bool pfs_snapshot_take_whole(struct pfs_machine_snapshot *self, struct pfs_machine *machine);

/* false: not possible any more, because arrays were moved. */
bool pfs_snapshot_restore_whole(const struct pfs_machine_snapshot *self,
				struct pfs_machine *machine);

/* Can stacks be copied in this build? */
bool pfs_snapshot_is_possible(void);

/* Keep these bytes, in their present state. */
void pfs_snapshot_put(struct pfs_machine_snapshot *self, void *at, size_t bytes);

/* A count over all executions: what this execution has added so far will be added again. */
void pfs_snapshot_put_count(struct pfs_machine_snapshot *self, uint64_t *count, uint64_t added);

/* How far a scratch's memory is used; used memory is never changed. */
static inline void pfs_snapshot_put_scratch(struct pfs_machine_snapshot *self,
					    struct pfs_scratch *scratch)
{
	pfs_snapshot_put(self, &scratch->current, sizeof(scratch->current));
	pfs_snapshot_put(self, &scratch->used, sizeof(scratch->used));
}

/* Were no pages mapped or given back in this run so far? Otherwise no snapshot may be taken, or
 * restored. */
bool pfs_snapshot_fits(const struct pfs_machine *machine);

/* Iterate over the parts that were put; *at is 0 at first. false: there is none left. */
bool pfs_snapshot_part(const struct pfs_machine_snapshot *self, size_t *at, void **place,
		       size_t *bytes);

/* Restore all that was put; within the run of the machine in which it was taken. */
void pfs_snapshot_restore(const struct pfs_machine_snapshot *self);

#endif
