/*
 * tally.h - what the search for a record reports to the metrics; see docs/reference/metrics.md.
 *
 * All functions are empty without PFS_COUNTING. Skeletons call them, hooks never do.
 */
#ifndef PFS_TALLY_H
#define PFS_TALLY_H

#include "place.h"

#ifdef PFS_COUNTING
#ifdef PFS_SIM
#define PFS_TALLY_EXACT true
#define PFS_FALSE_FULL_SAMPLE 1 /* all of them: counts are exact there */
#define PFS_TALLY_UNSEEN PFS_SIM_UNSEEN
#define pfs_tally_glance(lock) PFS_SIM_RAW(&(lock)->word)
#else
#define PFS_TALLY_EXACT false
#define PFS_FALSE_FULL_SAMPLE 16 /* one page search in this many is checked for false full */
#define PFS_TALLY_UNSEEN
#define pfs_tally_glance(lock) pfs_load_relaxed(&(lock)->word) /* relaxed: compared later */
#endif

static inline void pfs_count(struct pfs_thread *thread, enum pfs_event event, uint64_t by)
{
	pfs_metrics_begin();
	pfs_bump_owned(&thread->tally.events[event], by);
	pfs_metrics_end();
}

static inline void pfs_tally_call(struct pfs_thread *thread)
{
	pfs_metrics_begin();
	thread->tally.call++;
	/* relaxed: pages published later do not count for this call. */
	thread->tally.growths = pfs_load_relaxed(&thread->container->growths);
	pfs_metrics_end();
}

PFS_TALLY_UNSEEN static inline void pfs_tally_note_words(struct pfs_tally *tally,
							 const struct pfs_page *page)
{
	char *lock = (char *)pfs_page_lock(page, 0);
	size_t stride = page->word_stride;
	for (uint32_t slot = 0; slot < page->slot_count; slot++, lock += stride)
		tally->free_words[slot] = pfs_tally_glance((struct pfs_lock *)(void *)lock);
}

/* True if some record's word is the same FREE word as when the search began. */
PFS_TALLY_UNSEEN static inline bool pfs_tally_some_stayed_free(const struct pfs_tally *tally,
							       const struct pfs_page *page)
{
	char *lock = (char *)pfs_page_lock(page, 0);
	size_t stride = page->word_stride;
	for (uint32_t slot = 0; slot < page->slot_count; slot++, lock += stride) {
		uint32_t before = tally->free_words[slot];
		if (pfs_word_state(before) == PFS_STATE_FREE &&
		    pfs_tally_glance((struct pfs_lock *)(void *)lock) == before)
			return true;
	}
	return false;
}

/* A page search begins. A sampled one notes the words of all records. */
static inline void pfs_tally_search(struct pfs_thread *thread, const struct pfs_page *page)
{
	struct pfs_tally *tally = &thread->tally;
	pfs_metrics_begin();
	tally->search++;
	tally->tried_slots = 0;
	tally->page_stamps[page->index] = tally->call;
	pfs_count(thread, PFS_EVENT_PAGE_PROBES, 1);
	tally->sampled = tally->search % PFS_FALSE_FULL_SAMPLE == 0;
	if (tally->sampled)
		pfs_tally_note_words(tally, page);
	pfs_metrics_end();
}

static inline void pfs_tally_probe(struct pfs_thread *thread, uint32_t slot, enum pfs_take take)
{
	struct pfs_tally *tally = &thread->tally;
	pfs_metrics_begin();
	pfs_count(thread, PFS_EVENT_PROBES, 1);
	if (take == PFS_TAKE_LOST)
		pfs_count(thread, PFS_EVENT_CAS_FAILURES, 1);
	if (tally->slot_stamps[slot] != tally->search) {
		tally->slot_stamps[slot] = tally->search;
		tally->tried_slots++;
	}
	pfs_metrics_end();
}

/*
 * The search ended without a record. A record whose word is the same FREE word before and after was
 * FREE throughout: an owner in between would have raised the version, unless it abandoned the
 * record, which benchmarks never do.
 */
static inline void pfs_tally_miss(struct pfs_thread *thread, const struct pfs_page *page)
{
	struct pfs_tally *tally = &thread->tally;
	pfs_metrics_begin();
	pfs_count(thread, PFS_EVENT_RECORD_SKIPS, page->slot_count - tally->tried_slots);
	if (tally->sampled && pfs_tally_some_stayed_free(tally, page))
		pfs_count(thread, PFS_EVENT_FALSE_FULL, 1);
	pfs_metrics_end();
}

/*
 * The call gave up or continues with growth: count the pages below page_limit that were not tried.
 * Only those that were published when the call began: another thread may fill a hole meanwhile.
 */
static inline void pfs_tally_gave_up(struct pfs_thread *thread, uint32_t page_limit)
{
	struct pfs_container *self = thread->container;
	uint64_t skipped = 0;
	pfs_metrics_begin();
	for (uint32_t index = 0; index < page_limit; index++) {
		const struct pfs_page *page = pfs_container_page(self, index);
		skipped += page != NULL && page->published <= thread->tally.growths &&
			   thread->tally.page_stamps[index] != thread->tally.call;
	}
	pfs_count(thread, PFS_EVENT_PAGE_SKIPS, skipped);
	pfs_metrics_end();
}

static inline void pfs_tally_won(struct pfs_thread *thread, const struct pfs_page *page)
{
	struct pfs_container *self = thread->container;
	pfs_metrics_begin();
	pfs_count(thread, PFS_EVENT_ALLOCATIONS, 1);
	if (page->node == PFS_NODE_MIXED)
		pfs_count(thread, PFS_EVENT_MIXED, 1);
	else if (page->node != thread->node)
		pfs_count(thread, PFS_EVENT_REMOTE, 1);
	/* relaxed: a sum and its maximum, which order nothing. */
	uint64_t live = pfs_fetch_add_relaxed(&self->live, 1) + 1;
	uint64_t peak = pfs_load_relaxed(&self->live_peak); /* relaxed: a maximum */
	while (live > peak && !pfs_cas_relaxed(&self->live_peak, &peak, live))
		; /* relaxed: a failed CAS means that another thread raised the peak */
	pfs_metrics_end();
}

