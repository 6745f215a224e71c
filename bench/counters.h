/*
 * counters.h - what the outcome of a trial says of containers and latencies, by the names of
 * docs/reference/metrics.md; the same for real and for simulated runs.
 */
#ifndef PFS_BENCH_COUNTERS_H
#define PFS_BENCH_COUNTERS_H

#include "scene.h"

/* Takes one counter after the other. */
struct pfs_counter_sink {
	void (*put)(void *context, const char *name, double value);
	void *context;
	bool exact; /* every page search was checked for false full, not one in so many */
};

void pfs_counters_put(const struct pfs_counter_sink *sink, const struct pfs_scene_plan *plan,
		      const struct pfs_outcome *outcome);

#endif
