/*
 * jobs_worker.h - a process that searches the parts that it is sent, one after the other.
 */
#ifndef PFS_SIM_JOBS_WORKER_H
#define PFS_SIM_JOBS_WORKER_H

#include <sys/types.h>

#include "check/search/jobs.h"

/* What is summed over parts. */
struct pfs_jobs_tally {
	uint64_t executions, redundant, incomplete, pruned, steps, states;
	uint64_t sums[PFS_JOBS_SUMS_MAX];
	uint32_t left_out;
	bool complete, bounded, stopped;
};

/* Without the sums. */
struct pfs_jobs_tally pfs_jobs_tally_of(const struct pfs_search_result *result);

struct pfs_jobs_worker {
	FILE *to, *from;
	pid_t process;
};

bool pfs_jobs_worker_start(struct pfs_jobs_worker *self, struct pfs_machine *machine,
			   const struct pfs_scenario *scenario, const struct pfs_jobs_sums *sums);

/* false: the process has ended. */
bool pfs_jobs_worker_send(struct pfs_jobs_worker *self, const struct pfs_search_options *options,
			  const struct pfs_part *part);
bool pfs_jobs_worker_receive(struct pfs_jobs_worker *self, struct pfs_search_result *result,
			     struct pfs_jobs_tally *tally, struct pfs_parts *rest);

/* Wait until one of them has sent something, or has ended; returns its number. */
uint32_t pfs_jobs_workers_wait(const struct pfs_jobs_worker *workers, uint32_t count);

/* How a process ended that should not have, in one line. */
const char *pfs_jobs_worker_fate(struct pfs_jobs_worker *self);

/* Kill it, whatever it is doing. */
void pfs_jobs_worker_end(struct pfs_jobs_worker *self);

#endif
