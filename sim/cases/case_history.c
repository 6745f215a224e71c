#include "sim/cases/case_history.h"

#include <string.h>

#include "check/search/states.h"

void pfs_case_history_begin(struct pfs_case_history *self, bool exact, bool real_time,
			    uint32_t page_records)
{
	self->exact = exact;
	self->real_time = real_time;
	self->learned = false;
	self->page_records = page_records;
	self->now = 0;
	self->life_count = self->draining = self->no_free_count = self->span_count = 0;
	self->too_long = false;
	memset(self->has_page, 0, sizeof(self->has_page));
	memset(self->began, 0xFF, sizeof(self->began));
}

static void add_life(struct pfs_case_history *self, uint32_t record, uint64_t inv, uint64_t res)
{
	self->too_long |= self->life_count == PFS_CASE_LIVES_MAX;
	if (self->too_long)
		return;
	self->freed_by[self->life_count] = PFS_THREAD_NONE;
	self->lives[self->life_count++] = (struct pfs_life){ record, inv, res, PFS_STAMP_NEVER,
							     PFS_STAMP_NEVER };
}

static void add_no_free(struct pfs_case_history *self, uint32_t thread, uint64_t res)
{
	self->too_long |= self->no_free_count == PFS_CASE_LIVES_MAX;
	if (self->too_long)
		return;
	memcpy(self->no_free_known[self->no_free_count], self->known[thread],
	       sizeof(self->known[thread]));
	self->no_frees[self->no_free_count++] = (struct pfs_no_free){ self->began[thread], res };
}

void pfs_case_history_keep(struct pfs_case_history *self, uint32_t record)
{
	uint64_t inv = self->now++;
	add_life(self, record, inv, self->now++);
}

void pfs_case_history_call(struct pfs_case_history *self, uint32_t thread)
{
	self->began[thread] = self->now++;
	if (!self->learned)
		return;
	const struct pfs_clocks *clocks = &pfs_machine_current()->clocks;
	memcpy(self->known[thread], pfs_clock_of(clocks, thread),
	       clocks->threads * sizeof(uint32_t));
}

void pfs_case_history_allocated(struct pfs_case_history *self, uint32_t thread, uint32_t record)
{
	add_life(self, record, self->began[thread], self->now++);
	self->began[thread] = PFS_STAMP_NEVER;
}

void pfs_case_history_refused(struct pfs_case_history *self, uint32_t thread, bool full)
{
	if (full && self->exact)
		add_no_free(self, thread, self->now++);
	self->began[thread] = PFS_STAMP_NEVER;
}

uint32_t pfs_case_history_free(struct pfs_case_history *self, uint32_t record)
{
	for (uint32_t i = self->life_count; i-- > 0;) {
		if (self->lives[i].record != record)
			continue;
		self->lives[i].free_inv = self->now++;
		return i;
	}
	return PFS_CASE_LIVES_MAX; /* history too long: the allocate was not stored */
}

void pfs_case_history_freed(struct pfs_case_history *self, struct pfs_machine *machine,
			    uint32_t thread, uint32_t life)
{
	if (life == PFS_CASE_LIVES_MAX)
		return;
	if (self->learned)
		self->freed_at[life] = (struct pfs_case_epoch){
			thread, pfs_clock_of(&machine->clocks, thread)[thread]
		};
	if (machine->threads[thread]->buffer_count == 0 || self->real_time) {
		self->lives[life].free_res = self->now++;
		return;
	}
	self->freed_by[life] = thread;
	self->draining++;
}

void pfs_case_history_step(struct pfs_case_history *self, struct pfs_machine *machine)
{
	for (uint32_t i = 0; self->draining != 0 && i < self->life_count; i++) {
		uint32_t thread = self->freed_by[i];
		if (thread == PFS_THREAD_NONE || machine->threads[thread]->buffer_count != 0)
			continue;
		self->freed_by[i] = PFS_THREAD_NONE;
		self->lives[i].free_res = self->now++;
		self->draining--;
	}
}

