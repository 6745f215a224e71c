/*
 * exact.c - adds a page only at a moment with no free record; O(1) at any occupancy.
 *
 * A record is free while its bit in the occupancy words is set (occupancy.h). A thread first looks
 * where it freed last, on a line of its own, at any occupancy. Only if its hints and the trees of
 * words with room (room.h) show nothing does it prove, by a few loads of their roots, that at one
 * moment no record was free. Then it adds a page under the growth lock, or reports full without a
 * lock.
 *
 * The records' pfs_lock words remain authoritative for readers. Allocate and free go through the
 * bits: free makes the word FREE and then sets the bit, allocate takes the bit and then makes the
 * word DIRTY. So a set bit means a FREE word, and the bit's owner is the record's only writer: no
 * CAS on the word.
 *
 * Invariant, linearization points and proof: docs/explanation/exact.md.
 */
#include "variants/words.h"
#include "many.h"

static inline struct pfs_claim allocate(struct pfs_thread *thread)
{
	pfs_tally_call(thread);
	struct pfs_claim claim = pfs_hints_first(thread);
	return pfs_likely(claim.record != NULL) ? claim : pfs_occupancy_search(thread);
}

static struct pfs_claim allocate_late(struct pfs_thread *thread)
{
	pfs_tally_call(thread);
	struct pfs_claim claim = pfs_hints_first_late(thread);
	if (pfs_likely(claim.record != NULL))
		return claim;
	return pfs_hints_after(thread, pfs_occupancy_search(thread));
}

static __attribute__((noinline)) void free_bare(struct pfs_thread *thread, void *record)
{
	struct pfs_place place = pfs_bare_place(thread->container, record);
	pfs_bare_free(place);
	pfs_hints_give(thread, place);
}

static inline void free_and_give(struct pfs_thread *thread, void *record)
{
	if (!pfs_likely(!pfs_is_bare(thread))) {
		free_bare(thread, record);
		return;
	}
	free_record(thread, record);
	pfs_hints_give(thread, pfs_header_place(record));
}

static void free_late(struct pfs_thread *thread, void *record)
{
	struct pfs_place place = pfs_place_of(thread, record);
	free_at(thread, record, place);
	pfs_hints_give_late(thread, place);
}

static enum pfs_status thread_start(struct pfs_thread *thread)
{
	if (thread->container->config.late_reuse) {
		thread->head.allocate = allocate_late;
		thread->head.free = free_late;
	}
	return pfs_hints_start(thread);
}

static void abandon_and_give(struct pfs_thread *thread, struct pfs_claim claim)
{
	struct pfs_place place = pfs_place_in(thread->container, claim.record);
	if (pfs_is_bare(thread))
		pfs_bare_abandon(place, claim);
	else
		abandon_record(thread, claim);
	pfs_hints_give(thread, place);
}

static void free_many(struct pfs_thread *thread, void *const *records, uint32_t count)
{
	struct pfs_gathered gathered = { .used = 0 };
	for (uint32_t i = 0; i < count; i++) {
		struct pfs_place place = pfs_place_of(thread, records[i]);
		free_at(thread, records[i], place);
		pfs_many_gather(thread, &gathered, place);
	}
	pfs_many_end(thread, &gathered);
}

PFS_POLICY(exact) = {
	.name = "exact",
	.summary = "ours: adds a page only at a moment with no free record; O(1) at any occupancy",
	.traits = PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_GROW | PFS_TRAIT_BOUNDED |
		  PFS_TRAIT_RECLAIM | PFS_TRAIT_EXACT | PFS_TRAIT_C11 | PFS_TRAIT_BARE |
		  PFS_TRAIT_OWN_WORD,
	.start = pfs_occupancy_start,
	.stop = pfs_occupancy_stop,
	.thread_start = thread_start,
	.thread_stop = pfs_hints_stop,
	.add_page = pfs_occupancy_add_page,
	.some_free = pfs_occupancy_some_free,
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
	.allocate_many = pfs_many_allocate,
	.free_many = free_many,
};
