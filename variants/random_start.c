/*
 * random_start.c - strict scan from a random page, and in it from a random record.
 *
 * Threads start apart and seldom meet; nothing shared is written but the record's word. The
 * cost at occupancy o is about 1 / (1 - o) probes while free records are spread evenly.
 *
 * Source: the second improvement proposed in Database Kernel Monthly on PFS memory management.
 */
#include "scan.h"
#include "words.h"

static inline uint64_t page_begin(struct pfs_thread *thread, uint32_t count)
{
	return pfs_random_below(&thread->random, count);
}

static inline uint64_t slot_begin(struct pfs_thread *thread, struct pfs_page *page,
				  uint32_t count)
{
	(void)page;
	return pfs_random_below(&thread->random, count);
}

static const struct pfs_scan_ops scan_ops = {
	.page_begin = page_begin,
	.slot_begin = slot_begin,
	.page_next = pfs_scan_page_step,
	.slot_next = pfs_scan_slot_step,
	.fold = pfs_scan_wrap,
};

static struct pfs_claim allocate(struct pfs_thread *thread)
{
	return pfs_scan_allocate_with(thread, &scan_ops);
}

static const struct pfs_record_ops record_ops = { allocate, publish_record, abandon_record,
						  free_record };
PFS_VARIANT_BATCHES(record_ops)

const struct pfs_variant pfs_variant_random_start = {
	.name = "random_start",
	.summary = "strict scan from a random position",
	.traits = PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_GROW | PFS_TRAIT_BOUNDED |
		  PFS_TRAIT_STRICT | PFS_TRAIT_C11,
	PFS_VARIANT_CALLS(allocate, publish_record, abandon_record, free_record),
};
