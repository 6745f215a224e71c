/*
 * exact.c - never adds a page while a record is free; O(1) at any occupancy.
 *
 * A record is free when its bit in the occupancy words is set (containers/occupancy.h), and a
 * thread looks first where it freed last: its own line, at any occupancy. Only when hints and
 * summaries find nothing does it take the growth lock and prove, by reading all words twice,
 * that at one moment no record was free; then it adds a page, or reports full.
 *
 * The records' pfs_lock words stay the truth for readers. Allocate and free go through the
 * bits: free makes the word FREE and then sets the bit, allocate takes the bit and then makes
 * the word DIRTY. So a set bit means a FREE word, and the bit's owner is the record's only
 * writer: no CAS on the word.
 *
 * Invariant, linearization points and proof: docs/exact.md.
 */
#include "occupancy.h"
#include "words.h"

static inline struct pfs_claim allocate(struct pfs_thread *thread)
{
	pfs_tally_call(thread);
	struct pfs_claim claim = pfs_occupancy_first(thread);
	return pfs_likely(claim.record != NULL) ? claim : pfs_occupancy_search(thread);
}

static inline void free_and_give(struct pfs_thread *thread, void *record)
{
	free_record(thread, record);
	pfs_occupancy_give(thread, record);
}

static inline void abandon_and_give(struct pfs_thread *thread, struct pfs_claim claim)
{
	abandon_record(thread, claim);
	pfs_occupancy_give(thread, claim.record);
}

PFS_POLICY(exact) = {
	.name = "exact",
	.summary = "ours: adds a page only at a moment with no free record; O(1) at any occupancy",
	.traits = PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_GROW | PFS_TRAIT_BOUNDED |
		  PFS_TRAIT_RECLAIM | PFS_TRAIT_EXACT | PFS_TRAIT_C11,
	.start = pfs_occupancy_start,
	.stop = pfs_occupancy_stop,
	.thread_start = pfs_occupancy_thread_start,
	.thread_stop = pfs_occupancy_thread_stop,
	.add_page = pfs_occupancy_add_page,
	.some_free = pfs_occupancy_some_free,
	.next_used = pfs_occupancy_next_used,
	.reclaim = pfs_occupancy_reclaim,
	.allocate = allocate,
	.publish = publish_record,
	.abandon = abandon_and_give,
	.free = free_and_give,
};