/* A free to this occupancy word is under way, or (NULL) none is: until it returns, the count of
 * needless growths does not treat its record as free. */
static inline void pfs_tally_giving(struct pfs_thread *thread, const void *word)
{
	pfs_metrics_begin();
	/* relaxed: the bit is set by a release after it, and read by an acquire before it. */
	pfs_store_relaxed(&thread->tally.giving, word);
	pfs_metrics_end();
}

/* pfs_tally_won, by the record. */
static inline void pfs_tally_won_record(struct pfs_thread *thread, const void *record)
{
	pfs_metrics_begin();
	pfs_tally_won(thread, pfs_place_in(thread->container, record).page);
	pfs_metrics_end();
}

/*
 * Before the record becomes FREE, so that live never exceeds the records in use. On the simulated
 * machine right after it, which is the same moment there: live is then exact.
 */
static inline void pfs_tally_free(struct pfs_container *home, bool is_done)
{
	if (is_done != PFS_TALLY_EXACT)
		return;
	pfs_metrics_begin();
	/* relaxed: a sum. */
	(void)pfs_fetch_add_relaxed(&home->live, (uint64_t)-1);
	pfs_metrics_end();
}
#else
static inline void pfs_count(struct pfs_thread *thread, enum pfs_event event, uint64_t by)
{
	(void)thread, (void)event, (void)by;
}
static inline void pfs_tally_call(struct pfs_thread *thread)
{
	(void)thread;
}
static inline void pfs_tally_search(struct pfs_thread *thread, const struct pfs_page *page)
{
	(void)thread, (void)page;
}
static inline void pfs_tally_probe(struct pfs_thread *thread, uint32_t slot, enum pfs_take take)
{
	(void)thread, (void)slot, (void)take;
}
static inline void pfs_tally_miss(struct pfs_thread *thread, const struct pfs_page *page)
{
	(void)thread, (void)page;
}
static inline void pfs_tally_gave_up(struct pfs_thread *thread, uint32_t page_limit)
{
	(void)thread, (void)page_limit;
}
static inline void pfs_tally_won(struct pfs_thread *thread, const struct pfs_page *page)
{
	(void)thread, (void)page;
}
static inline void pfs_tally_giving(struct pfs_thread *thread, const void *word)
{
	(void)thread, (void)word;
}
static inline void pfs_tally_won_record(struct pfs_thread *thread, const void *record)
{
	(void)thread, (void)record;
}
static inline void pfs_tally_free(struct pfs_container *home, bool is_done)
{
	(void)home, (void)is_done;
}
#endif

/* Another container's policy does not know this record: its index would hand out a record that is
 * not its own. */
static inline void pfs_check_handle(const struct pfs_thread *thread, const void *record)
{
	PFS_ASSERT(pfs_is_bare(thread) || pfs_record_page(record)->container == thread->container,
		   "free or abandon by a handle of another container than the record's");
}

/* Report what is wrong with a free, and abort. */
PFS_COLD PFS_PANIC_ENDS void pfs_free_refused(const struct pfs_thread *thread, const void *record);

/* In layouts without headers, where records may have no words. */
static inline void pfs_bare_free(struct pfs_place place)
{
	struct pfs_container *home = PFS_COUNTED ? place.page->container : NULL;
	pfs_tally_free(home, false);
	if (place.page->words != NULL)
		pfs_lock_allocated_to_free(pfs_page_lock(place.page, place.slot));
	pfs_tally_free(home, true);
}

static inline void pfs_bare_abandon(struct pfs_place place, struct pfs_claim claim)
{
	struct pfs_container *home = PFS_COUNTED ? place.page->container : NULL;
	pfs_tally_free(home, false);
	if (place.page->words != NULL)
		pfs_lock_dirty_to_free(pfs_page_lock(place.page, place.slot), claim.dirty_word);
	pfs_tally_free(home, true);
}

/* For policies whose records always have words. */
static inline void pfs_words_publish(struct pfs_thread *thread, struct pfs_claim claim)
{
	pfs_lock_dirty_to_allocated(pfs_lock_of(thread, claim.record), claim.dirty_word);
}

static __attribute__((noinline, unused)) void pfs_words_free_bare(struct pfs_thread *thread,
								  void *record)
{
	pfs_bare_free(pfs_bare_place(thread->container, record));
}

static inline void pfs_words_free(struct pfs_thread *thread, void *record)
{
	if (!pfs_likely(!pfs_is_bare(thread))) {
		pfs_words_free_bare(thread, record);
		return;
	}
	struct pfs_container *home = PFS_COUNTED ? pfs_record_page(record)->container : NULL;
	pfs_tally_free(home, false);
	pfs_lock_allocated_to_free(pfs_record_lock(record));
	pfs_tally_free(home, true);
}

static inline void pfs_words_abandon(struct pfs_thread *thread, struct pfs_claim claim)
{
	if (pfs_is_bare(thread)) {
		pfs_bare_abandon(pfs_bare_place(thread->container, claim.record), claim);
		return;
	}
	struct pfs_container *home = PFS_COUNTED ? pfs_record_page(claim.record)->container : NULL;
	pfs_tally_free(home, false);
	pfs_lock_dirty_to_free(pfs_record_lock(claim.record), claim.dirty_word);
	pfs_tally_free(home, true);
}

#endif
