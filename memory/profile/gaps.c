/*
 * gaps.c - from one sample to the next.
 */
#include "gaps.h"

#include "base/random.h"
#include "draw.h"

void pfs_gaps_used(struct pfs_profile *self, int32_t by)
{
	(void)pfs_fetch_add_relaxed(&self->samples_used, (uint32_t)by); /* relaxed: a count */
}

uint32_t pfs_gaps_more(const struct pfs_profile *self)
{
	uint32_t most = self->samples_max, more = 0;
	/* relaxed: a count. A thread that frees may have counted before the one that took. */
	int32_t used = (int32_t)pfs_load_relaxed(&self->samples_used);
	uint32_t left = used < 0 ? most : (uint32_t)used < most ? most - (uint32_t)used : 1;
	while (left <= most / 2) {
		left *= 2;
		more += 2;
	}
	return more;
}

/* The mean gap is 2^lg; 0: no samples are taken. Any value in the control area is handled. */
static uint32_t lg_now(const struct pfs_books *books)
{
	/* relaxed: switches; the owner looks again when the generation changes. */
	uint32_t lg = pfs_load_relaxed(&books->control->profile_lg);
	if ((pfs_load_relaxed(&books->control->profile_off) & 1) != 0) /* relaxed: a switch */
		return 0;
	lg = lg >= 1 && lg <= PFS_PROFILE_LG_MOST ? lg : books->box.head->profile_lg;
	lg += pfs_gaps_more(books->profile);
	return lg <= PFS_PROFILE_LG_MOST ? lg : PFS_PROFILE_LG_MOST;
}

/* Draw the next sample of a cell that has allocated `from` bytes. */
static void draw(struct pfs_memory_thread *thread, struct pfs_cell *cell, uint64_t from)
{
	uint32_t lg = lg_now(thread->memory);
	uint64_t at = UINT64_MAX;
	if (thread->random == 0)
		thread->random = pfs_random_seed(thread->record->begun_realtime_ns,
						 thread->record->thread_id);
	if (lg != 0) {
		at = from + pfs_draw_gap(&thread->random, UINT64_C(1) << lg);
		at = at < from ? UINT64_MAX : at;
	}
	if (cell->sample_lg != lg)
		cell->sample_lg = lg;
	pfs_store_relaxed(&cell->sample_at, at); /* relaxed: its own */
}

uint32_t pfs_sample_due(struct pfs_memory_thread *thread, struct pfs_cell *cell, uint64_t bytes)
{
	/* relaxed: only this thread writes these. */
	uint64_t now = pfs_load_relaxed(&cell->alloc_bytes);
	if (thread->memory->profile == NULL) {
		pfs_store_relaxed(&cell->sample_at, UINT64_MAX); /* relaxed: its own */
		return 0;
	}
	if (pfs_load_relaxed(&cell->sample_at) == 0) /* relaxed: its own */
		draw(thread, cell, now - bytes);
	if (now < pfs_load_relaxed(&cell->sample_at)) /* relaxed: its own */
		return 0;
	uint32_t lg = cell->sample_lg; /* the one that the gap was drawn with */
	draw(thread, cell, now);
	return lg;
}
