/*
 * tides.c - load that moves with time, as a workload's level says.
 *
 * Main moves the level and takes a sample of pages and bytes; workers follow: they fill up to
 * their share of the level, drain down to it at random, so that what is left lies thin over
 * all pages, and churn meanwhile: at full speed, or a little where the load rests.
 */
#include "tides.h"

#include <stdlib.h>

#include "series.h"

#define LEVEL_FULL PFS_TIDES_FULL
#define REST_CHURN 8
#define PASSES 200 /* of reclaim in a window, where it is long enough */

struct tides {
	uint64_t resident_peak;
	uint64_t live_peak;
	double end_ms; /* of the window, or the last sample, as ticks count time */
};

void pfs_tides_configure(const struct pfs_scene *scene, uint32_t container,
			 struct pfs_config *config)
{
	(void)container;
	pfs_scene_pages(scene, config, 1, pfs_scene_page_count(scene));
	uint32_t window_ms = scene->options->window_ms != 0 ? scene->options->window_ms
							    : scene->workload->window_ms;
	if (scene->options->reclaim_period_ms == UINT32_MAX)
		config->reclaim.period_ms = window_ms > PASSES ? window_ms / PASSES : 1;
}

bool pfs_tides_start(struct pfs_scene *scene)
{
	scene->shared = calloc(1, sizeof(struct tides));
	return scene->shared != NULL;
}

void pfs_tides_stop(struct pfs_scene *scene)
{
	free(scene->shared);
	scene->shared = NULL;
}

static uint64_t peak_records(const struct pfs_scene *scene)
{
	return (uint64_t)pfs_scene_page_count(scene) * scene->options->page_records;
}

bool pfs_tides_prepare(struct pfs_worker *worker)
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

static void take_sample(struct pfs_scene *scene, double t_ms)
{
	struct tides *tides = scene->shared;
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
	if (sample.resident_bytes > tides->resident_peak)
		tides->resident_peak = sample.resident_bytes;
	if (sample.live > tides->live_peak)
		tides->live_peak = sample.live;
}

void pfs_tides_tick(struct pfs_scene *scene, uint64_t elapsed_ns, uint64_t window_ns)
{
	uint64_t share = elapsed_ns * LEVEL_FULL / window_ns;
	struct tides *tides = scene->shared;
	bool rests;

	tides->end_ms = (double)(elapsed_ns > window_ns ? elapsed_ns : window_ns) / 1e6;
	if (share >= LEVEL_FULL)
		share = LEVEL_FULL - 1;
	pfs_mark_set(&scene->level, scene->workload->level(share, &rests));
	pfs_mark_set(&scene->phase, rests);
	take_sample(scene, (double)elapsed_ns / 1e6);
}

static uint64_t fill_to(struct pfs_worker *worker, uint32_t goal)
{
	uint32_t before = worker->live.count;

	worker->refused += worker->scene->calls->fill(worker->threads[0], &worker->live, goal);
	return worker->live.count - before;
}

/* Where the load rests, every second step does nothing, so that the worker sleeps. */
static uint64_t hold(struct pfs_worker *worker, uint64_t count)
{
	if (pfs_mark_get(&worker->scene->phase) == 0)
		return pfs_live_churn(worker, count);
	bool *rests = worker->own;
	*rests = !*rests;
	return *rests ? 0 : pfs_live_churn(worker, REST_CHURN);
}

uint64_t pfs_tides_step(struct pfs_worker *worker, uint64_t count)
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

void pfs_tides_report(struct pfs_scene *scene, const uint64_t *ops, double window_s)
{
	struct tides *tides = scene->shared;
	struct pfs_counts counts;

	(void)ops;
	take_sample(scene, tides->end_ms != 0 ? tides->end_ms : window_s * 1e3);
	pfs_container_counts(scene->containers[0], &counts);
	if (tides->live_peak == peak_records(scene)) /* the peak was seen, so it is exact */
		scene->live_peak[0] = tides->live_peak;
	pfs_scene_extra(scene, "resident_bytes_peak", (double)tides->resident_peak);
	if (counts.pages_peak > 1)
		pfs_scene_extra(scene, "returned_share",
				(double)(counts.pages_peak - counts.pages) /
					(double)(counts.pages_peak - 1));
}
