/*
 * progress.h - park a thread forever at each of its steps, and check that the others finish.
 *
 * The claims (docs/explanation/architecture.md): free, publish, reads and walks never wait.
 * Allocate waits only for the growth lock, and only if its search found no record; a pass may wait
 * for that lock too. In general the check does not decide whether a search had to find a record,
 * because one may have moved past it. In scenarios with PFS_CASE_BESIDE it had to, and no thread
 * may wait. The other threads must finish within an execution's bound on steps.
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
	 * refused. By then every record must be in use, except those that a call of the parked
	 * thread holds. Then it frees them, and the victim continues. The case's own final check is
	 * skipped, because it expects only the case's threads.
	 */
	bool fills;
	bool filling; /* the filler runs while the victim is parked */
	uint32_t filler;
	uint64_t filled; /* executions in which the filler was refused rightly */
};

/* *scenario runs the inner one with the victim parked. Afterwards the victim continues, so that all
 * other checks hold. */
void pfs_progress_init(struct pfs_progress *self, struct pfs_case *own,
		       const struct pfs_scenario *inner, struct pfs_scenario *scenario);

#endif
