/*
 * run_options.h - the options of `pfs-sim run`, checked before anything runs.
 */
#ifndef PFS_SIM_RUN_OPTIONS_H
#define PFS_SIM_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/options.h"
#include "bench/trace_load.h"
#include "sim/timed/timed.h"

struct pfs_run_options {
	struct pfs_options bench; /* those that pfs-bench has with the same names */
	const char *machine;      /* as given; a file without its folders */
	struct pfs_topology *topology;
	struct pfs_costs costs;
	enum pfs_timed_placement placement;
	const struct pfs_variant *variant; /* NULL if the workload has no policy */
	const struct pfs_workload *workload;
	struct pfs_replays replays; /* one, for workloads that have a trace */
	uint32_t threads;
	double occupancy;
	uint32_t records; /* of workloads that have them */
	uint64_t ops;
	uint64_t window_ns; /* of workloads that change with time */
	uint64_t pass_ns;   /* between two background passes; 0: as the containers are configured */
	uint32_t seed_count;
	uint32_t hot; /* how many of the busiest lines are listed */
	bool json;
};

/* Read the words after `pfs-sim run`: PFS_GO_ON, or the exit status; if that is not 0, after a line
 * that names the word and how to fix it. Call fini in any case. */
int pfs_run_options_read(struct pfs_run_options *self, int argc, char **argv);
void pfs_run_options_fini(struct pfs_run_options *self);

#endif
