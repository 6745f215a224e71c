/*
 * progress.h - park a thread for ever at each of its steps, and check that the others go on.
 *
 * What is claimed (docs/explanation/architecture.md): free, publish, reads and walks never wait;
 * allocate waits only for the growth lock, and only if its search found no record; a pass may wait
 * for that lock too. Whether a search had to find a record is not judged in general (one may have
 * moved past it); in the scenarios with PFS_CASE_BESIDE it had to, and no thread may wait. The
 * others must finish within the bound on steps of an execution.
 */
#ifndef PFS_SIM_PROGRESS_H
#define PFS_SIM_PROGRESS_H

#include "sim/cases/cases.h"

struct pfs_progress {
	struct pfs_case *own;
	struct pfs_scenario inner;
	uint32_t victim, after; /* parked after this many steps */
	bool parked;            /* in some execution */
	uint64_t waited;        /* executions in which a thread waited, as it may */
	/*
	 * When the others have ended, or wait as they may, one more thread allocates until it is
	 * refused. That must not happen before all records are in use, except one if the parked
	 * thread is in a call. Then it frees them, and the victim goes on. What the case itself
	 * expects at the end, from its own threads alone, is not checked then.
	 */
	bool fills;
	bool filling; /* the victim is still parked, and the filler runs */
	uint32_t filler;
	uint64_t filled; /* executions in which it was refused, and rightly so */
};

/* *scenario runs the inner one with the victim parked; afterwards the victim is set free, so that
 * all other checks hold. */
void pfs_progress_init(struct pfs_progress *self, struct pfs_case *own,
		       const struct pfs_scenario *inner, struct pfs_scenario *scenario);

#endif
