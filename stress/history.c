#include "stress/history.h"

#include <stdlib.h>

/*
 * Between stamps s - 1 and s lies slot s, 0 <= s <= stamps. free[s], after the prefix sum, is
 * how many records are surely free in it; a stamp s begins at slot s + 1 and ends with slot s.
 */
struct sweep {
	int64_t *free;
	uint64_t stamps;
};

static int by_record_then_time(const void *left, const void *right)
{
	const struct pfs_life *a = left, *b = right;
	if (a->record != b->record)
		return a->record < b->record ? -1 : 1;
	return (a->alloc_res > b->alloc_res) - (a->alloc_res < b->alloc_res);
}

static int by_record_then_from(const void *left, const void *right)
{
	const struct pfs_span *a = left, *b = right;
	if (a->record != b->record)
		return a->record < b->record ? -1 : 1;
	if (a->from_start != b->from_start)
		return a->from_start ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

static int by_res(const void *left, const void *right)
{
	const struct pfs_no_free *a = left, *b = right;
	return (a->res > b->res) - (a->res < b->res);
}

static bool is_life_well_formed(const struct pfs_life *life, uint64_t record_count)
{
	if (life->record >= record_count || life->alloc_inv >= life->alloc_res)
		return false;
	if (life->free_inv == PFS_STAMP_NEVER)
		return life->free_res == PFS_STAMP_NEVER;
	return life->alloc_res < life->free_inv && life->free_inv < life->free_res &&
	       life->free_res != PFS_STAMP_NEVER;
}

static bool is_span_well_formed(const struct pfs_span *span, uint64_t record_count)
{
	return span->record < record_count && (span->from_start || span->from < span->until);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The number of stamps, or 0 if the history is malformed. */
static uint64_t count_stamps(const struct pfs_history *history)
{
	uint64_t last = 0;
	for (size_t i = 0; i < history->life_count; i++) {
		const struct pfs_life *life = &history->lives[i];
		if (!is_life_well_formed(life, history->record_count))
			return 0;
		last = larger(last,
			      life->free_res != PFS_STAMP_NEVER ? life->free_res : life->alloc_res);
	}
	for (size_t i = 0; i < history->no_free_count; i++) {
		if (history->no_frees[i].inv >= history->no_frees[i].res)
			return 0;
		last = larger(last, history->no_frees[i].res);
	}
	for (size_t i = 0; i < history->span_count; i++) {
		const struct pfs_span *span = &history->spans[i];
		if (!is_span_well_formed(span, history->record_count))
			return 0;
		if (!span->from_start)
			last = larger(last, span->from);
		if (span->until != PFS_STAMP_NEVER)
			last = larger(last, span->until);
	}
	return last + 1;
}

/* A record is surely free from after stamp `begin` (slot) up to slot `end`, both included. */
static void add_free(struct sweep *self, uint64_t begin, uint64_t end)
{
	if (begin > end || begin > self->stamps)
		return;
	self->free[begin]++;
	self->free[end + 1]--;
}

/* The lives [at, end) of one record and one of its spans: adds what is free in the span. Returns
 * the first life that begins to be sure after it, or that is wrong, with *verdict. */
static size_t sweep_span(struct sweep *self, const struct pfs_history *history,
			 const struct pfs_span *span, size_t at, size_t end,
			 enum pfs_verdict *verdict)
{
	uint64_t free_from = span->from_start ? 0 : span->from + 1;
	uint64_t last = span->until == PFS_STAMP_NEVER ? self->stamps : span->until;
	bool used = false; /* by the life before, which may not have ended */
	for (size_t first = at; at < end; at++) {
		const struct pfs_life *life = &history->lives[at];
		if (life->alloc_res > span->until)
			break;
		*verdict = at != first && history->lives[at - 1].free_inv > life->alloc_res
				   ? PFS_HISTORY_DOUBLE
			   : (!span->from_start && life->alloc_res < span->from) ||
					   life->free_inv > span->until
				   ? PFS_HISTORY_NO_PAGE
				   : PFS_HISTORY_FINE;
		if (*verdict != PFS_HISTORY_FINE)
			return at;
		add_free(self, free_from, life->alloc_inv);
		used = life->free_res == PFS_STAMP_NEVER;
		free_from = used ? 0 : life->free_res + 1;
	}
	if (!used)
		add_free(self, free_from, last);
	return at;
}

/* All spans and lives of one record; *life and *span move past them. */
static enum pfs_verdict sweep_record(struct sweep *self, const struct pfs_history *history,
				     uint64_t record, size_t *life, size_t *span)
{
	static const struct pfs_span always = { .until = PFS_STAMP_NEVER, .from_start = true };
	enum pfs_verdict verdict = PFS_HISTORY_FINE;
	size_t end = *life;
	while (end < history->life_count && history->lives[end].record == record)
		end++;
	if (history->spans == NULL)
		*life = sweep_span(self, history, &always, *life, end, &verdict);
	for (; *span < history->span_count && history->spans[*span].record == record; ++*span) {
		*life = sweep_span(self, history, &history->spans[*span], *life, end, &verdict);
		if (verdict != PFS_HISTORY_FINE)
			return verdict;
	}
	return verdict != PFS_HISTORY_FINE ? verdict
	       : *life != end              ? PFS_HISTORY_NO_PAGE
					   : PFS_HISTORY_FINE;
}

static enum pfs_verdict sweep_lives(struct sweep *self, struct pfs_history *history, size_t *where)
{
	size_t span = 0;
	*where = 0;
	for (uint64_t record = 0; record < history->record_count; record++) {
		enum pfs_verdict verdict = sweep_record(self, history, record, where, &span);
		if (verdict != PFS_HISTORY_FINE)
			return verdict;
	}
	return PFS_HISTORY_FINE;
}

/* Each answer needs a slot inside it with no record surely free. */
static enum pfs_verdict sweep_no_frees(struct sweep *self, struct pfs_history *history,
				       size_t *where)
{
	uint64_t slot = 0, last_without = 0;
	int64_t free_records = 0;
	bool any_without = false;
	for (size_t i = 0; i < history->no_free_count; i++) {
		const struct pfs_no_free *answer = &history->no_frees[i];
		for (; slot <= answer->res; slot++) {
			free_records += self->free[slot];
			if (free_records == 0) {
				last_without = slot;
				any_without = true;
			}
		}
		if (!any_without || last_without <= answer->inv) {
			*where = i;
			return PFS_HISTORY_FALSE_FULL;
		}
	}
	return PFS_HISTORY_FINE;
}

enum pfs_verdict pfs_history_check(struct pfs_history *history, size_t *where)
{
	size_t nowhere;
	struct sweep sweep = { .stamps = count_stamps(history) };
	if (where == NULL)
		where = &nowhere;
	*where = 0;
	if (sweep.stamps == 0)
		return PFS_HISTORY_MALFORMED;
	sweep.free = calloc(sweep.stamps + 2, sizeof(*sweep.free));
	if (sweep.free == NULL)
		return PFS_HISTORY_NO_MEMORY;
	if (history->life_count != 0)
		qsort(history->lives, history->life_count, sizeof(history->lives[0]),
		      by_record_then_time);
	if (history->span_count != 0)
		qsort(history->spans, history->span_count, sizeof(history->spans[0]),
		      by_record_then_from);
	if (history->no_free_count != 0)
		qsort(history->no_frees, history->no_free_count, sizeof(history->no_frees[0]),
		      by_res);
	enum pfs_verdict verdict = sweep_lives(&sweep, history, where);
	if (verdict == PFS_HISTORY_FINE)
		verdict = sweep_no_frees(&sweep, history, where);
	free(sweep.free);
	return verdict;
}

const char *pfs_verdict_text(enum pfs_verdict verdict)
{
	switch (verdict) {
	case PFS_HISTORY_FINE: return "linearizable";
	case PFS_HISTORY_DOUBLE: return "a record had two owners";
	case PFS_HISTORY_NO_PAGE: return "a record in use while its page was not published";
	case PFS_HISTORY_FALSE_FULL: return "full, although a record was free all the while";
	case PFS_HISTORY_MALFORMED: return "stamps out of order";
	case PFS_HISTORY_NO_MEMORY: return "no memory for the check";
	}
	return "unknown verdict";
}
