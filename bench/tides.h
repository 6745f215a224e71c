/*
 * tides.h - the hooks of workloads whose load moves with time, such as tide; they share all but
 * their levels.
 */
#ifndef PFS_BENCH_TIDES_H
#define PFS_BENCH_TIDES_H

#include "workload.h"

#define PFS_TIDES_FULL UINT64_C(1000000) /* the peak; also the end of the window */

void pfs_tides_configure(const struct pfs_scene *scene, uint32_t container,
			 struct pfs_config *config);
bool pfs_tides_start(struct pfs_scene *scene);
void pfs_tides_stop(struct pfs_scene *scene);
bool pfs_tides_prepare(struct pfs_worker *worker);
uint64_t pfs_tides_step(struct pfs_worker *worker, uint64_t count);
void pfs_tides_tick(struct pfs_scene *scene, uint64_t elapsed_ns, uint64_t window_ns);
void pfs_tides_report(struct pfs_scene *scene, const uint64_t *ops, double window_s);

/* All that such workloads have in common. */
#define PFS_TIDES                                                                           \
	.counters = "resident_bytes_peak", .traits = PFS_TRAIT_GROW | PFS_TRAIT_INDEX,      \
	.paced = true, .threads_multiple = 1, .container_count = 1,                         \
	.configure = pfs_tides_configure, .start = pfs_tides_start, .stop = pfs_tides_stop, \
	.prepare = pfs_tides_prepare, .step = pfs_tides_step, .tick = pfs_tides_tick,       \
	.finish = pfs_live_finish, .report = pfs_tides_report

#endif
