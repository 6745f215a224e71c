/*
 * local_scan.c - strict scan from the last success.
 *
 * The cursors are still shared, of the container and of each page, but written only by a
 * success; a search moves a variable of its own, so it tries every page and every record once.
 * All threads start at the same place, and compete for the same records.
 *
 * Source: the first improvement proposed in Database Kernel Monthly on PFS memory management.
 */
#include "scan.h"
#include "words.h"

static inline uint64_t begin_below(uint64_t hint, uint32_t count)
{
	return hint < count ? hint : 0;
}

static inline uint64_t page_begin(struct pfs_thread *thread, uint32_t count)
{
	/* relaxed: a hint of where to look. */
	return begin_below(pfs_load_relaxed(&thread->container->cursor), count);
}

static inline uint64_t slot_begin(struct pfs_thread *thread, struct pfs_page *page,
				  uint32_t count)
{
	(void)thread;
	return begin_below(pfs_load_relaxed(&page->cursor), count); /* relaxed: a hint */
}

/* Only a change is written: a store to a shared line costs every other thread a miss. */
static inline void learn(_Atomic(uint64_t) *cursor, uint64_t value)
{
	if (pfs_load_relaxed(cursor) != value)    /* relaxed: a hint */
		pfs_store_relaxed(cursor, value); /* relaxed: a hint */
}

static inline void page_learn(struct pfs_thread *thread, uint32_t index)
{
	learn(&thread->container->cursor, index);
}

static inline void slot_learn(struct pfs_page *page, uint32_t slot)
{
	learn(&page->cursor, slot);
}

static const struct pfs_scan_ops scan_ops = {
	.page_begin = page_begin,
	.slot_begin = slot_begin,
	.page_next = pfs_scan_page_step,
	.slot_next = pfs_scan_slot_step,
	.fold = pfs_scan_wrap,
	.page_learn = page_learn,
	.slot_learn = slot_learn,
};

static struct pfs_claim allocate(struct pfs_thread *thread)
{
	return pfs_scan_allocate_with(thread, &scan_ops);
}

static const struct pfs_record_ops record_ops = { allocate, publish_record, abandon_record,
						  free_record };
PFS_VARIANT_BATCHES(record_ops)

const struct pfs_variant pfs_variant_local_scan = {
	.name = "local_scan",
	.summary = "strict scan from the last success",
	.traits = PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_GROW | PFS_TRAIT_BOUNDED |
		  PFS_TRAIT_STRICT | PFS_TRAIT_C11,
	PFS_VARIANT_CALLS(allocate, publish_record, abandon_record, free_record),
};
