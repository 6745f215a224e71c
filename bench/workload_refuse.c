/*
 * workload_refuse.c - a container at its maximum, every record in use: what a refusal costs.
 *
 * An operation is a call of allocate that is refused. All pages are made in advance, so no call
 * waits for growth. A policy that refuses too early may give the record to a later call; only
 * refusals count.
 */
#include <stdlib.h>

#include "workload.h"

static void configure(const struct pfs_scene *scene, uint32_t container, struct pfs_config *config)
{
	uint32_t pages = pfs_scene_record_pages(scene);

	(void)container;
	pfs_scene_pages(scene, config, pages, pages);
	config->page_max = pages;
}

static bool prepare(struct pfs_worker *worker)
{
	struct pfs_scene *scene = worker->scene;
	uint32_t share = (uint32_t)pfs_part(scene->capacity, scene->thread_count, worker->index);

	/* room for all: one worker may get what another was refused */
	worker->live.records = malloc((scene->capacity + 1) * sizeof(*worker->live.records));
	worker->live.salt = pfs_worker_salt(worker->index);
	if (worker->live.records == NULL)
		return false;
	worker->refused += scene->calls->fill(worker->threads[0], &worker->live, share);
	return true;
}

/* What others were refused, up to a refusal. */
static void settle(struct pfs_worker *worker)
{
	uint32_t all = (uint32_t)worker->scene->capacity;

	worker->refused += worker->scene->calls->fill(worker->threads[0], &worker->live, all);
}

static bool is_refused(struct pfs_worker *worker, struct pfs_claim claim)
{
	struct pfs_live *live = &worker->live;

	if (claim.record == NULL) {
		worker->refused++;
		return true;
	}
	pfs_stamp_set(claim.record, live->salt);
	worker->scene->calls->publish(worker->threads[0], claim);
	live->records[live->count++] = claim.record;
	return false;
}

static uint64_t step(struct pfs_worker *worker, uint64_t count)
{
	const struct pfs_calls *calls = worker->scene->calls;
	uint64_t done = 0;

	for (uint64_t i = 0; i < count; i++)
		done += is_refused(worker, calls->allocate(worker->threads[0]));
	return done;
}

static void sample(struct pfs_worker *worker)
{
	is_refused(worker, pfs_timed_allocate(worker, worker->threads[0]));
}

static void finish(struct pfs_worker *worker)
{
	struct pfs_live *live = &worker->live;

	for (uint32_t i = 0; i < live->count; i++) {
		if (!pfs_stamp_ok(live->records[i], live->salt))
			pfs_worker_fault(worker, "a live record had two owners");
		worker->scene->calls->free(worker->threads[0], live->records[i]);
	}
	live->count = 0;
	free(live->records);
	live->records = NULL;
}

static void report(struct pfs_scene *scene, const uint64_t *ops, double window_s)
{
	(void)ops, (void)window_s;
	scene->live_peak[0] = scene->capacity;
	pfs_scene_extra(scene, "records", scene->records);
}

const struct pfs_workload pfs_workload_refuse = {
	.name = "refuse",
	.summary = "every record is in use and no page may be added",
	.counters = "records",
	.traits = PFS_TRAIT_BOUNDED,
	.has_policy = true,
	.has_records = true,
	.threads_multiple = 1,
	.window_ms = 20,
	.container_count = 1,
	.configure = configure,
	.prepare = prepare,
	.settle = settle,
	.step = step,
	.sample = sample,
	.finish = finish,
	.report = report,
};