static void page_came(struct pfs_case_history *self, struct pfs_machine *machine, uint32_t page)
{
	bool first = machine->run.step_count == 0;
	uint64_t stamp = self->now++;
	self->too_long |= self->span_count + self->page_records > PFS_CASE_SPANS_MAX;
	for (uint32_t slot = 0; !self->too_long && slot < self->page_records; slot++)
		self->spans[self->span_count++] = (struct pfs_span){
			page * self->page_records + slot, stamp, PFS_STAMP_NEVER, first
		};
	if (first || !self->exact)
		return;
	uint32_t thread = machine->run.last_actor.thread;
	if (self->began[thread] != PFS_STAMP_NEVER)
		add_no_free(self, thread, stamp);
}

static void page_went(struct pfs_case_history *self, uint32_t page)
{
	uint64_t stamp = self->now++;
	for (uint32_t i = 0; i < self->span_count; i++) {
		struct pfs_span *span = &self->spans[i];
		if (span->record / self->page_records == page && span->until == PFS_STAMP_NEVER)
			span->until = stamp;
	}
}

void pfs_case_history_page(struct pfs_case_history *self, struct pfs_machine *machine,
			   uint32_t page, bool published)
{
	if (page >= PFS_CASE_PAGES_MAX || published == self->has_page[page])
		return;
	self->has_page[page] = published;
	if (published)
		page_came(self, machine, page);
	else
		page_went(self, page);
}

/*
 * The stamps before this one are past: no call that began before it is in progress, and no open
 * answer depends on such a call, which may have held a record throughout.
 */
static uint64_t horizon_of(const struct pfs_case_history *self)
{
	uint64_t horizon = self->now;
	for (uint32_t thread = 0; thread < PFS_CASE_CALLERS_MAX; thread++)
		horizon = self->began[thread] < horizon ? self->began[thread] : horizon;
	for (uint64_t before = 0; before != horizon;) {
		before = horizon;
		for (uint32_t i = 0; i < self->no_free_count; i++) {
			const struct pfs_no_free *answer = &self->no_frees[i];
			if (answer->res > horizon && answer->inv < horizon)
				horizon = answer->inv;
		}
	}
	return horizon;
}

#define STAMPS_MAX 64u

/* Stamps since the horizon, in order; ends[]: is it the end of a call? */
struct stamps {
	uint64_t horizon;
	uint64_t at[STAMPS_MAX];
	bool ends[STAMPS_MAX];
	uint32_t count;
	bool too_many;
};

static void add_stamp(struct stamps *self, uint64_t stamp, bool ends)
{
	uint32_t at = self->count;
	if (stamp == PFS_STAMP_NEVER || stamp < self->horizon)
		return;
	self->too_many |= self->count == STAMPS_MAX;
	if (self->too_many)
		return;
	for (; at > 0 && self->at[at - 1] > stamp; at--) {
		self->at[at] = self->at[at - 1];
		self->ends[at] = self->ends[at - 1];
	}
	self->at[at] = stamp;
	self->ends[at] = ends;
	self->count++;
}

/* Runs of stamps of one kind are numbered from 1. 0: before the horizon, or never. */
static uint64_t run_of(const struct stamps *self, uint64_t stamp)
{
	uint64_t run = 1;
	if (stamp == PFS_STAMP_NEVER || stamp < self->horizon)
		return 0;
	for (uint32_t i = 0; i < self->count && self->at[i] < stamp; i++)
		run += i + 1 < self->count && self->ends[i + 1] != self->ends[i];
	return self->too_many ? stamp : run;
}

