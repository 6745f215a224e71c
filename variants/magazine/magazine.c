/*
 * magazine.c - exact, with a ring of free records for each thread.
 *
 * allocate takes from the thread's ring, free gives to it, without a locked instruction. A full
 * ring sends half of its records to the depot of its node as one block, an empty one receives a
 * block (depot.h). Records that do not fit there, or that belong to another node or to a page that
 * drains, go through the occupancy words as in exact. Before a page is added, full is reported, or
 * pages are given back, all rings and blocks are emptied into the words, without waiting for their
 * owners (magazine.h), so exactness holds: docs/explanation/exact.md.
 *
 * Stranding: at most 64 records lie in a ring. All can be taken back, except one of a thread that
 * stops for ever in the middle of an allocation.
 */
#include "magazine.h"

#include <stdlib.h>
#include <string.h>

#include "variants/exact/many.h"
#include "variants/exact/seats.h"
#include "variants/words.h"

static void free_and_give(struct pfs_thread *thread, void *record);
static struct pfs_claim allocate(struct pfs_thread *thread);
static void free_unfenced(struct pfs_thread *thread, void *record);
static struct pfs_claim allocate_late(struct pfs_thread *thread);
static void free_late(struct pfs_thread *thread, void *record);
static struct pfs_claim allocate_unfenced(struct pfs_thread *thread);

/* Select the calls through the handle: those that do not test whether this owner issues the full
 * barrier itself, if they can be used. An owner may begin to issue it in any call that meets a
 * taker. */
static void aim_handle(struct pfs_thread *thread)
{
	const struct pfs_magazine *magazine = thread->policy;
	bool asks = magazine->fenced || pfs_is_bare(thread);
	bool is_late = thread->container->config.late_reuse;
	thread->head.allocate = is_late ? allocate_late : asks ? allocate : allocate_unfenced;
	thread->head.free = is_late ? free_late : asks ? free_and_give : free_unfenced;
}

/*
 * Rare code is in separate functions, so that the ring's part of a call needs no stack and saves no
 * register for callers through the handle.
 */
/* The ring gave nothing: a record that a taker left in it, or of a block, else NULL. */
static __attribute__((noinline)) void *take_rest(struct pfs_thread *thread)
{
	void *record = pfs_magazine_take_rest(thread->policy);
	if (record == NULL)
		record = pfs_magazine_receive(thread);
	aim_handle(thread);
	return record;
}

static __attribute__((noinline)) struct pfs_claim allocate_rest(struct pfs_thread *thread)
{
	void *record = take_rest(thread);
	if (record != NULL)
		return pfs_magazine_claim(thread, record);
	struct pfs_claim claim = pfs_hints_first(thread);
	if (claim.record != NULL)
		return claim;
	claim = pfs_occupancy_search(thread);
	aim_handle(thread);
	return claim;
}

PFS_SKELETON struct pfs_claim allocate_with(struct pfs_thread *thread, bool may_pay)
{
	void *record = pfs_magazine_take(thread->policy, may_pay);
	pfs_tally_call(thread);
	if (pfs_likely(record != NULL))
		return pfs_occupancy_claim_record(thread, record, pfs_record_lock(record));
	return allocate_rest(thread);
}

static __attribute__((noinline)) struct pfs_claim allocate_bare(struct pfs_thread *thread)
{
	void *record = pfs_magazine_take(thread->policy, true);
	pfs_tally_call(thread);
	if (pfs_likely(record != NULL))
		return pfs_magazine_claim(thread, record);
	return allocate_rest(thread);
}

/* With late_reuse rings stay closed: they hand a record out again after 64 others at most. */
static struct pfs_claim allocate_late(struct pfs_thread *thread)
{
	struct pfs_claim claim = pfs_hints_first_late(thread);
	if (claim.record == NULL)
		return pfs_hints_after(thread, allocate(thread));
	pfs_tally_call(thread);
	return claim;
}

static struct pfs_claim allocate(struct pfs_thread *thread)
{
	if (!pfs_likely(!pfs_is_bare(thread)))
		return allocate_bare(thread);
	return allocate_with(thread, true);
}

