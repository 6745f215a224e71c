/*
 * rewind.h - an exhaustive search goes on from amid an earlier execution, by snapshots, and not
 * from the set-up through steps that it has made before.
 *
 * Places of the last execution are kept, at most PFS_REWIND_PLACES of them: one each few new
 * steps, and one where the search branched last, to which it will come back. When there is no room
 * every second one is dropped, so that a long execution has them further apart.
 */
#ifndef PFS_SIM_REWIND_H
#define PFS_SIM_REWIND_H

#include "check/machine/machine.h"
#include "check/machine/snapshot.h"

#define PFS_REWIND_PLACES 32u
#define PFS_REWIND_BYTES_MAX ((size_t)1 << 20) /* larger than that: the search goes without */

struct pfs_scenario;

struct pfs_rewind_place {
	uint32_t step;
	struct pfs_snapshot snapshot;
};

struct pfs_rewind {
	const struct pfs_scenario *scenario; /* NULL: not begun */
	bool is_too_large;
	struct pfs_rewind_place places[PFS_REWIND_PLACES]; /* by step; rooms are used again */
	uint32_t count;
};

/* false: not with this scenario, this machine, or in this build. To be ended all the same. */
bool pfs_rewind_begin(struct pfs_rewind *self, struct pfs_machine *machine,
		      const struct pfs_scenario *scenario);
void pfs_rewind_end(struct pfs_rewind *self, struct pfs_machine *machine);

/* Before a step, all threads stand; branches: the step is another one than last time. */
void pfs_rewind_pass(struct pfs_rewind *self, struct pfs_machine *machine, bool branches);

/* The machine is where it was before this step, or before an earlier one of that execution; false:
 * nothing is kept of it, and the next one begins anew. */
bool pfs_rewind_to(struct pfs_rewind *self, struct pfs_machine *machine, uint32_t step);

#endif
