/*
 * workload_handoff.c - one thread allocates and publishes, its partner frees.
 *
 * So a record is always freed by a thread that did not allocate it, in the order of allocation.
 */
#include "partners.h"

static bool start(struct pfs_scene *scene)
{
	return pfs_partners_start(scene, 1);
}

static bool publish(struct pfs_worker *worker, struct pfs_claim claim)
{
	if (claim.record == NULL) {
		worker->refused++;
		return false;
	}
	pfs_stamp_set(claim.record, pfs_worker_salt(worker->index / 2));
	worker->scene->calls->publish(worker->threads[0], claim);
	pfs_ring_push(pfs_partners_ring(worker), claim.record);
	return true;
}

static uint64_t produce(struct pfs_worker *worker, uint64_t count)
{
	uint32_t room = pfs_ring_room(pfs_partners_ring(worker));
	uint64_t done = 0;

	for (uint64_t i = 0; i < count && i < room; i++)
		done += publish(worker, worker->scene->calls->allocate(worker->threads[0]));
	return done;
}

static uint64_t consume(struct pfs_worker *worker, uint64_t count)
{
	struct pfs_ring *ring = pfs_partners_ring(worker);
	uint64_t done = 0;
	void *record;

	while (done < count && pfs_ring_pop(ring, &record)) {
		if (!pfs_stamp_ok(record, pfs_worker_salt(worker->index / 2)))
			pfs_worker_fault(worker, "a record on its way was overwritten");
		worker->scene->calls->free(worker->threads[0], record);
		done++;
	}
	return done;
}

static uint64_t step(struct pfs_worker *worker, uint64_t count)
{
	return pfs_partner_produces(worker->index) ? produce(worker, count)
						   : consume(worker, count);
}

static void sample(struct pfs_worker *worker)
{
	if (!pfs_partner_produces(worker->index))
		consume(worker, 1);
	else if (pfs_ring_room(pfs_partners_ring(worker)) != 0)
		publish(worker, pfs_timed_allocate(worker, worker->threads[0]));
}

static void finish(struct pfs_worker *worker)
{
	if (!pfs_partner_produces(worker->index))
		consume(worker, PFS_RING_ROOM);
}

const struct pfs_workload pfs_workload_handoff = {
	.name = "handoff",
	.summary = "one thread allocates, another frees",
	.has_policy = true,
	.threads_multiple = 2,
	.window_ms = PFS_WINDOW_MS,
	.container_count = 1,
	.start = start,
	.stop = pfs_partners_stop,
	.step = step,
	.sample = sample,
	.held = pfs_partners_held,
	.finish = finish,
	.is_counted = pfs_partners_is_counted,
};
