/*
 * original.c - the policy of MySQL 8.0's Performance Schema, with its defects.
 *
 * Both cursors are shared and advanced by every failed probe of every thread. A post-increment
 * returns the value *before* it: so a lone thread probes the first page (record) of its window
 * twice, and leaves the page cursor at start + pages + 1. The page window starts at the cursor
 * as loaded, the record window at a post-incremented one. Threads that search at once share
 * one cursor, so each sees only part of the window: pages and records are skipped, and pages
 * are added that nobody needed.
 *
 * Full flags, as in the real system (config.full_flags): a page search that found nothing sets
 * the page's flag, a call that found nothing sets the container's; free clears both. A
 * searcher that failed may set a flag after a free has cleared it: then the flag is stuck, and
 * a free record cannot be had until the next free of that page. The flags are plain bools in
 * the real system; relaxed atomics here keep the same races without undefined behaviour.
 *
 * Source: PFS_buffer_scalable_container and PFS_buffer_default_array, from the description in
 * Database Kernel Monthly on PFS memory management and the observable behaviour of 8.x.
 */
#include "scan.h"
#include "words.h"

static uint64_t advance(_Atomic(uint64_t) *cursor)
{
	/* relaxed: a hint of where to look; claiming a record orders what matters. */
	return pfs_fetch_add_relaxed(cursor, 1);
}

static inline uint64_t page_begin(struct pfs_thread *thread, uint32_t count)
{
	_Atomic(uint64_t) *cursor = &thread->container->cursor;
	uint64_t begin = pfs_load_relaxed(cursor); /* relaxed: a hint */
	if (begin + count >= begin)
		return begin;
	pfs_store_relaxed(cursor, 0); /* relaxed: a hint; the window would wrap around */
	return 0;
}

static inline uint64_t page_next(struct pfs_thread *thread, uint64_t cursor)
{
	(void)cursor;
	return advance(&thread->container->cursor);
}

static inline uint64_t slot_begin(struct pfs_thread *thread, struct pfs_page *page,
				  uint32_t count)
{
	(void)thread;
	uint64_t begin = advance(&page->cursor);
	if (begin + count >= begin)
		return begin;
	pfs_store_relaxed(&page->cursor, 0); /* relaxed: a hint; the window would wrap around */
	return 0;
}

static inline uint64_t slot_next(struct pfs_page *page, uint64_t cursor)
{
	(void)cursor;
	return advance(&page->cursor);
}

static inline uint32_t fold(uint64_t cursor, uint32_t count)
{
	return (uint32_t)(cursor % count);
}

static inline bool page_refused(struct pfs_page *page)
{
	/* relaxed: a flag that may be stale, as in the real system. */
	return page->container->config.full_flags && pfs_load_relaxed(&page->full) != 0;
}

static inline void page_failed(struct pfs_page *page)
{
	if (page->container->config.full_flags)
		pfs_store_relaxed(&page->full, 1); /* relaxed: may be late, and then sticks */
}

static inline bool container_refused(struct pfs_container *container)
{
	/* relaxed: a flag that may be stale, as in the real system. */
	return container->config.full_flags && pfs_load_relaxed(&container->full) != 0;
}

static inline void container_failed(struct pfs_container *container)
{
	if (container->config.full_flags)
		pfs_store_relaxed(&container->full, 1); /* relaxed: may be late, and then sticks */
}

static const struct pfs_scan_ops scan_ops = {
	.page_begin = page_begin,
	.slot_begin = slot_begin,
	.page_next = page_next,
	.slot_next = slot_next,
	.fold = fold,
	.page_refused = page_refused,
	.page_failed = page_failed,
	.container_refused = container_refused,
	.container_failed = container_failed,
};

static struct pfs_claim allocate(struct pfs_thread *thread)
{
	return pfs_scan_allocate_with(thread, &scan_ops);
}

/* The flags are cleared after the record is FREE, page first, as in the real system. */
static inline void clear_flags(struct pfs_page *page)
{
	struct pfs_container *container = page->container;
	if (!container->config.full_flags)
		return;
	pfs_store_relaxed(&page->full, 0);      /* relaxed: see the head of this file */
	pfs_store_relaxed(&container->full, 0); /* relaxed: see the head of this file */
}

static void free_and_clear(struct pfs_thread *thread, void *record)
{
	struct pfs_page *page = pfs_record_header_of(record)->page;
	free_record(thread, record);
	clear_flags(page);
}

static void abandon_and_clear(struct pfs_thread *thread, struct pfs_claim claim)
{
	struct pfs_page *page = pfs_record_header_of(claim.record)->page;
	abandon_record(thread, claim);
	clear_flags(page);
}

static const struct pfs_record_ops record_ops = { allocate, publish_record, abandon_and_clear,
						  free_and_clear };
PFS_VARIANT_BATCHES(record_ops)

const struct pfs_variant pfs_variant_original = {
	.name = "original",
	.summary = "as the Performance Schema ships it: shared cursors, advanced per failed probe",
	.traits = PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_GROW | PFS_TRAIT_BOUNDED |
		  PFS_TRAIT_C11,
	PFS_VARIANT_CALLS(allocate, publish_record, abandon_and_clear, free_and_clear),
};
