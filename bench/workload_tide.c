/*
 * workload_tide.c - load that rises, holds, falls and stays low, twice.
 *
 * Main moves the level and takes a sample of pages and bytes; workers follow: they fill up to
 * their share of the level, drain down to it at random, so that what is left lies thin over
 * all pages, and churn meanwhile: at full speed at the top, a little in the trough. The run
 * ends in a trough.
 */
#include <stdlib.h>

#include "series.h"
#include "workload.h"

#define LEVEL_FULL UINT64_C(1000000)
#define LEVEL_TROUGH UINT64_C(20000) /* 2 % of the peak */
#define CYCLES 2
#define TROUGH_CHURN 8
#define WINDOW_MS 1000
#define PASSES 200 /* of reclaim in a window, where it is long enough */

/* Where in a cycle of 1000 parts the tide turns. The trough is so long that what became surplus
 * at its begin has decayed at its end, with the default number of passes. */
#define RISEN 100
#define HELD 300
#define FALLEN 400

struct tide {
	uint64_t resident_peak;
	uint64_t live_peak;
};

static void configure(const struct pfs_scene *scene, uint32_t container, struct pfs_config *config)
{
	(void)container;
	pfs_scene_pages(scene, config, 1, pfs_scene_page_count(scene));
	uint32_t window_ms = scene->options->window_ms != 0 ? scene->options->window_ms : WINDOW_MS;
	if (scene->options->reclaim_period_ms == UINT32_MAX)
		config->reclaim.period_ms = window_ms > PASSES ? window_ms / PASSES : 1;
}

static bool start(struct pfs_scene *scene)
{
	scene->shared = calloc(1, sizeof(struct tide));
	return scene->shared != NULL;
}

static void stop(struct pfs_scene *scene)
{
	free(scene->shared);
	scene->shared = NULL;
}

static uint64_t peak_records(const struct pfs_scene *scene)
{
	return (uint64_t)pfs_scene_page_count(scene) * scene->options->page_records;
}

static bool prepare(struct pfs_worker *worker)
{
	struct pfs_scene *scene = worker->scene;
	uint64_t share = pfs_part(peak_records(scene), scene->thread_count, worker->index);

	worker->target = (uint32_t)(share != 0 ? share : 1);
	worker->live.records = calloc(worker->target, sizeof(*worker->live.records));
	worker->live.random = worker->random;
	worker->live.salt = pfs_worker_salt(worker->index);
	worker->own = calloc(1, sizeof(bool));
	return worker->live.records != NULL && worker->own != NULL;
}

/* In millionths of the peak, at a share of the window in thousandths of a cycle. */
static uint64_t level_at(uint64_t part, bool *trough)
{
	*trough = part >= FALLEN;
	if (part < RISEN)
		return LEVEL_TROUGH + (LEVEL_FULL - LEVEL_TROUGH) * part / RISEN;
	if (part < HELD)
		return LEVEL_FULL;
	if (part < FALLEN)
		return LEVEL_FULL - (LEVEL_FULL - LEVEL_TROUGH) * (part - HELD) / (FALLEN - HELD);
	return LEVEL_TROUGH;
}

static void take_sample(struct pfs_scene *scene, double t_ms)
{
	struct tide *tide = scene->shared;
	uint32_t page_records = scene->options->page_records;
	struct pfs_series_sample sample = { .t_ms = t_ms };
	struct pfs_counts counts;

	pfs_container_counts(scene->containers[0], &counts);
	for (uint32_t i = 0; i < scene->thread_count; i++)
		sample.live += pfs_mark_get(&scene->workers[i].live_mark);
	sample.pages = counts.pages;
	sample.ideal = (sample.live + page_records - 1) / page_records;
	if (sample.ideal == 0)
		sample.ideal = 1; /* the preallocated one */
	sample.resident_bytes = counts.resident_bytes;
	pfs_series_add(scene->series, &sample);
	if (sample.resident_bytes > tide->resident_peak)
		tide->resident_peak = sample.resident_bytes;
	if (sample.live > tide->live_peak)
		tide->live_peak = sample.live;
}

static void tick(struct pfs_scene *scene, uint64_t elapsed_ns, uint64_t window_ns)
{
	uint64_t part = elapsed_ns * CYCLES * 1000 / window_ns;
	bool trough;

	if (part >= CYCLES * 1000)
		part = CYCLES * 1000 - 1;
	pfs_mark_set(&scene->level, level_at(part % 1000, &trough));
	pfs_mark_set(&scene->phase, trough);
	take_sample(scene, (double)elapsed_ns / 1e6);
}

static uint64_t fill_to(struct pfs_worker *worker, uint32_t goal)
{
	uint32_t before = worker->live.count;

	worker->refused += worker->scene->calls->fill(worker->threads[0], &worker->live, goal);
	return worker->live.count - before;
}

/* In the trough every second step does nothing, so that the worker sleeps. */
static uint64_t hold(struct pfs_worker *worker, uint64_t count)
{
	if (pfs_mark_get(&worker->scene->phase) == 0)
		return pfs_live_churn(worker, count);
	bool *rests = worker->own;
	*rests = !*rests;
	return *rests ? 0 : pfs_live_churn(worker, TROUGH_CHURN);
}

static uint64_t step(struct pfs_worker *worker, uint64_t count)
{
	struct pfs_live *live = &worker->live;
	uint64_t share = pfs_part(peak_records(worker->scene), worker->scene->thread_count,
				  worker->index);
	uint64_t goal = share * pfs_mark_get(&worker->scene->level) / LEVEL_FULL;
	uint64_t done = 0;

	if (goal == 0)
		goal = 1;
	worker->target = (uint32_t)goal;
	if (live->count < goal) {
		uint64_t next = live->count + count;
		done = fill_to(worker, (uint32_t)(next < goal ? next : goal));
	} else if (live->count > goal) {
		uint64_t next = live->count > count ? live->count - count : 0;
		worker->scene->calls->drain(worker->threads[0], live,
					    (uint32_t)(next > goal ? next : goal));
	} else {
		done = hold(worker, count);
	}
	pfs_mark_set(&worker->live_mark, live->count);
	return done;
}

static void report(struct pfs_scene *scene, const uint64_t *ops, double window_s)
{
	struct tide *tide = scene->shared;
	struct pfs_counts counts;

	(void)ops;
	take_sample(scene, window_s * 1e3);
	pfs_container_counts(scene->containers[0], &counts);
	if (tide->live_peak == peak_records(scene)) /* the peak was seen, so it is exact */
		scene->live_peak[0] = tide->live_peak;
	pfs_scene_extra(scene, "resident_bytes_peak", (double)tide->resident_peak);
	if (counts.pages_peak > 1)
		pfs_scene_extra(scene, "returned_share",
				(double)(counts.pages_peak - counts.pages) /
					(double)(counts.pages_peak - 1));
}

const struct pfs_workload pfs_workload_tide = {
	.name = "tide",
	.summary = "the load rises, holds and falls",
	.counters = "resident_bytes_peak",
	.traits = PFS_TRAIT_GROW | PFS_TRAIT_INDEX,
	.has_policy = true,
	.paced = true,
	.threads_multiple = 1,
	.window_ms = WINDOW_MS,
	.container_count = 1,
	.configure = configure,
	.start = start,
	.stop = stop,
	.prepare = prepare,
	.step = step,
	.tick = tick,
	.tick_share = 200,
	.finish = pfs_live_finish,
	.report = report,
};