static void collect(const struct pfs_case_history *self, struct stamps *stamps)
{
	stamps->horizon = horizon_of(self);
	for (uint32_t i = 0; i < self->life_count; i++) {
		add_stamp(stamps, self->lives[i].alloc_inv, false);
		add_stamp(stamps, self->lives[i].free_res, true);
	}
	for (uint32_t i = 0; i < self->no_free_count; i++) {
		if (self->no_frees[i].res < stamps->horizon)
			continue;
		add_stamp(stamps, self->no_frees[i].inv, false);
		add_stamp(stamps, self->no_frees[i].res, true);
	}
	for (uint32_t thread = 0; thread < PFS_CASE_CALLERS_MAX; thread++)
		add_stamp(stamps, self->began[thread], false);
}

static bool is_last_life(const struct pfs_case_history *self, uint32_t life)
{
	for (uint32_t i = life + 1; i < self->life_count; i++) {
		if (self->lives[i].record == self->lives[life].record)
			return false;
	}
	return true;
}

static uint64_t life_known(const struct pfs_case_history *self, const struct stamps *stamps,
			   uint32_t at)
{
	const struct pfs_life *life = &self->lives[at];
	bool last = is_last_life(self, at);
	uint64_t from = run_of(stamps, life->alloc_inv), to = run_of(stamps, life->free_res);
	uint64_t state = life->free_inv == PFS_STAMP_NEVER   ? 1
			 : life->free_res == PFS_STAMP_NEVER ? 2 + self->freed_by[at] % 64
							     : 0;
	if (!last && from == 0 && to == 0 && state == 0)
		return 0; /* ended, and followed by another life */
	uint64_t known = pfs_states_mix(life->record * 2 + last, from);
	return pfs_states_mix(pfs_states_mix(known, to), state);
}

uint64_t pfs_case_history_known(const struct pfs_case_history *self)
{
	struct stamps stamps = { .count = 0 };
	uint64_t sum = 0;
	collect(self, &stamps);
	for (uint32_t i = 0; i < self->life_count; i++)
		sum += life_known(self, &stamps, i);
	for (uint32_t i = 0; i < self->no_free_count; i++) {
		if (self->no_frees[i].res >= stamps.horizon)
			sum += pfs_states_mix(run_of(&stamps, self->no_frees[i].inv),
					      1000 + run_of(&stamps, self->no_frees[i].res));
	}
	for (uint32_t thread = 0; thread < PFS_CASE_CALLERS_MAX; thread++)
		sum += pfs_states_mix(2000 + thread, run_of(&stamps, self->began[thread]));
	return sum;
}

/* A thread stopped inside a call: its free may have happened, and its allocate may own any record,
 * so that answers of full are not checked. */
static void close_calls(struct pfs_case_history *self)
{
	for (uint32_t i = 0; i < self->life_count; i++) {
		struct pfs_life *life = &self->lives[i];
		if (life->free_inv != PFS_STAMP_NEVER && life->free_res == PFS_STAMP_NEVER)
			life->free_res = self->now++;
	}
	for (uint32_t thread = 0; thread < PFS_CASE_CALLERS_MAX; thread++) {
		if (self->began[thread] != PFS_STAMP_NEVER)
			self->no_free_count = 0;
	}
}

void pfs_case_history_keep_all(struct pfs_case_history *self, struct pfs_machine_snapshot *snapshot)
{
	pfs_snapshot_put(snapshot, &self->now, sizeof(self->now));
	pfs_snapshot_put(snapshot, self->lives, self->life_count * sizeof(self->lives[0]));
	pfs_snapshot_put(snapshot, self->freed_by, self->life_count * sizeof(self->freed_by[0]));
	pfs_snapshot_put(snapshot, &self->life_count, sizeof(self->life_count));
	pfs_snapshot_put(snapshot, &self->draining, sizeof(self->draining));
	pfs_snapshot_put(snapshot, self->no_frees, self->no_free_count * sizeof(self->no_frees[0]));
	pfs_snapshot_put(snapshot, &self->no_free_count, sizeof(self->no_free_count));
	pfs_snapshot_put(snapshot, self->spans, self->span_count * sizeof(self->spans[0]));
	pfs_snapshot_put(snapshot, &self->span_count, sizeof(self->span_count));
	pfs_snapshot_put(snapshot, self->has_page, sizeof(self->has_page));
	pfs_snapshot_put(snapshot, self->began, sizeof(self->began));
	pfs_snapshot_put(snapshot, &self->too_long, sizeof(self->too_long));
	if (!self->learned)
		return;
	pfs_snapshot_put(snapshot, self->freed_at, self->life_count * sizeof(self->freed_at[0]));
	pfs_snapshot_put(snapshot, self->known, sizeof(self->known));
	pfs_snapshot_put(snapshot, self->no_free_known,
			 self->no_free_count * sizeof(self->no_free_known[0]));
}

