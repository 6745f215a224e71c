/*
 * counters.h - the counters of a trial's outcome for containers and latencies, by the names of
 * docs/reference/metrics.md; the same for real and simulated runs.
 */
#ifndef PFS_BENCH_COUNTERS_H
#define PFS_BENCH_COUNTERS_H

#include "scene.h"

/* Receives one counter after the other. */
struct pfs_counter_sink {
	void (*put)(void *context, const char *name, double value);
	void *context;
	bool exact; /* every page search was checked for false full, not a sample */
};

void pfs_counters_put(const struct pfs_counter_sink *sink, const struct pfs_scene_plan *plan,
		      const struct pfs_outcome *outcome);

#endif
