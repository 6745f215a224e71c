/*
 * workload_scan.c - one reader walks all live records while the other workers churn.
 *
 * Records hold words that belong together; the reader copies them by the optimistic protocol
 * and counts copies that were confirmed and yet are torn: that must never happen. Worker 0 is
 * the reader; its share of the live set stays as it is. With one thread it walks alone.
 */
#include <stdlib.h>
#include <string.h>

#include "workload.h"

#define RECORD_BYTES 64
#define WORDS (RECORD_BYTES / 8)
#define WORD_STEP UINT64_C(0x9E3779B97F4A7C15)

struct reader {
	struct pfs_walk walk;
	bool walking;
	uint64_t walks;
	uint64_t rows;
	uint64_t changed; /* copies that the protocol threw away */
	uint64_t torn;
};

static void configure(const struct pfs_scene *scene, uint32_t container, struct pfs_config *config)
{
	(void)scene, (void)container;
	config->record_size_bytes = RECORD_BYTES;
}

/* Word 0 is the stamp that every batch checks, the others follow from word 1. */
static void write_row(struct pfs_worker *worker, void *record)
{
	uint64_t words[WORDS];

	words[0] = (uint64_t)(uintptr_t)record ^ worker->live.salt;
	words[1] = pfs_random_next(&worker->random) << 16 | (worker->index & 0xFFFF);
	for (uint32_t i = 2; i < WORDS; i++)
		words[i] = words[i - 1] + WORD_STEP;
	pfs_bytes_store(record, words, sizeof(words));
}

static bool row_is_whole(const void *record, const uint64_t *words)
{
	uint64_t salt = pfs_worker_salt((uint32_t)(words[1] & 0xFFFF));

	if (words[0] != ((uint64_t)(uintptr_t)record ^ salt))
		return false;
	for (uint32_t i = 2; i < WORDS; i++)
		if (words[i] != words[i - 1] + WORD_STEP)
			return false;
	return true;
}

static bool is_reader(const struct pfs_worker *worker)
{
	return worker->index == 0;
}

static bool prepare(struct pfs_worker *worker)
{
	struct pfs_scene *scene = worker->scene;

	if (is_reader(worker)) {
		worker->own = calloc(1, sizeof(struct reader));
		if (worker->own == NULL)
			return false;
	}
	scene->live_peak[0] = scene->capacity > scene->thread_count ? scene->capacity
								    : scene->thread_count;
	return pfs_live_prepare(worker);
}

/* No canaries: the reader would take their bytes for torn. */
static void settle(struct pfs_worker *worker)
{
	if (worker->live.count > worker->target)
		worker->scene->calls->drain(worker->threads[0], &worker->live, worker->target);
	for (uint32_t i = 0; i < worker->live.count; i++)
		write_row(worker, worker->live.records[i]);
}

static uint64_t churn(struct pfs_worker *worker, uint64_t count)
{
	const struct pfs_calls *calls = worker->scene->calls;
	struct pfs_thread *thread = worker->threads[0];
	struct pfs_live *live = &worker->live;
	uint64_t done = 0;

	for (uint64_t i = 0; i < count; i++) {
		if (live->count == worker->target) {
			uint32_t victim = pfs_random_below(&worker->random, live->count);
			void *record = live->records[victim];

			live->spoiled += !pfs_stamp_ok(record, live->salt);
			live->records[victim] = live->records[--live->count];
			calls->free(thread, record);
		}
		struct pfs_claim claim = calls->allocate(thread);
		if (claim.record == NULL) {
			worker->refused++;
			continue;
		}
		write_row(worker, claim.record);
		calls->publish(thread, claim);
		live->records[live->count++] = claim.record;
		done++;
	}
	return done;
}

static void read_row(struct reader *reader, const void *record)
{
	uint64_t words[WORDS];

	pfs_bytes_load(words, record, sizeof(words));
	if (!pfs_read_end(record, reader->walk.glance)) {
		reader->changed++;
		return;
	}
	reader->rows++;
	reader->torn += !row_is_whole(record, words);
}

static uint64_t walk(struct pfs_worker *worker, uint64_t count)
{
	struct reader *reader = worker->own;
	uint64_t rows_before = reader->rows;

	for (uint64_t i = 0; i < count; i++) {
		if (!reader->walking)
			pfs_walk_begin(&reader->walk, worker->threads[0], PFS_WALK_LIVE);
		reader->walking = true;
		const void *record = pfs_walk_next(&reader->walk);
		if (record == NULL) {
			pfs_walk_end(&reader->walk);
			reader->walking = false;
			reader->walks++;
			break; /* at few rows a walk alone may take long: look at the stop flag */
		}
		read_row(reader, record);
	}
	if (reader->torn != 0)
		pfs_worker_fault(worker, "a confirmed read was torn");
	return reader->rows - rows_before;
}

static uint64_t step(struct pfs_worker *worker, uint64_t count)
{
	return is_reader(worker) ? walk(worker, count) : churn(worker, count);
}

static void finish(struct pfs_worker *worker)
{
	struct reader *reader = worker->own;

	if (reader != NULL && reader->walking)
		pfs_walk_end(&reader->walk);
	free(reader);
	worker->own = NULL;
	pfs_live_finish(worker);
}

static bool is_counted(const struct pfs_scene *scene, uint32_t worker_index)
{
	(void)scene;
	return worker_index != 0;
}

/* Rows are counted in the window only; walks and discarded copies also in the warm-up. */
static void report(struct pfs_scene *scene, const uint64_t *ops, double window_s)
{
	struct reader *reader = scene->workers[0].own;
	double rows = (double)ops[0];
	double seen = (double)(reader->rows + reader->changed);

	pfs_scene_extra(scene, "rows_per_second", rows / window_s);
	if (reader->rows != 0)
		pfs_scene_extra(scene, "walks_per_second",
				rows / window_s * (double)reader->walks / (double)reader->rows);
	if (seen > 0)
		pfs_scene_extra(scene, "changed_share", (double)reader->changed / seen);
	pfs_scene_extra(scene, "torn", (double)reader->torn);
}

const struct pfs_workload pfs_workload_scan = {
	.name = "scan",
	.summary = "a reader walks all live records while others churn",
	.counters = "rows_per_second torn",
	.traits = PFS_TRAIT_WORDS | PFS_TRAIT_INDEX,
	.has_policy = true,
	.has_occupancy = true,
	.threads_multiple = 1,
	.window_ms = PFS_WINDOW_MS,
	.container_count = 1,
	.configure = configure,
	.prepare = prepare,
	.settle = settle,
	.step = step,
	.finish = finish,
	.is_counted = is_counted,
	.report = report,
};
