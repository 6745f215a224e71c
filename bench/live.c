/*
 * live.c - a live set for each worker at an occupancy, and what churns it.
 *
 * The set is filled to the last record first and then drained at random, one phase after the
 * other for all workers: a fresh container hands out records in order, and searches that
 * remember where they were would look better than they are. Workers fill in turns, so that
 * the fill itself adds no page by a race.
 */
#include <stdlib.h>
#include <string.h>

#include "workload.h"

/* Without the record's own word, which is behind them. */
static uint32_t record_bytes(const struct pfs_worker *worker)
{
	const struct pfs_config *config = pfs_container_config(worker->scene->containers[0]);
	return config->layout == PFS_LAYOUT_OWN_WORD ? config->word_offset
						     : config->record_size_bytes;
}

bool pfs_live_prepare(struct pfs_worker *worker)
{
	struct pfs_scene *scene = worker->scene;
	uint64_t live = (uint64_t)(scene->occupancy * (double)scene->capacity);
	uint32_t share = (uint32_t)pfs_part(scene->capacity, scene->thread_count, worker->index);

	worker->target = (uint32_t)pfs_part(live, scene->thread_count, worker->index);
	if (worker->target == 0)
		worker->target = 1;
	if (share < worker->target)
		share = worker->target; /* more threads than records */
	worker->live.records = calloc(share, sizeof(*worker->live.records));
	worker->live.random = worker->random;
	worker->live.salt = pfs_worker_salt(worker->index);
	if (worker->live.records == NULL)
		return false;
	worker->refused += scene->calls->fill(worker->threads[0], &worker->live, share);
	return true;
}

/* Some live records are set aside, with a pattern over all their bytes. */
void pfs_live_set_canaries(struct pfs_worker *worker)
{
	uint32_t count = worker->live.count / 4;

	worker->canary_count = count < PFS_CANARIES_MAX ? count : PFS_CANARIES_MAX;
	for (uint32_t i = 0; i < worker->canary_count; i++) {
		worker->canaries[i] = worker->live.records[--worker->live.count];
		memset(worker->canaries[i], 0xA0 + (int)(worker->index % 64), record_bytes(worker));
	}
	worker->target = worker->live.count;
}

void pfs_live_settle(struct pfs_worker *worker)
{
	if (worker->live.count > worker->target)
		worker->scene->calls->drain(worker->threads[0], &worker->live, worker->target);
	pfs_live_set_canaries(worker);
}

uint64_t pfs_live_churn(struct pfs_worker *worker, uint64_t count)
{
	const struct pfs_calls *calls = worker->scene->calls;
	struct pfs_thread *thread = worker->threads[0];

	if (worker->live.count == 0) {
		worker->refused += calls->fill(thread, &worker->live, worker->target);
		return 0;
	}
	uint32_t before = worker->live.count;
	uint64_t done = calls->churn(thread, &worker->live, count);
	if (worker->live.count != before) { /* make it whole again as far as that goes */
		worker->refused += before - worker->live.count;
		worker->refused += calls->fill(thread, &worker->live, worker->target);
	}
	return done;
}

void pfs_live_sample(struct pfs_worker *worker)
{
	const struct pfs_calls *calls = worker->scene->calls;
	struct pfs_thread *thread = worker->threads[0];

	if (worker->live.count == 0)
		return;
	uint32_t victim = pfs_random_below(&worker->random, worker->live.count);
	worker->live.spoiled += !pfs_stamp_ok(worker->live.records[victim], worker->live.salt);
	calls->free(thread, worker->live.records[victim]);
	struct pfs_claim claim = pfs_timed_allocate(worker, thread);
	if (claim.record == NULL) {
		worker->refused++;
		worker->live.records[victim] = worker->live.records[--worker->live.count];
		return;
	}
	pfs_stamp_set(claim.record, worker->live.salt);
	calls->publish(thread, claim);
	worker->live.records[victim] = claim.record;
}

static void check_canaries(struct pfs_worker *worker)
{
	uint32_t size = record_bytes(worker);
	unsigned char wanted = (unsigned char)(0xA0 + (int)(worker->index % 64));

	for (uint32_t i = 0; i < worker->canary_count; i++) {
		const unsigned char *bytes = worker->canaries[i];
		for (uint32_t at = 0; at < size; at++)
			if (bytes[at] != wanted)
				pfs_worker_fault(worker, "a live record was overwritten");
	}
}

void pfs_live_finish(struct pfs_worker *worker)
{
	const struct pfs_calls *calls = worker->scene->calls;

	check_canaries(worker);
	for (uint32_t i = 0; i < worker->canary_count; i++)
		calls->free(worker->threads[0], worker->canaries[i]);
	worker->canary_count = 0;
	calls->drain(worker->threads[0], &worker->live, 0);
	free(worker->live.records);
	worker->live.records = NULL;
	if (worker->live.spoiled != 0)
		pfs_worker_fault(worker, "a live record had two owners");
}
