/*
 * workload_handoff.c - one thread allocates and publishes, its partner frees.
 *
 * Workers 2k and 2k+1 share a ring of Concurrency Kit, one producer, one consumer. A record
 * is so always freed by a thread that did not allocate it, in the order of allocation.
 */
#include <ck_ring.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

#define RING_SIZE 1024 /* of which Concurrency Kit uses all but one */

struct lane {
	alignas(PFS_BENCH_LINE) ck_ring_t ring;
	ck_ring_buffer_t buffer[RING_SIZE];
};

/*
 * ThreadSanitizer does not see into the ring's asm: it would miss the order that the ring
 * gives, and take its buffer for a race. So it is told, and kept out of the ring itself.
 */
#if defined(__SANITIZE_THREAD__)
#define PFS_SEEN_BY_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PFS_SEEN_BY_TSAN 1
#endif
#endif
#ifdef PFS_SEEN_BY_TSAN
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define PFS_UNSEEN __attribute__((noinline, no_sanitize("thread")))
#else
static inline void __tsan_acquire(void *address) { (void)address; }
static inline void __tsan_release(void *address) { (void)address; }
#define PFS_UNSEEN
#endif

static PFS_UNSEEN bool ring_push(struct lane *lane, void *record)
{
	return ck_ring_enqueue_spsc(&lane->ring, lane->buffer, record);
}

static PFS_UNSEEN bool ring_pop(struct lane *lane, void **record)
{
	return ck_ring_dequeue_spsc(&lane->ring, lane->buffer, record);
}

static PFS_UNSEEN uint32_t ring_room(struct lane *lane)
{
	return RING_SIZE - 1 - ck_ring_size(&lane->ring);
}

static PFS_UNSEEN uint32_t ring_count(struct lane *lane)
{
	return ck_ring_size(&lane->ring);
}

static void push(struct lane *lane, void *record)
{
	__tsan_release(lane);
	ring_push(lane, record); /* there was room, and nobody else takes it */
}

static bool pop(struct lane *lane, void **record)
{
	bool popped = ring_pop(lane, record);

	__tsan_acquire(lane);
	return popped;
}

static bool is_producer(uint32_t worker_index)
{
	return worker_index % 2 == 0;
}

static struct lane *lane_of(const struct pfs_worker *worker)
{
	return (struct lane *)worker->scene->shared + worker->index / 2;
}

static bool start(struct pfs_scene *scene)
{
	uint32_t lanes = scene->thread_count / 2;
	/* in the ring, and one in the hands of either worker */
	uint64_t most = (uint64_t)lanes * (RING_SIZE + 1);
	struct lane *lane = aligned_alloc(alignof(struct lane), lanes * sizeof(*lane));

	if (lane == NULL)
		return false;
	memset(lane, 0, lanes * sizeof(*lane));
	for (uint32_t i = 0; i < lanes; i++)
		ck_ring_init(&lane[i].ring, RING_SIZE);
	scene->shared = lane;
	if (most <= scene->capacity) /* then the preallocated pages are enough, for certain */
		scene->live_peak[0] = most;
	return true;
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
	worker->scene->variant->publish(worker->threads[0], claim);
	push(lane_of(worker), claim.record);
	return true;
}

static uint64_t produce(struct pfs_worker *worker, uint64_t count)
{
	uint32_t room = ring_room(lane_of(worker));
	uint64_t done = 0;

	for (uint64_t i = 0; i < count && i < room; i++)
		done += publish(worker, worker->scene->variant->allocate(worker->threads[0]));
	return done;
}

static uint64_t consume(struct pfs_worker *worker, uint64_t count)
{
	struct lane *lane = lane_of(worker);
	uint64_t done = 0;
	void *record;

	while (done < count && pop(lane, &record)) {
		if (!pfs_stamp_ok(record, pfs_worker_salt(worker->index / 2)))
			pfs_worker_fault(worker, "a record on its way was overwritten");
		worker->scene->variant->free(worker->threads[0], record);
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
	else if (ring_room(lane_of(worker)) != 0)
		publish(worker, pfs_timed_allocate(worker, worker->threads[0]));
}

static uint64_t held(const struct pfs_worker *worker, uint32_t container)
{
	(void)container;
	return is_producer(worker->index) ? 0 : ring_count(lane_of(worker));
}

static void finish(struct pfs_worker *worker)
{
	if (!is_producer(worker->index))
		consume(worker, RING_SIZE);
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
