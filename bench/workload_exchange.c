/*
 * workload_exchange.c - handoff in batches: one thread allocates and publishes 32 records by
 * pfs_allocate_many, its partner frees 32 by pfs_free_many.
 *
 * Workers are partners as in handoff. The calls are always those of the public API, whatever
 * --apis says.
 */
#include "partners.h"

#define BATCH 32u

static bool start(struct pfs_scene *scene)
{
	return pfs_partners_start(scene, BATCH);
}

static uint32_t send(struct pfs_worker *worker, uint32_t wanted)
{
	struct pfs_claim claims[BATCH];
	uint32_t count = pfs_allocate_many(worker->threads[0], claims, wanted);

	worker->refused += count < wanted;
	for (uint32_t i = 0; i < count; i++)
		pfs_stamp_set(claims[i].record, pfs_worker_salt(worker->index / 2));
	pfs_publish_many(worker->threads[0], claims, count);
	for (uint32_t i = 0; i < count; i++)
		pfs_ring_push(pfs_partners_ring(worker), claims[i].record);
	return count;
}

static uint64_t produce(struct pfs_worker *worker, uint64_t count)
{
	uint64_t done = 0;

	while (done < count && pfs_ring_room(pfs_partners_ring(worker)) >= BATCH) {
		uint32_t sent = send(worker, BATCH);

		done += sent;
		if (sent < BATCH)
			break;
	}
	return done;
}

static uint32_t receive(struct pfs_worker *worker)
{
	void *records[BATCH];
	uint32_t count = 0;

	while (count < BATCH && pfs_ring_pop(pfs_partners_ring(worker), &records[count])) {
		if (!pfs_stamp_ok(records[count], pfs_worker_salt(worker->index / 2)))
			pfs_worker_fault(worker, "a record on its way was overwritten");
		count++;
	}
	pfs_free_many(worker->threads[0], records, count);
	return count;
}

static uint64_t consume(struct pfs_worker *worker, uint64_t count)
{
	uint64_t done = 0;
	uint32_t received = 1;

	while (done < count && received != 0) {
		received = receive(worker);
		done += received;
	}
	return done;
}

static uint64_t step(struct pfs_worker *worker, uint64_t count)
{
	return pfs_partner_produces(worker->index) ? produce(worker, count)
						   : consume(worker, count);
}

static void finish(struct pfs_worker *worker)
{
	if (!pfs_partner_produces(worker->index))
		consume(worker, PFS_RING_ROOM);
}

const struct pfs_workload pfs_workload_exchange = {
	.name = "exchange",
	.summary = "one thread allocates 32 records a call, another frees 32",
	.has_policy = true,
	.threads_multiple = 2,
	.window_ms = PFS_WINDOW_MS,
	.container_count = 1,
	.start = start,
	.stop = pfs_partners_stop,
	.step = step,
	.held = pfs_partners_held,
	.finish = finish,
	.is_counted = pfs_partners_is_counted,
};
