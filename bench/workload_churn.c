/*
 * workload_churn.c - replace a random live record, at a constant occupancy.
 *
 * Each worker owns its share of the live set; the free records lie at random, see live.c.
 */
#include "workload.h"

static bool prepare(struct pfs_worker *worker)
{
	struct pfs_scene *scene = worker->scene;

	/* live.c fills to the last record, and gives each worker one at least */
	scene->live_peak[0] = scene->capacity > scene->thread_count ? scene->capacity
								    : scene->thread_count;
	return pfs_live_prepare(worker);
}

const struct pfs_workload pfs_workload_churn = {
	.name = "churn",
	.summary = "each thread replaces a random record of its own",
	.has_policy = true,
	.has_occupancy = true,
	.threads_multiple = 1,
	.window_ms = PFS_WINDOW_MS,
	.container_count = 1,
	.prepare = prepare,
	.settle = pfs_live_settle,
	.step = pfs_live_churn,
	.sample = pfs_live_sample,
	.finish = pfs_live_finish,
};
