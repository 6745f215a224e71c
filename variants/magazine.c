/*
 * magazine.c - exact, with a ring of free records for each thread.
 *
 * allocate takes from the thread's ring, free gives to it, without a locked instruction. What
 * does not fit, and what belongs to another node or to a page that drains, goes through the
 * occupancy words as in exact. Before a page is added, full is reported, or pages are given
 * back, all rings are emptied into the words, without waiting for their owners
 * (containers/magazine.h), so exactness holds: docs/exact.md.
 *
 * Stranding: at most 64 records lie in a ring, and all can be taken back, but one of a thread
 * that stops for ever in the middle of an allocation.
 */
#include "magazine.h"

#include <stdlib.h>
#include <string.h>

#include "words.h"

static inline struct pfs_claim allocate(struct pfs_thread *thread)
{
	void *record = pfs_magazine_take(thread->policy);
	pfs_tally_call(thread);
	if (pfs_likely(record != NULL))
		return pfs_occupancy_claim_record(thread, record, pfs_record_lock(record));
	struct pfs_claim claim = pfs_occupancy_first(thread);
	return claim.record != NULL ? claim : pfs_occupancy_search(thread);
}

static void tally_give(struct pfs_thread *thread)
{
	struct pfs_magazine *magazine = thread->policy;
	if (++magazine->gives % PFS_STRANDED_SAMPLE == 0)
		pfs_stranded_sample(thread->container);
}

static inline void give(struct pfs_thread *thread, void *record, const struct pfs_page *page)
{
	bool is_near = page->node == thread->node || page->node == PFS_NODE_MIXED;
	/* relaxed: a preference; the record keeps the page until it is given. */
	bool drains = pfs_load_relaxed(&((struct pfs_page *)(uintptr_t)page)->draining) != 0;
	if (!pfs_likely(is_near && !drains && pfs_magazine_give(thread->policy, record)))
		pfs_occupancy_give(thread, record);
	if (PFS_COUNTED)
		tally_give(thread);
}

static inline void free_and_give(struct pfs_thread *thread, void *record)
{
	const struct pfs_page *page = pfs_record_page(record); /* once: free looks at it, too */
	free_record(thread, record);
	give(thread, record, page);
}

static inline void abandon_and_give(struct pfs_thread *thread, struct pfs_claim claim)
{
	const struct pfs_page *page = pfs_record_page(claim.record);
	abandon_record(thread, claim);
	give(thread, claim.record, page);
}

static enum pfs_status start(struct pfs_container *self)
{
	enum pfs_status status = pfs_occupancy_start(self);
	if (status == PFS_OK)
		((struct pfs_occupancy *)self->policy)->caches = &pfs_magazine_caches;
	return status;
}

static void stop(struct pfs_container *self)
{
	/* relaxed: stop runs alone. */
	struct pfs_thread *thread = pfs_load_relaxed(&self->threads);
	for (; thread != NULL; thread = thread->next) {
		free(thread->policy);
		thread->policy = NULL;
	}
	pfs_occupancy_stop(self);
}

/* A ring lives as long as its handle, because takers may be reading it. */
static enum pfs_status thread_start(struct pfs_thread *thread)
{
	struct pfs_magazine *magazine = thread->policy;
	if (magazine != NULL) {
		pfs_store_relaxed(&magazine->attached, 1); /* relaxed: a metric */
		return PFS_OK;
	}
	magazine =
		aligned_alloc(_Alignof(struct pfs_magazine), sizeof(*magazine));
	if (magazine == NULL)
		return PFS_NO_MEMORY;
	memset((void *)magazine, 0, sizeof(*magazine));
	magazine->fenced = pfs_magazine_is_fenced(thread->container);
	magazine->room = 2 * PFS_MAGAZINE_RECORDS;
	pfs_store_relaxed(&magazine->attached, 1); /* relaxed: a metric */
	thread->policy = magazine;
	pfs_occupancy_scatter(thread);
	return PFS_OK;
}

/* If `growth` is held, perhaps for as long as a page is mapped, the records stay in the ring:
 * whoever needs them takes them back, as from any ring [M4]. */
static void thread_stop(struct pfs_thread *thread)
{
	struct pfs_magazine *magazine = thread->policy;
	pfs_store_relaxed(&magazine->attached, 0); /* relaxed: a metric */
	if (thread->left_behind)
		pfs_magazine_mend(thread);
	if (!pfs_mutex_try_lock(&thread->container->growth))
		return;
	pfs_magazine_flush(thread);
	pfs_mutex_unlock(&thread->container->growth);
}

PFS_POLICY(magazine) = {
	.name = "magazine",
	.summary = "ours: exact, with a ring of free records for each thread",
	.traits = PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_GROW | PFS_TRAIT_BOUNDED |
		  PFS_TRAIT_RECLAIM | PFS_TRAIT_EXACT | PFS_TRAIT_C11,
	.start = start,
	.stop = stop,
	.thread_start = thread_start,
	.thread_stop = thread_stop,
	.add_page = pfs_occupancy_add_page,
	.some_free = pfs_occupancy_some_free,
	.stranded = pfs_stranded,
	.next_used = pfs_occupancy_next_used,
	.reclaim = pfs_occupancy_reclaim,
	.allocate = allocate,
	.publish = publish_record,
	.abandon = abandon_and_give,
	.free = free_and_give,
};
