/*
 * scan.h - the skeleton of all policies that search page by page, record by record.
 *
 * A search is a window of n steps of a cursor, n being the number of pages (records), as in
 * the real container; a policy says where the cursor starts, how it moves after a failed
 * probe and what it learns from a success. A policy is strict if the cursor is its own and
 * moves by one: then the window covers every page (record) exactly once.
 *
 * Returns of a strict search that ends without a record: each record was not FREE at some
 * moment of the search; not: all at one moment.
 */
#ifndef PFS_SCAN_H
#define PFS_SCAN_H

#include "tally.h"

struct pfs_scan_ops {
	/* Where the cursor starts; count is that of the pages (records), at least 1. */
	uint64_t (*page_begin)(struct pfs_thread *thread, uint32_t count);
	uint64_t (*slot_begin)(struct pfs_thread *thread, struct pfs_page *page, uint32_t count);
	/* The cursor after a failed probe. */
	uint64_t (*page_next)(struct pfs_thread *thread, uint64_t cursor);
	uint64_t (*slot_next)(struct pfs_page *page, uint64_t cursor);
	/* Which page (record) a cursor means; begin <= cursor < begin + count. */
	uint32_t (*fold)(uint64_t cursor, uint32_t count);
	/* Optional: remember a success. */
	void (*page_learn)(struct pfs_thread *thread, uint32_t index);
	void (*slot_learn)(struct pfs_page *page, uint32_t slot);
	/* Optional, the full flags: refuse without a search; a search found nothing. */
	bool (*page_refused)(struct pfs_page *page);
	void (*page_failed)(struct pfs_page *page);
	bool (*container_refused)(struct pfs_container *container);
	void (*container_failed)(struct pfs_container *container);
};

/*
 * pfs_page_allocate_with - one page search.
 *
 * Returns   a claim, or none: see the head of this file and the policy.
 * Errors    none besides.
 * Progress  wait-free: at most slot_count probes, each at most one CAS.
 * Order     acquire [L1].
 */
PFS_SKELETON struct pfs_claim pfs_page_allocate_with(struct pfs_thread *thread,
						     struct pfs_page *page,
						     const struct pfs_scan_ops *ops)
{
	uint32_t count = page->slot_count;
	pfs_tally_search(thread, page);
	if (ops->page_refused != NULL && ops->page_refused(page)) {
		pfs_count(thread, PFS_EVENT_FLAG_SKIPS, 1);
		pfs_tally_miss(thread, page);
		return pfs_claim_none();
	}
	uint64_t cursor = ops->slot_begin(thread, page, count);
	uint64_t end = cursor + count;
	for (; cursor < end; cursor = ops->slot_next(page, cursor)) {
		uint32_t slot = ops->fold(cursor, count);
		uint32_t dirty_word = 0;
		enum pfs_take take = pfs_lock_free_to_dirty(pfs_page_lock(page, slot), &dirty_word);
		pfs_tally_probe(thread, slot, take);
		if (take != PFS_TAKE_WON)
			continue;
		pfs_tally_won(thread, page);
		if (ops->slot_learn != NULL)
			ops->slot_learn(page, slot);
		return (struct pfs_claim){ pfs_page_record(page, slot), dirty_word };
	}
	if (ops->page_failed != NULL)
		ops->page_failed(page);
	pfs_tally_miss(thread, page);
	return pfs_claim_none();
}

/* The growing half of allocate: pages from index on, made where missing. */
PFS_SKELETON struct pfs_claim pfs_scan_grow_with(struct pfs_thread *thread, uint32_t index,
						 const struct pfs_scan_ops *ops)
{
	struct pfs_container *self = thread->container;
	for (; index < self->page_capacity; index++) {
		struct pfs_page *page = pfs_container_page_at(thread, index);
		if (page == NULL)
			return pfs_container_refuse(thread, PFS_NO_MEMORY);
		struct pfs_claim claim = pfs_page_allocate_with(thread, page, ops);
		if (claim.record == NULL)
			continue;
		if (ops->page_learn != NULL)
			ops->page_learn(thread, index);
		return claim;
	}
	if (ops->container_failed != NULL)
		ops->container_failed(self);
	return pfs_container_refuse(thread, PFS_FULL);
}

/*
 * pfs_scan_allocate_with - allocate as the Performance Schema does, with the policy's cursors.
 *
 * Returns   a claim, or none when the maximum is reached or memory was refused.
 * Errors    thread->status.
 * Progress  wait-free up to the growth: at most page_limit page searches; then blocking.
 * Order     acquire [L1].
 * Source    PFS_buffer_scalable_container::allocate, described in Database Kernel Monthly.
 */
PFS_SKELETON struct pfs_claim pfs_scan_allocate_with(struct pfs_thread *thread,
						     const struct pfs_scan_ops *ops)
{
	struct pfs_container *self = thread->container;
	uint32_t count = pfs_container_page_limit(self);
	pfs_tally_call(thread);
	if (ops->container_refused != NULL && ops->container_refused(self)) {
		pfs_tally_gave_up(thread, count);
		return pfs_container_refuse(thread, PFS_FULL);
	}
	uint64_t cursor = count != 0 ? ops->page_begin(thread, count) : 0;
	uint64_t end = cursor + count;
	for (; cursor < end; cursor = ops->page_next(thread, cursor)) {
		uint32_t index = ops->fold(cursor, count);
		struct pfs_page *page = pfs_container_page(self, index);
		if (page == NULL)
			continue;
		struct pfs_claim claim = pfs_page_allocate_with(thread, page, ops);
		if (claim.record == NULL)
			continue;
		if (ops->page_learn != NULL)
			ops->page_learn(thread, index);
		return claim;
	}
	pfs_tally_gave_up(thread, count);
	return pfs_scan_grow_with(thread, count, ops);
}

/* For strict policies: the cursor is the call's own, starts below count and goes round once. */
static inline uint32_t pfs_scan_wrap(uint64_t cursor, uint32_t count)
{
	return (uint32_t)(cursor >= count ? cursor - count : cursor);
}

static inline uint64_t pfs_scan_page_step(struct pfs_thread *thread, uint64_t cursor)
{
	(void)thread;
	return cursor + 1;
}

static inline uint64_t pfs_scan_slot_step(struct pfs_page *page, uint64_t cursor)
{
	(void)page;
	return cursor + 1;
}

#endif
