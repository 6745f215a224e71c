/*
 * strict.h - the skeleton of strict policies: each page and each record is tried once.
 *
 * A search starts where the policy says and goes round with a variable of its own. The first probe
 * is a separate function, small enough to be inlined where allocate is called; a call does the rest
 * of the search, so that no probe is made twice.
 *
 * If a search ends without a record, each record was not FREE at some moment of the search, but not
 * all at one moment.
 */
#ifndef PFS_STRICT_H
#define PFS_STRICT_H

#include "tally.h"

struct pfs_strict_ops {
	/* Where to start: below page_count, or 0 if there is no page; below page->slot_count. */
	uint32_t (*page_begin)(struct pfs_thread *thread, uint32_t page_count);
	uint32_t (*slot_begin)(struct pfs_thread *thread, struct pfs_page *page);
	/* Optional: a search that had to move on from its start found this. */
	void (*page_learn)(struct pfs_thread *thread, uint32_t index);
	void (*slot_learn)(struct pfs_page *page, uint32_t slot);
};

/* Where a search began; its first probe is done. page is NULL if there was none. */
struct pfs_strict_start {
	struct pfs_page *page;
	uint32_t page_count;
	uint32_t page_index;
	uint32_t slot;
};

/* Probe one record: claim it if it is FREE. */
static inline struct pfs_claim pfs_page_probe(struct pfs_thread *thread, struct pfs_page *page,
					      uint32_t slot)
{
	uint32_t dirty_word = 0;
	struct pfs_lock *lock = pfs_page_lock(page, slot);
	enum pfs_take take = pfs_lock_free_to_dirty(lock, &dirty_word);
	pfs_tally_probe(thread, slot, take);
	if (!pfs_likely(take == PFS_TAKE_WON))
		return pfs_claim_none();
	pfs_tally_won(thread, page);
	return pfs_claim_of(pfs_page_record(page, slot), lock, dirty_word);
}

/* Probe the records of a page after slot, and round up to it: slot_count - 1 probes. */
PFS_SKELETON struct pfs_claim pfs_strict_page_rest_with(struct pfs_thread *thread,
							struct pfs_page *page, uint32_t slot,
							const struct pfs_strict_ops *ops)
{
	uint32_t count = page->slot_count;
	for (uint32_t tried = 1; tried < count; tried++) {
		slot = slot + 1 == count ? 0 : slot + 1;
		struct pfs_claim claim = pfs_page_probe(thread, page, slot);
		if (claim.record == NULL)
			continue;
		if (ops->slot_learn != NULL)
			ops->slot_learn(page, slot);
		return claim;
	}
	pfs_tally_miss(thread, page);
	return pfs_claim_none();
}

/*
 * pfs_strict_page_with - one page search.
 *
 * Returns   a claim, or none: see the head of this file.
 * Errors    none besides.
 * Progress  wait-free: slot_count probes, each at most one CAS.
 * Order     acquire [L1].
 */
PFS_SKELETON struct pfs_claim pfs_strict_page_with(struct pfs_thread *thread, struct pfs_page *page,
						   const struct pfs_strict_ops *ops)
{
	uint32_t slot = ops->slot_begin(thread, page);
	pfs_tally_search(thread, page);
	struct pfs_claim claim = pfs_page_probe(thread, page, slot);
	return claim.record != NULL ? claim : pfs_strict_page_rest_with(thread, page, slot, ops);
}

/* The first probe of an allocate. Without a claim, continue with pfs_strict_rest_with. */
PFS_SKELETON struct pfs_claim pfs_strict_first_with(struct pfs_thread *thread,
						    struct pfs_strict_start *start,
						    const struct pfs_strict_ops *ops)
{
	struct pfs_container *self = thread->container;
	uint32_t count = pfs_container_page_limit(self);
	pfs_tally_call(thread);
	*start = (struct pfs_strict_start){ .page_count = count };
	start->page_index = ops->page_begin(thread, count);
	start->page = pfs_container_page(self, start->page_index);
	if (!pfs_likely(start->page != NULL))
		return pfs_claim_none();
	start->slot = ops->slot_begin(thread, start->page);
	pfs_tally_search(thread, start->page);
	return pfs_page_probe(thread, start->page, start->slot);
}

/* Search pages from index on, made where missing, as the Performance Schema's container grows. */
PFS_SKELETON struct pfs_claim pfs_strict_grow_with(struct pfs_thread *thread, uint32_t index,
						   const struct pfs_strict_ops *ops)
{
	struct pfs_container *self = thread->container;
	for (; index < self->page_capacity; index++) {
		struct pfs_page *page = pfs_container_page_at(thread, index);
		if (page == NULL)
			return pfs_container_refuse(thread, thread->growth);
		struct pfs_claim claim = pfs_strict_page_with(thread, page, ops);
		if (claim.record == NULL)
			continue;
		if (ops->page_learn != NULL)
			ops->page_learn(thread, index);
		return claim;
	}
	return pfs_container_refuse(thread, PFS_FULL);
}

/*
 * pfs_strict_rest_with - the search after its first probe, then growth.
 *
 * Returns   a claim, or none if the maximum is reached or memory was refused.
 * Errors    thread->status.
 * Progress  wait-free up to the growth: at most page_count page searches; then blocking.
 * Order     acquire [L1].
 */
PFS_SKELETON struct pfs_claim pfs_strict_rest_with(struct pfs_thread *thread,
						   struct pfs_strict_start start,
						   const struct pfs_strict_ops *ops)
{
	struct pfs_claim claim = pfs_claim_none();
	uint32_t index = start.page_index;
	if (start.page != NULL)
		claim = pfs_strict_page_rest_with(thread, start.page, start.slot, ops);
	for (uint32_t tried = 1; claim.record == NULL && tried < start.page_count; tried++) {
		index = index + 1 == start.page_count ? 0 : index + 1;
		struct pfs_page *page = pfs_container_page(thread->container, index);
		if (page != NULL)
			claim = pfs_strict_page_with(thread, page, ops);
	}
	if (claim.record == NULL) {
		pfs_tally_gave_up(thread, start.page_count);
		return pfs_strict_grow_with(thread, start.page_count, ops);
	}
	if (ops->page_learn != NULL)
		ops->page_learn(thread, index);
	return claim;
}

#endif
