/*
 * report.h - from the outcome of a trial to the counters of Google Benchmark's output.
 */
#ifndef PFS_BENCH_REPORT_H
#define PFS_BENCH_REPORT_H

#include "scene.h"
#include "shim.h"

/* items and window_s are sums over the trials of this run, the rest is the last trial's. */
void pfs_report(struct pfs_shim_state *state, const struct pfs_scene_plan *plan,
		const struct pfs_outcome *outcome, uint64_t items, double window_s,
		uint32_t attempts);

#endif
