/*
 * workload_fill.c - a container without a page grows until it holds --records, and nothing is
 * freed: what growth costs, and what it makes a call wait.
 *
 * Each worker allocates, stamps and publishes its share. The window ends with the last of them;
 * one that does not end in --window-ms says so: `finished` 0, and `filled` records. A second
 * container is then filled by calls that are all timed, since timing costs more than a record.
 */
#include <stdlib.h>
#include <string.h>

#include "workload.h"

#define WINDOW_MS 2000 /* the longest that is waited for */

enum { UNTIMED, TIMED, CONTAINERS };

/* The timed fill's records. */
struct fill {
	struct pfs_live timed;
	void *records[];
};

static void configure(const struct pfs_scene *scene, uint32_t container, struct pfs_config *config)
{
	(void)container;
	pfs_scene_pages(scene, config, 0, pfs_scene_record_pages(scene));
	if (config->page_max > PFS_PAGE_MAX && pfs_scene_record_pages(scene) <= PFS_PAGE_MAX)
		config->page_max = PFS_PAGE_MAX;
}

static bool is_timed(const struct pfs_scene *scene)
{
	return scene->options->latency_ms != 0;
}

/* Touch the array that holds the records here: its page faults are no part of the cost. */
static bool prepare(struct pfs_worker *worker)
{
	const struct pfs_scene *scene = worker->scene;
	size_t share = (size_t)pfs_part(scene->records, scene->thread_count, worker->index);
	size_t bytes = (share + 1) * sizeof(void *);
	size_t timed_bytes = sizeof(struct fill) + (is_timed(scene) ? bytes : 0);
	struct fill *fill = malloc(timed_bytes);

	worker->own = fill;
	worker->live.records = malloc(bytes);
	if (fill == NULL || worker->live.records == NULL)
		return false;
	memset(worker->live.records, 0xFF, bytes);
	memset(fill, 0xFF, timed_bytes);
	worker->target = (uint32_t)share;
	worker->live.salt = pfs_worker_salt(worker->index);
	fill->timed = (struct pfs_live){ .records = fill->records, .salt = worker->live.salt };
	return true;
}

static uint64_t step(struct pfs_worker *worker, uint64_t count)
{
	struct pfs_live *live = &worker->live;
	uint32_t before = live->count;
	uint64_t room = worker->target - before;
	uint32_t goal = before + (uint32_t)(count < room ? count : room);

	worker->refused += worker->scene->calls->fill(worker->threads[UNTIMED], live, goal);
	return live->count - before;
}

static void sample(struct pfs_worker *worker)
{
	struct pfs_live *timed = &((struct fill *)worker->own)->timed;
	struct pfs_thread *thread = worker->threads[TIMED];
	struct pfs_claim claim = pfs_timed_allocate(worker, thread);

	if (claim.record == NULL) {
		worker->refused++;
		return;
	}
	pfs_stamp_set(claim.record, timed->salt);
	worker->scene->calls->publish(thread, claim);
	timed->records[timed->count++] = claim.record;
}

static const struct pfs_live *live_of(const struct pfs_worker *worker, uint32_t container)
{
	return container == TIMED ? &((const struct fill *)worker->own)->timed : &worker->live;
}

static bool ended(const struct pfs_worker *worker, bool of_samples)
{
	return live_of(worker, of_samples ? TIMED : UNTIMED)->count == worker->target;
}

static uint64_t held(const struct pfs_worker *worker, uint32_t container)
{
	return live_of(worker, container)->count;
}

static void finish(struct pfs_worker *worker)
{
	for (uint32_t container = UNTIMED; container < CONTAINERS; container++) {
		const struct pfs_live *live = live_of(worker, container);
		for (uint32_t i = 0; i < live->count; i++) {
			if (!pfs_stamp_ok(live->records[i], live->salt))
				pfs_worker_fault(worker, "a live record had two owners");
			worker->scene->calls->free(worker->threads[container], live->records[i]);
		}
	}
	free(worker->live.records);
	free(worker->own);
	worker->live.records = NULL;
	worker->own = NULL;
}

static void report(struct pfs_scene *scene, const uint64_t *ops, double window_s)
{
	uint64_t filled = 0;

	(void)ops, (void)window_s;
	for (uint32_t i = 0; i < scene->thread_count; i++)
		filled += scene->workers[i].live.count;
	scene->live_peak[UNTIMED] = filled;
	scene->live_peak[TIMED] = 0; /* by now */
	pfs_scene_extra(scene, "records", scene->records);
	pfs_scene_extra(scene, "filled", (double)filled);
	pfs_scene_extra(scene, "finished", filled == scene->records);
}

const struct pfs_workload pfs_workload_fill = {
	.name = "fill",
	.summary = "a container grows from no page to the given number of records",
	.counters = "records filled finished",
	.traits = PFS_TRAIT_GROW,
	.has_policy = true,
	.has_records = true,
	.threads_multiple = 1,
	.window_ms = WINDOW_MS,
	.container_count = CONTAINERS,
	.configure = configure,
	.prepare = prepare,
	.step = step,
	.sample = sample,
	.ended = ended,
	.held = held,
	.finish = finish,
	.report = report,
};
