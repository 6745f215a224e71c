/*
 * jobs.h - a search by several processes.
 *
 * The search is done in parts (part.h): a part that is not over after some hundred executions is
 * split, later ones after twice as many for each split above. Processes are forked when the first
 * part has been split, and take parts in the order of the search. So no process waits for long, and
 * what is executed does not depend on the number of processes.
 *
 * If something fails, the first failure in the order of the search is reported, with what was
 * executed up to it: parts after it are dropped, those before it are finished. With several
 * processes, bounds on executions and seconds may cut the search anywhere.
 */
#ifndef PFS_SIM_JOBS_H
#define PFS_SIM_JOBS_H

#include "check/search/search.h"

#define PFS_JOBS_MAX 256u
#define PFS_JOBS_SUMS_MAX 8u

/* Counts that executions keep themselves, to be summed over the processes. */
struct pfs_jobs_sums {
	uint64_t *at[PFS_JOBS_SUMS_MAX];
	uint32_t count;
};

/* The number of CPUs for this process. */
uint32_t pfs_jobs_default(void);

/*
 * pfs_jobs_search - as pfs_search, by several processes.
 *
 * Returns   NULL, and *result as pfs_search, failed included; otherwise what went wrong, in one
 *           line: no process, or one that was killed.
 * Errors    as returned.
 * Progress  blocking; all processes have ended when it returns.
 * Order     none.
 */
const char *pfs_jobs_search(struct pfs_machine *machine, const struct pfs_scenario *scenario,
			    const struct pfs_search_options *options, uint32_t jobs,
			    const struct pfs_jobs_sums *sums, struct pfs_search_result *result);

#endif
