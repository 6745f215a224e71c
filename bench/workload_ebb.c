/*
 * workload_ebb.c - how much giving pages back slows threads that allocate meanwhile.
 *
 * In each cycle the workers fill all pages, free all but an eighth of the records, at random, and
 * replace records at full speed until the next flood. Only calls of that last, longest part are
 * timed: then passes empty the sparse pages and give them back. `reclaimed_timed` counts the pages
 * given back while calls were timed. With --reclaim-period-ms=0 the load is the same and the pages
 * stay. The time alone decides where in a cycle the workers are, so no worker waits for another.
 */
#include <stdlib.h>

#include "workload.h"

#define CYCLE_NS UINT64_C(40000000)
#define FLOOD_NS UINT64_C(10000000) /* the first part of a cycle */
#define LOW_SHARE 8                 /* one record in so many outlives the flood */
#define PERIOD_MS 1
#define ROOM 64 /* times the page_max of other workloads */

struct ebb {
	uint64_t begin_ns;
};

static void configure(const struct pfs_scene *scene, uint32_t container, struct pfs_config *config)
{
	(void)container;
	pfs_scene_pages(scene, config, 1, pfs_scene_page_count(scene));
	/* `original` adds needless pages at each flood; here none may be refused. */
	if ((pfs_variant_traits(scene->variant) & PFS_TRAIT_GROW) != 0)
		config->page_max *= ROOM;
	if (scene->options->reclaim_period_ms == UINT32_MAX)
		config->reclaim.period_ms = PERIOD_MS;
}

static bool start(struct pfs_scene *scene)
{
	struct ebb *ebb = calloc(1, sizeof(*ebb));

	scene->shared = ebb;
	if (ebb == NULL)
		return false;
	ebb->begin_ns = pfs_clock_wall_ns();
	return true;
}

static void stop(struct pfs_scene *scene)
{
	free(scene->shared);
	scene->shared = NULL;
}

static uint32_t share(const struct pfs_worker *worker)
{
	uint64_t part = pfs_part(worker->scene->capacity, worker->scene->thread_count,
				 worker->index);

	return part != 0 ? (uint32_t)part : 1;
}

static bool prepare(struct pfs_worker *worker)
{
	worker->live.records = calloc(share(worker), sizeof(*worker->live.records));
	worker->live.random = worker->random;
	worker->live.salt = pfs_worker_salt(worker->index);
	worker->target = share(worker) / LOW_SHARE;
	if (worker->target == 0)
		worker->target = 1;
	return worker->live.records != NULL;
}

static bool is_flood(const struct pfs_scene *scene)
{
	const struct ebb *ebb = scene->shared;

	return (pfs_clock_wall_ns() - ebb->begin_ns) % CYCLE_NS < FLOOD_NS;
}

static uint64_t rise(struct pfs_worker *worker, uint64_t count)
{
	uint32_t before = worker->live.count;
	uint64_t goal = before + count < share(worker) ? before + count : share(worker);

	if (before == goal) /* full: go on as before the ebb */
		return pfs_live_churn(worker, count);
	worker->refused += worker->scene->calls->fill(worker->threads[0], &worker->live,
						      (uint32_t)goal);
	return worker->live.count - before;
}

static uint64_t step(struct pfs_worker *worker, uint64_t count)
{
	struct pfs_live *live = &worker->live;

	if (is_flood(worker->scene))
		return rise(worker, count);
	if (live->count <= worker->target)
		return pfs_live_churn(worker, count);
	uint64_t next = live->count > count ? live->count - count : 0;
	worker->scene->calls->drain(worker->threads[0], live,
				    next > worker->target ? (uint32_t)next : worker->target);
	return 0;
}

static void sample(struct pfs_worker *worker)
{
	if (worker->live.count == worker->target && !is_flood(worker->scene))
		pfs_live_sample(worker);
}

const struct pfs_workload pfs_workload_ebb = {
	.name = "ebb",
	.summary = "the load falls again and again, and pages go back",
	.traits = PFS_TRAIT_GROW | PFS_TRAIT_INDEX,
	.has_policy = true,
	.threads_multiple = 1,
	.window_ms = 160,
	.container_count = 1,
	.configure = configure,
	.start = start,
	.stop = stop,
	.prepare = prepare,
	.step = step,
	.sample = sample,
	.finish = pfs_live_finish,
};
