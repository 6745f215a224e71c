/*
 * progress.h - a thread is parked for ever at each of its steps, and the others must go on.
 *
 * What is claimed (docs/explanation/architecture.md): free, publish, reads and walks never wait;
 * allocate waits only for the growth lock, and only where its search found no record; a pass may
 * wait for that lock, too. Whether a search had to find one is not judged in general (a record may
 * have moved past it), but in the scenarios that are PFS_CASE_BESIDE it had to, and nobody may
 * wait. The bound on steps of an execution is the bound in which the others must have finished.
 */
#ifndef PFS_SIM_PROGRESS_H
#define PFS_SIM_PROGRESS_H

#include "sim/cases/cases.h"

struct pfs_progress {
	struct pfs_case *own;
	struct pfs_scenario inner;
	uint32_t victim, after; /* parked once it has made so many steps */
	bool parked;            /* in some execution */
	uint64_t waited;        /* executions in which somebody waited, as it may */
	/*
	 * Once the others have ended, or wait as they may, one more thread allocates until it is
	 * refused: not before all records are in use, but one if the parked thread is in a call.
	 * Then it frees them, and the victim goes on. What the case itself expects at the end, by
	 * its own threads alone, is not asked then.
	 */
	bool fills;
	bool filling; /* the victim is still parked, and the filler is at work */
	uint32_t filler;
	uint64_t filled; /* executions in which it was refused, and rightly so */
};

/* *scenario runs the inner one with the victim parked; afterwards it is set free, so that all
 * other checks hold. */
void pfs_progress_init(struct pfs_progress *self, struct pfs_case *own,
		       const struct pfs_scenario *inner, struct pfs_scenario *scenario);

#endif
