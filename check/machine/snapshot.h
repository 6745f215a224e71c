/*
 * snapshot.h - a machine between two steps, and back: as going there again would leave it, at the
 * cost of a few copies.
 *
 * Kept are stacks and registers of threads, their buffers, the containers' pages and heap (heap.h),
 * and what a scenario adds. The schedule and what was recorded of steps only grow, and what comes
 * is written over what was. A snapshot of the whole has besides what a final check changes: which
 * pages are mapped; clocks, accesses, views; and what threads that yield wait for.
 */
#ifndef PFS_SIM_SNAPSHOT_H
#define PFS_SIM_SNAPSHOT_H

#include "check/machine/machine.h"

struct pfs_snapshot {
	char *bytes;
	size_t used, room;
	uint32_t pages;     /* of the whole: that were mapped */
	uint64_t widenings; /* likewise, of table.h */
	bool no_memory;
};

void pfs_snapshot_fini(struct pfs_snapshot *self);

/*
 * pfs_snapshot_take - all that is the machine's; the caller may put more.
 *
 * Returns   false: not here, as above, or no memory. The machine chooses outside of threads, knows
 *           no clocks, and is not traced.
 * Errors    as returned.
 * Progress  wait-free: copies some 20 KiB.
 * Order     none.
 */
bool pfs_snapshot_take(struct pfs_snapshot *self, struct pfs_machine *machine);

/*
 * pfs_snapshot_take_whole - a machine of any memory, whose execution may have ended when it is put
 * back.
 *
 * Returns   false: a page was given back and is hidden, or no memory. The machine chooses outside
 *           of threads, and is not traced.
 * Errors    as returned.
 * Progress  wait-free: copies some ten KiB.
 * Order     none.
 */
bool pfs_snapshot_take_whole(struct pfs_snapshot *self, struct pfs_machine *machine);

/* false: no longer, since arrays were moved. */
bool pfs_snapshot_restore_whole(const struct pfs_snapshot *self, struct pfs_machine *machine);

/* Can stacks be copied in this build? */
bool pfs_snapshot_is_possible(void);

/* So many bytes from here on, as they are now. */
void pfs_snapshot_put(struct pfs_snapshot *self, void *at, size_t bytes);

/* A count of all executions: what this one has added to it so far will be added again. */
void pfs_snapshot_put_count(struct pfs_snapshot *self, uint64_t *count, uint64_t added);

/* How far a scratch's memory is taken; who took it does not change it. */
static inline void pfs_snapshot_put_scratch(struct pfs_snapshot *self, struct pfs_scratch *scratch)
{
	pfs_snapshot_put(self, &scratch->current, sizeof(scratch->current));
	pfs_snapshot_put(self, &scratch->used, sizeof(scratch->used));
}

/* Were no pages mapped or given back in this run so far? Else none may be taken, or restored. */
bool pfs_snapshot_fits(const struct pfs_machine *machine);

/* Each part that was put, one after the other: *at is 0 at first. false: there is none left. */
bool pfs_snapshot_part(const struct pfs_snapshot *self, size_t *at, void **place, size_t *bytes);

/* All that was put is as it was; within the run of the machine in which it was taken. */
void pfs_snapshot_restore(const struct pfs_snapshot *self);

#endif