static struct pfs_claim allocate_unfenced(struct pfs_thread *thread)
{
	return allocate_with(thread, false);
}

static void tally_give(struct pfs_thread *thread)
{
	struct pfs_magazine *magazine = thread->policy;
	if (++magazine->gives % PFS_STRANDED_SAMPLE == 0)
		pfs_stranded_sample(thread->container);
}

static __attribute__((noinline)) void give_word(struct pfs_thread *thread, void *record)
{
	pfs_hints_give(thread, pfs_place_of(thread, record));
}

/* The ring was full, or met a taker. False: give the record to its word. */
static bool give_after_rest(struct pfs_thread *thread, void *record)
{
	if (!pfs_magazine_give_rest(thread))
		return false;
	if (pfs_magazine_give(thread->policy, record, true))
		return true;
	(void)pfs_magazine_give_rest(thread); /* a taker, after room was made */
	return false;
}

static __attribute__((noinline)) void give_rest(struct pfs_thread *thread, void *record)
{
	bool is_given = give_after_rest(thread, record);
	aim_handle(thread);
	if (!is_given)
		pfs_hints_give(thread, pfs_place_of(thread, record));
}

/* Does the ring take records of this page? */
static inline bool is_for_rings(struct pfs_thread *thread, const struct pfs_page *page)
{
	bool is_near = page->node == thread->node || page->node == PFS_NODE_MIXED;
	/* relaxed: a preference; the record keeps the page until it is given. */
	return is_near && pfs_load_relaxed(&((struct pfs_page *)(uintptr_t)page)->draining) == 0;
}

PFS_SKELETON void give(struct pfs_thread *thread, void *record, const struct pfs_page *page,
		       bool may_pay)
{
	if (!pfs_likely(is_for_rings(thread, page)))
		give_word(thread, record);
	else if (!pfs_likely(pfs_magazine_give(thread->policy, record, may_pay)))
		give_rest(thread, record);
	if (PFS_COUNTED)
		tally_give(thread);
}

PFS_SKELETON void free_with(struct pfs_thread *thread, void *record, bool may_pay)
{
	const struct pfs_page *page = pfs_record_page(record); /* once: free reads it too */
	free_record(thread, record);
	give(thread, record, page, may_pay);
}

static __attribute__((noinline)) void free_bare(struct pfs_thread *thread, void *record)
{
	struct pfs_place place = pfs_bare_place(thread->container, record);
	pfs_bare_free(place);
	give(thread, record, place.page, true);
}

static void free_and_give(struct pfs_thread *thread, void *record)
{
	if (!pfs_likely(!pfs_is_bare(thread))) {
		free_bare(thread, record);
		return;
	}
	free_with(thread, record, true);
}

static void free_unfenced(struct pfs_thread *thread, void *record)
{
	free_with(thread, record, false);
}

static inline void abandon_and_give(struct pfs_thread *thread, struct pfs_claim claim)
{
	struct pfs_place place = pfs_place_of(thread, claim.record);
	if (pfs_is_bare(thread))
		pfs_bare_abandon(place, claim);
	else
		abandon_record(thread, claim);
	give(thread, claim.record, place.page, true);
}

/* The ring's records first, the rest from the words. */
static uint32_t allocate_many(struct pfs_thread *thread, struct pfs_claim *claims, uint32_t count)
{
	for (uint32_t taken = 0; taken < count; taken++) {
		void *record = pfs_magazine_take(thread->policy, true);
		if (record == NULL)
			record = take_rest(thread);
		if (record == NULL) {
			taken += pfs_many_allocate(thread, &claims[taken], count - taken);
			aim_handle(thread);
			return taken;
		}
		pfs_tally_call(thread);
		claims[taken] = pfs_magazine_claim(thread, record);
	}
	return count;
}

static void free_late(struct pfs_thread *thread, void *record)
{
	struct pfs_place place = pfs_place_of(thread, record);
	free_at(thread, record, place);
	pfs_hints_give_late(thread, place);
}

