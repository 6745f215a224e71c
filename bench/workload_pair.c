/*
 * workload_pair.c - allocate, publish, free, repeatedly, in an empty container.
 */
#include "workload.h"

static bool prepare(struct pfs_worker *worker)
{
	worker->scene->live_peak[0] = worker->scene->thread_count; /* one in flight each */
	return true;
}

static uint64_t step(struct pfs_worker *worker, uint64_t count)
{
	uint64_t refused = worker->scene->calls->pair(worker->threads[0], count);

	worker->refused += refused;
	return count - refused;
}

static void sample(struct pfs_worker *worker)
{
	const struct pfs_calls *calls = worker->scene->calls;
	struct pfs_claim claim = pfs_timed_allocate(worker, worker->threads[0]);

	if (claim.record == NULL) {
		worker->refused++;
		return;
	}
	pfs_stamp_set(claim.record, worker->random);
	calls->publish(worker->threads[0], claim);
	calls->free(worker->threads[0], claim.record);
}

const struct pfs_workload pfs_workload_pair = {
	.name = "pair",
	.summary = "each thread allocates, publishes and frees one record",
	.has_policy = true,
	.threads_multiple = 1,
	.window_ms = PFS_WINDOW_MS,
	.container_count = 1,
	.prepare = prepare,
	.step = step,
	.sample = sample,
};
