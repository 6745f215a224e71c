/*
 * random_start.c - strict scan from a random page, and in it from a random record.
 *
 * Threads start at different places and seldom meet; the only shared word written is the record's.
 * At occupancy o a search takes about 1 / (1 - o) probes while free records are spread evenly.
 *
 * Source: the second improvement proposed in Database Kernel Monthly on PFS memory management.
 */
#include "base/random.h"
#include "containers/strict.h"
#include "words.h"

static inline uint32_t page_begin(struct pfs_thread *thread, uint32_t page_count)
{
	return pfs_random_below(&thread->random, page_count);
}

static inline uint32_t slot_begin(struct pfs_thread *thread, struct pfs_page *page)
{
	return pfs_random_below(&thread->random, page->slot_count);
}

static const struct pfs_strict_ops strict_ops = {
	.page_begin = page_begin,
	.slot_begin = slot_begin,
};
PFS_STRICT_ALLOCATE(strict_ops)

PFS_POLICY(random_start) = {
	.name = "random_start",
	.summary = "strict scan from a random position",
	.traits = PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_GROW | PFS_TRAIT_BOUNDED |
		  PFS_TRAIT_STRICT | PFS_TRAIT_C11 | PFS_TRAIT_OWN_WORD,
	.allocate = allocate,
	.publish = publish_record,
	.abandon = abandon_by_word,
	.free = free_by_word,
};
