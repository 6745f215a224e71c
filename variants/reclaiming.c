/*
 * reclaiming.c - strict scan that prefers full pages, and gives empty ones back.
 *
 * Each thread starts at the page of its last success and scans all pages that do not drain; only if
 * they have no room, those that do. The reclaim pass (containers/reclaim.c) decides which pages
 * drain, so the fullest pages fill up and the sparse ones empty. A search is a read section: the
 * page that it reads keeps its memory.
 *
 * It is strict although the marks may change during a call: if they did (drain_round), a third
 * round visits every page.
 *
 * Source: the third improvement named in Database Kernel Monthly on PFS memory management
 * (PolarDB's periodic reclaim, of which no description was published); the design is our own.
 */
#include "base/random.h"
#include "containers/reclaim.h"
#include "containers/strict.h"
#include "words.h"

static inline uint32_t slot_begin(struct pfs_thread *thread, struct pfs_page *page)
{
	return pfs_random_below(&thread->random, page->slot_count);
}

static const struct pfs_strict_ops strict_ops = { .slot_begin = slot_begin };

enum pages_wanted { PAGES_KEPT, PAGES_DRAINING, PAGES_ALL };

static inline bool is_wanted(struct pfs_page *page, enum pages_wanted wanted)
{
	if (page == NULL || wanted == PAGES_ALL)
		return page != NULL;
	/* [R2] acquire, pairs with [R1]: a new mark brings the odd round with it. */
	bool draining = pfs_load_acquire(&page->draining) != 0;
	return draining == (wanted == PAGES_DRAINING);
}

/* One round over the pages below limit, from this thread's home page. */
static struct pfs_claim search_pages(struct pfs_thread *thread, uint32_t limit,
				     enum pages_wanted wanted)
{
	struct pfs_container *self = thread->container;
	uint32_t index = thread->home_page < limit ? thread->home_page : 0;
	for (uint32_t tried = 0; tried < limit; tried++) {
		struct pfs_page *page = pfs_container_page(self, index);
		if (is_wanted(page, wanted)) {
			struct pfs_claim claim = pfs_strict_page_with(thread, page, &strict_ops);
			if (claim.record != NULL) {
				thread->home_page = index;
				return claim;
			}
		}
		index = index + 1 == limit ? 0 : index + 1;
	}
	return pfs_claim_none();
}

/*
 * Visits every page once if the marks did not change: the round is even, and the same after both
 * searches (containers/reclaim.c, [R1] to [R4]). Otherwise it visits every page once more.
 */
static struct pfs_claim search(struct pfs_thread *thread, uint32_t limit)
{
	struct pfs_container *self = thread->container;
	/* [R4] acquire, pairs with [R3]: the marks of this round, or newer ones. */
	uint32_t round = pfs_load_acquire(&self->drain_round);
	struct pfs_claim claim = search_pages(thread, limit, PAGES_KEPT);
	if (claim.record == NULL)
		claim = search_pages(thread, limit, PAGES_DRAINING);
	if (claim.record != NULL)
		return claim;
	/* relaxed: a newer mark read by [R2] brought the odd round with it. */
	if (round % 2 == 0 && pfs_load_relaxed(&self->drain_round) == round)
		return claim;
	return search_pages(thread, limit, PAGES_ALL);
}

/* Inside a read section. */
static struct pfs_claim search_or_grow(struct pfs_thread *thread)
{
	struct pfs_container *self = thread->container;
	for (;;) {
		struct pfs_growth_seen seen = pfs_container_growth_seen(self);
		uint32_t limit = pfs_container_page_limit(self);
		struct pfs_claim claim = search(thread, limit);
		if (claim.record != NULL)
			return claim;
		pfs_tally_gave_up(thread, limit);
		struct pfs_page *page = pfs_container_page_add(thread, seen);
		if (page != NULL) {
			thread->home_page = page->index;
			claim = pfs_strict_page_with(thread, page, &strict_ops);
			if (claim.record != NULL)
				return claim;
		} else if (thread->growth != PFS_OK) {
			return pfs_container_refuse(thread, thread->growth);
		}
		/* Another thread added a page, took this one's records, or ran a pass over the
		 * records that the search missed: it made progress. */
	}
}

static struct pfs_claim allocate(struct pfs_thread *thread)
{
	pfs_tally_call(thread);
	pfs_epoch_enter(&thread->container->epoch, &thread->epoch);
	struct pfs_claim claim = search_or_grow(thread);
	pfs_epoch_leave(&thread->epoch);
	return claim;
}

static uint32_t reclaim(struct pfs_thread *thread, enum pfs_reclaim_kind kind)
{
	return pfs_reclaim_run(thread, kind, &pfs_reclaim_by_words);
}

PFS_POLICY(reclaiming) = {
	.name = "reclaiming",
	.summary = "strict scan that prefers full pages and gives empty ones back",
	.traits = PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_GROW | PFS_TRAIT_BOUNDED |
		  PFS_TRAIT_STRICT | PFS_TRAIT_RECLAIM | PFS_TRAIT_C11 | PFS_TRAIT_OWN_WORD,
	.reclaim = reclaim,
	.allocate = allocate,
	.publish = publish_record,
	.abandon = abandon_by_word,
	.free = free_by_word,
};