void pfs_case_history_check_past(struct pfs_case_history *self)
{
	uint64_t horizon = horizon_of(self);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < self->no_free_count; i++) {
		if (self->no_frees[i].res < horizon)
			self->no_frees[kept++] = self->no_frees[i];
	}
	self->no_free_count = kept;
	memset(self->began, 0xFF, sizeof(self->began));
	pfs_case_history_check(self);
}

/* The lives as the thread of an answer could know them: frees that it could not know are open. */
static void copy_known(const struct pfs_case_history *self, uint32_t answer, struct pfs_life *lives)
{
	uint64_t end = self->now;
	for (uint32_t i = 0; i < self->life_count; i++) {
		const struct pfs_case_epoch *freed = &self->freed_at[i];
		lives[i] = self->lives[i];
		if (lives[i].free_res != PFS_STAMP_NEVER &&
		    self->no_free_known[answer][freed->thread] < freed->epoch)
			lives[i].free_res = end++;
	}
}

/* Checks each answer alone, with the lives that its thread could know. */
static enum pfs_verdict check_learned(struct pfs_case_history *self, struct pfs_history *history,
				      size_t *where)
{
	static _Thread_local struct pfs_life lives[PFS_CASE_LIVES_MAX];
	for (uint32_t answer = 0; answer < self->no_free_count; answer++) {
		struct pfs_history one = *history;
		copy_known(self, answer, lives);
		one.lives = lives;
		one.no_frees = &self->no_frees[answer];
		one.no_free_count = 1;
		enum pfs_verdict verdict = pfs_history_check(&one, where);
		*where += verdict == PFS_HISTORY_FALSE_FULL ? answer : 0;
		if (verdict != PFS_HISTORY_FINE)
			return verdict;
	}
	history->no_free_count = 0;
	return pfs_history_check(history, where);
}

void pfs_case_history_check(struct pfs_case_history *self)
{
	/* clang-format off */
	struct pfs_history history = {
		self->lives, self->life_count, self->no_frees, self->no_free_count,
		PFS_CASE_PAGES_MAX * self->page_records, self->spans, self->span_count
	};
	/* clang-format on */
	size_t where = 0;
	if (self->too_long) {
		pfs_machine_fail("the history is too long to check: give fewer operations");
		return;
	}
	close_calls(self);
	history.no_free_count = self->no_free_count;
	enum pfs_verdict verdict = self->learned ? check_learned(self, &history, &where)
						 : pfs_history_check(&history, &where);
	if (verdict == PFS_HISTORY_FALSE_FULL)
		pfs_machine_fail(
			"not linearizable: answered full, or added a page, between times "
			"%llu and %llu although some record was free throughout",
			(unsigned long long)history.no_frees[where].inv,
			(unsigned long long)history.no_frees[where].res);
	else if (verdict == PFS_HISTORY_DOUBLE || verdict == PFS_HISTORY_NO_PAGE)
		pfs_machine_fail("not linearizable: %s: record %llu, allocated at time %llu",
				 pfs_verdict_text(verdict),
				 (unsigned long long)history.lives[where].record,
				 (unsigned long long)history.lives[where].alloc_res);
	else if (verdict != PFS_HISTORY_FINE)
		pfs_machine_fail("history: %s", pfs_verdict_text(verdict));
}
