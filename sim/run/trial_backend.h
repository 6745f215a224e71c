/*
 * trial_backend.h - bench/pool.h and bench/trial.h on virtual threads: the scene, the workloads and
 * their checks are those of bench/, and only the execution differs.
 *
 * A window here has a number of operations, not a duration: it ends when all threads whose
 * operations count have done `ops` of them together; each then finishes its current batch. So no
 * thread works alone at the end, and each one's speed is its operations over its own time.
 * Workloads that change with time (tide) get a window of window_ns instead; for them it is
 * stretched to the one that they were written for, and background reclaim is stretched alike. Work
 * that has an end (fill) ends the window by itself, whatever ops says.
 *
 * One scene at a time: the plan below is the program's, set before pfs_scene_run.
 */
#ifndef PFS_SIM_TRIAL_BACKEND_H
#define PFS_SIM_TRIAL_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/timed/timed.h"

/* Before the measured window goes one with this share of its operations. */
#define PFS_WARM_UP_PARTS 5

struct pfs_container;

struct pfs_trial_backend {
	/* Set by the caller. */
	const struct pfs_topology *topology;
	const struct pfs_costs *costs;
	enum pfs_timed_placement placement;
	uint32_t reclaimers; /* containers with a background pass: one more thread for each */
	uint64_t seed;
	uint64_t ops;        /* of all threads that count, in the measured window */
	const bool *counts;  /* [thread_count] */
	uint64_t window_ns;  /* 0: `ops` end the window */
	uint64_t nominal_ns; /* what the workload takes window_ns for */
	uint64_t pass_ns;    /* between two background passes; 0: as the containers are
			      * configured */
	uint32_t tick_share; /* ticks in window_ns */
	/* Called now and then with the share of the work that is done, 0 .. 1. Optional. */
	void (*progress)(void *context, double share);
	void *context;
	/* Called around the measured window. Optional. */
	void (*measuring)(bool begins);
	/* Results of the measured window. */
	struct pfs_timed_stats stats;
	uint64_t *thread_ops; /* [thread_count], the caller's, as thread_ns */
	uint64_t *thread_ns;
	bool stuck; /* nothing was done for a second of virtual time */
};

void pfs_trial_backend_use(struct pfs_trial_backend *backend);

#endif