/* Into the ring while it has room, the rest to the words. */
static void free_many(struct pfs_thread *thread, void *const *records, uint32_t count)
{
	struct pfs_gathered gathered = { .used = 0 };
	for (uint32_t i = 0; i < count; i++) {
		struct pfs_place place = pfs_place_of(thread, records[i]);
		bool is_for_ring = is_for_rings(thread, place.page);
		free_at(thread, records[i], place);
		if (is_for_ring && (pfs_magazine_give(thread->policy, records[i], true) ||
				    give_after_rest(thread, records[i])))
			continue;
		pfs_many_gather(thread, &gathered, place);
	}
	aim_handle(thread);
	pfs_many_end(thread, &gathered);
	for (uint32_t i = 0; PFS_COUNTED && i < count; i++)
		tally_give(thread);
}

static enum pfs_status start(struct pfs_container *self)
{
	enum pfs_status status = pfs_occupancy_start(self);
	if (status != PFS_OK)
		return status;
	status = pfs_magazines_start(self);
	if (status != PFS_OK)
		pfs_occupancy_stop(self);
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
	bool fenced = pfs_magazine_is_fenced(thread->container);
	if (magazine != NULL) {
		pfs_magazine_begin(magazine, fenced);
		aim_handle(thread);
		return PFS_OK;
	}
	magazine = aligned_alloc(_Alignof(struct pfs_magazine), sizeof(*magazine));
	if (magazine == NULL)
		return PFS_NO_MEMORY;
	memset((void *)magazine, 0, sizeof(*magazine));
	magazine->fenced = fenced;
	magazine->pays = fenced;
	magazine->bypass_next = PFS_MAGAZINE_BYPASS;
	magazine->place = pfs_rings_assign(pfs_magazines_of(thread->container)->rings, magazine);
	/* relaxed, both: no other thread has seen it */
	pfs_store_relaxed(&magazine->moving, PFS_MOVING_NONE);
	pfs_store_relaxed(&magazine->owner, (uint32_t)(fenced ? PFS_RING_PAYS : PFS_RING_RELIES));
	thread->policy = magazine;
	aim_handle(thread);
	pfs_hints_scatter(thread);
	return PFS_OK;
}

/* If `growth` is held, perhaps while a page is mapped, the records stay in the ring: a thread that
 * needs them takes them back, as from any ring [M4]. */
static void thread_stop(struct pfs_thread *thread)
{
	struct pfs_magazine *magazine = thread->policy;
	if (thread->left_behind) {
		pfs_magazine_mend(thread);
		pfs_seats_forget(thread);
	}
	pfs_magazine_leave(magazine);
	if (!pfs_mutex_try_lock(&thread->container->growth))
		return;
	pfs_magazine_flush(thread);
	pfs_mutex_unlock(&thread->container->growth);
}

PFS_POLICY(magazine) = {
	.name = "magazine",
	.summary = "ours: exact, with a ring of free records for each thread",
	.traits = PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_GROW | PFS_TRAIT_BOUNDED |
		  PFS_TRAIT_RECLAIM | PFS_TRAIT_EXACT | PFS_TRAIT_C11 | PFS_TRAIT_BARE |
		  PFS_TRAIT_OWN_WORD,
	.start = start,
	.stop = stop,
	.thread_start = thread_start,
	.thread_stop = thread_stop,
	.add_page = pfs_occupancy_add_page,
	.some_free = pfs_occupancy_some_free,
	.stranded = pfs_stranded,
	.index_bytes = pfs_occupancy_index_bytes,
	.reserve_bytes = pfs_occupancy_reserve_bytes,
	.page_live = pfs_occupancy_page_live,
	.next_used = pfs_occupancy_next_used,
	.is_used = pfs_occupancy_is_used,
	.reclaim = pfs_occupancy_reclaim,
	.allocate = allocate,
	.publish = publish_claim,
	.abandon = abandon_and_give,
	.free = free_and_give,
	.allocate_many = allocate_many,
	.free_many = free_many,
};
