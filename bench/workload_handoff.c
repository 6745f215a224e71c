/*
 * workload_handoff.c - one thread allocates and publishes, its partner frees.
 *
 * Workers 2k and 2k+1 share a ring of Concurrency Kit, one producer, one consumer. A record
 * is so always freed by a thread that did not allocate it, in the order of allocation.
 */
#include <stdlib.h>

#include "ring.h"
#include "workload.h"

static bool is_producer(uint32_t worker_index)
{
	return worker_index % 2 == 0;
}

static struct pfs_ring *ring_of(const struct pfs_worker *worker)
{
	return pfs_rings_at(worker->scene->shared, worker->index / 2);
}

static bool start(struct pfs_scene *scene)
{
	uint32_t rings = scene->thread_count / 2;
	/* in the ring, and one in the hands of either worker */
	uint64_t most = (uint64_t)rings * (PFS_RING_ROOM + 2);

	scene->shared = pfs_rings_create(rings);
	if (most <= scene->capacity) /* then the preallocated pages are enough, for certain */
		scene->live_peak[0] = most;
	return scene->shared != NULL;
}

static void stop(struct pfs_scene *scene)
{
	free(scene->shared);
	scene->shared = NULL;
}

static bool publish(struct pfs_worker *worker, struct pfs_claim claim)
{
	if (claim.record == NULL) {
		worker->refused++;
		return false;
	}
	pfs_stamp_set(claim.record, pfs_worker_salt(worker->index / 2));
	worker->scene->calls->publish(worker->threads[0], claim);
	pfs_ring_push(ring_of(worker), claim.record);
	return true;
}

static uint64_t produce(struct pfs_worker *worker, uint64_t count)
{
	uint32_t room = pfs_ring_room(ring_of(worker));
	uint64_t done = 0;

	for (uint64_t i = 0; i < count && i < room; i++)
		done += publish(worker, worker->scene->calls->allocate(worker->threads[0]));
	return done;
}

static uint64_t consume(struct pfs_worker *worker, uint64_t count)
{
	struct pfs_ring *ring = ring_of(worker);
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
	return is_producer(worker->index) ? produce(worker, count) : consume(worker, count);
}

static void sample(struct pfs_worker *worker)
{
	if (!is_producer(worker->index))
		consume(worker, 1);
	else if (pfs_ring_room(ring_of(worker)) != 0)
		publish(worker, pfs_timed_allocate(worker, worker->threads[0]));
}

static uint64_t held(const struct pfs_worker *worker, uint32_t container)
{
	(void)container;
	return is_producer(worker->index) ? 0 : pfs_ring_count(ring_of(worker));
}

static void finish(struct pfs_worker *worker)
{
	if (!is_producer(worker->index))
		consume(worker, PFS_RING_ROOM);
}

/* Each record is counted once, when it is freed. */
static bool is_counted(const struct pfs_scene *scene, uint32_t worker_index)
{
	(void)scene;
	return !is_producer(worker_index);
}

const struct pfs_workload pfs_workload_handoff = {
	.name = "handoff",
	.summary = "one thread allocates and publishes, its partner frees, through a ring",
	.has_policy = true,
	.threads_multiple = 2,
	.window_ms = PFS_WINDOW_MS,
	.container_count = 1,
	.start = start,
	.stop = stop,
	.step = step,
	.sample = sample,
	.held = held,
	.finish = finish,
	.is_counted = is_counted,
};
