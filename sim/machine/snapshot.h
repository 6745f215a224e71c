/*
 * snapshot.h - a machine between two steps, and back: as going there again would leave it, at the
 * cost of a few copies.
 *
 * Kept are stacks and registers of threads, their buffers, the containers' pages and heap (heap.h),
 * and what a scenario adds. Not kept: which pages are mapped (pfs_snapshot_fits), and what threads
 * that yield wait for. The schedule and what was recorded of steps only grow, and what comes is
 * written over what was.
 */
#ifndef PFS_SIM_SNAPSHOT_H
#define PFS_SIM_SNAPSHOT_H

#include "sim/machine/machine.h"

struct pfs_snapshot {
	char *bytes;
	size_t used, room;
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

/* So many bytes from here on, as they are now. */
void pfs_snapshot_put(struct pfs_snapshot *self, void *at, size_t bytes);

/* Were no pages mapped or given back in this run so far? Else none may be taken, or restored. */
bool pfs_snapshot_fits(const struct pfs_machine *machine);

/* All that was put is as it was; within the run of the machine in which it was taken. */
void pfs_snapshot_restore(const struct pfs_snapshot *self);

#endif
