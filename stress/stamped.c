/*
 * stamped.c - short rounds on a small container, every call stamped, each history checked.
 *
 * The stamps come from one sequentially consistent counter, which orders more than the
 * containers do: races are the business of the other workloads, answers are that of this one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "crowd.h"
#include "base/now.h"

static uint64_t stamp(struct pfs_crowd *crowd)
{
	return atomic_fetch_add_explicit(&crowd->clock, 1, memory_order_seq_cst);
}

static void log_refusal(struct pfs_worker *self, uint64_t inv, uint64_t res)
{
	struct pfs_crowd *crowd = self->crowd;
	size_t *count = &crowd->no_free_counts[self->index];
	self->deeds->refused++;
	if (pfs_thread_status(self->thread) != PFS_FULL)
		return;
	crowd->no_frees[(size_t)self->index * PFS_HISTORY_STEPS + (*count)++] =
		(struct pfs_no_free){ inv, res };
}

static void allocate(struct pfs_worker *self)
{
	struct pfs_crowd *crowd = self->crowd;
	uint64_t inv = stamp(crowd);
	struct pfs_claim claim = pfs_allocate(self->thread);
	uint64_t res = stamp(crowd);
	if (claim.record == NULL) {
		log_refusal(self, inv, res);
		return;
	}
	size_t *count = &crowd->life_counts[self->index];
	struct pfs_life *life = &crowd->lives[(size_t)self->index * PFS_HISTORY_STEPS + (*count)++];
	*life = (struct pfs_life){ .record = pfs_index(self->thread, claim.record),
				   .alloc_inv = inv,
				   .alloc_res = res,
				   .free_inv = PFS_STAMP_NEVER,
				   .free_res = PFS_STAMP_NEVER };
	pfs_publish(self->thread, claim);
	self->deeds->allocations++;
	self->held[self->held_count++] = (struct pfs_held){ .record = claim.record, .life = life };
}

static void give(struct pfs_worker *self, uint32_t position)
{
	struct pfs_held held = self->held[position];
	self->held[position] = self->held[--self->held_count];
	held.life->free_inv = stamp(self->crowd);
	pfs_free(self->thread, held.record);
	held.life->free_res = stamp(self->crowd);
}

static void run_steps(struct pfs_crowd *crowd, uint32_t index)
{
	struct pfs_worker self;
	pfs_worker_begin(&self, crowd, index);
	self.random ^= (stamp(crowd) + 1) * 2; /* another choice each round */
	for (uint32_t step = 0; step < PFS_HISTORY_STEPS; step++) {
		uint32_t what = pfs_below(&self.random, 64);
		if (what == 0)
			self.deeds->gave_back += pfs_reclaim_now(self.thread);
		else if (what < 4)
			pfs_worker_take_over(&self);
		else if (what < 8 && self.held_count != 0)
			(void)pfs_worker_hand_over(&self, self.held_count - 1);
		else if (self.held_count < crowd->hold_max && pfs_below(&self.random, 5) < 3)
			allocate(&self);
		else if (self.held_count != 0)
			give(&self, pfs_below(&self.random, self.held_count));
	}
	while (self.held_count != 0)
		give(&self, self.held_count - 1);
	pfs_worker_end(&self);
}

/* Records that are still in the boxes were never freed, as far as the history knows. */
static void empty_boxes(struct pfs_crowd *self)
{
	for (uint32_t i = 0; i < self->options->threads * PFS_BOX_SLOTS; i++) {
		_Atomic(struct pfs_held *) *slot =
			&self->boxes[i / PFS_BOX_SLOTS].slots[i % PFS_BOX_SLOTS];
		free(atomic_exchange_explicit(slot, NULL, memory_order_acquire));
	}
}

/* The logs of all threads, one behind the other. */
static void gather(struct pfs_crowd *self, struct pfs_history *history)
{
	history->lives = self->lives;
	history->no_frees = self->no_frees;
	for (uint32_t i = 0; i < self->options->threads; i++) {
		const size_t from = (size_t)i * PFS_HISTORY_STEPS;
		for (size_t j = 0; j < self->life_counts[i]; j++)
			history->lives[history->life_count++] = self->lives[from + j];
		for (size_t j = 0; j < self->no_free_counts[i]; j++)
			history->no_frees[history->no_free_count++] = self->no_frees[from + j];
		self->life_counts[i] = 0;
		self->no_free_counts[i] = 0;
	}
}

static void check_round(struct pfs_crowd *self)
{
	struct pfs_history history = { .record_count = self->capacity };
	size_t where = 0;
	gather(self, &history);
	/* Only an exact policy answers full at a moment when it was true. */
	if ((pfs_variant_traits(self->options->policy) & PFS_TRAIT_EXACT) == 0)
		history.no_free_count = 0;
	enum pfs_verdict verdict = pfs_history_check(&history, &where);
	if (verdict == PFS_HISTORY_DOUBLE)
		pfs_harm(self, "not linearizable: %s: record %llu, allocated at %llu and %llu",
			 pfs_verdict_text(verdict), (unsigned long long)history.lives[where].record,
			 (unsigned long long)history.lives[where - 1].alloc_res,
			 (unsigned long long)history.lives[where].alloc_res);
	if (verdict == PFS_HISTORY_FALSE_FULL)
		pfs_harm(self, "not linearizable: %s: from %llu to %llu", pfs_verdict_text(verdict),
			 (unsigned long long)history.no_frees[where].inv,
			 (unsigned long long)history.no_frees[where].res);
	if (verdict != PFS_HISTORY_FINE)
		pfs_harm(self, "history: %s", pfs_verdict_text(verdict));
}

void pfs_crowd_run_history(struct pfs_crowd *self, double seconds)
{
	const size_t steps = (size_t)self->options->threads * PFS_HISTORY_STEPS;
	const double end = pfs_now_seconds(CLOCK_MONOTONIC) + seconds;
	self->lives = calloc(steps, sizeof(*self->lives));
	self->no_frees = calloc(steps, sizeof(*self->no_frees));
	self->life_counts = calloc(self->options->threads, sizeof(size_t));
	self->no_free_counts = calloc(self->options->threads, sizeof(size_t));
	if (self->lives == NULL || self->no_frees == NULL || self->life_counts == NULL ||
	    self->no_free_counts == NULL)
		pfs_harm(self, "no memory for the history");
	do {
		pfs_crowd_create(self);
		atomic_store_explicit(&self->clock, 0, memory_order_relaxed);
		pfs_crowd_threads(self, run_steps, 0);
		empty_boxes(self);
		check_round(self);
		pfs_crowd_destroy(self);
	} while (pfs_now_seconds(CLOCK_MONOTONIC) < end);
	free(self->lives);
	free(self->no_frees);
	free(self->life_counts);
	free(self->no_free_counts);
}
