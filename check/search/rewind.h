/*
 * rewind.h - an exhaustive search continues from the middle of an earlier execution, by snapshots,
 * instead of executing the set-up and the same first steps again.
 *
 * Places of the last execution are kept, at most PFS_REWIND_PLACES: one every few new steps, and
 * one where the search last branched, to which it will return. When there is no room every second
 * one is dropped, so that in a long execution they are further apart.
 */
#ifndef PFS_SIM_REWIND_H
#define PFS_SIM_REWIND_H

#include "check/machine/machine.h"
#include "check/machine/snapshot.h"

#define PFS_REWIND_PLACES 32u
#define PFS_REWIND_BYTES_MAX ((size_t)1 << 20) /* larger ones: no snapshots */

struct pfs_scenario;

struct pfs_rewind_place {
	uint32_t step;
	struct pfs_machine_snapshot snapshot;
};

struct pfs_rewind {
	const struct pfs_scenario *scenario; /* NULL: not begun */
	bool is_too_large;
	struct pfs_rewind_place places[PFS_REWIND_PLACES]; /* by step; their memory is used again */
	uint32_t count;
};

/* false: not with this scenario, this machine, or in this build. Must be ended all the same. */
bool pfs_rewind_begin(struct pfs_rewind *self, struct pfs_machine *machine,
		      const struct pfs_scenario *scenario);
void pfs_rewind_end(struct pfs_rewind *self, struct pfs_machine *machine);

/* Before a step, with all threads at a step; branches: the step differs from the last time. */
void pfs_rewind_pass(struct pfs_rewind *self, struct pfs_machine *machine, bool branches);

/* The machine is where it was before this step, or before an earlier one of that execution; false:
 * nothing is kept of it, and the next one starts from the set-up. */
bool pfs_rewind_to(struct pfs_rewind *self, struct pfs_machine *machine, uint32_t step);

#endif
