/*
 * run_result.h - the results of a simulated run, and how they are written.
 *
 * They contain nothing of the host, of real time or of addresses: same arguments, same bytes.
 */
#ifndef PFS_SIM_RUN_RESULT_H
#define PFS_SIM_RUN_RESULT_H

#include "sim/timed/hot_lines.h"
#include "sim/run/parts.h"
#include "sim/run/run_options.h"

#define PFS_RESULT_COUNTERS_MAX 96
#define PFS_RESULT_NAME_BYTES 32

/* Plain memory: it is sent through a pipe if each seed has its own process. */
struct pfs_run_result {
	uint64_t seed;
	uint32_t count;
	uint32_t hot_count;
	struct {
		char name[PFS_RESULT_NAME_BYTES];
		double value;
	} counters[PFS_RESULT_COUNTERS_MAX];
	struct pfs_hot_line hot[PFS_HOT_LINES_MAX];
	struct pfs_parts parts;
};

void pfs_run_result_put(struct pfs_run_result *self, const char *name, double value);

/* NaN if there is none of that name. */
double pfs_run_result_get(const struct pfs_run_result *self, const char *name);

/* Write all runs to stdout: one object, or one with a list "runs" if there are several. */
void pfs_run_results_write(const struct pfs_run_options *options,
			   const struct pfs_run_result *results, uint32_t count);

#endif
