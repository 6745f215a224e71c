/*
 * local_scan.c - strict scan from the last success.
 *
 * The cursors, one of the container and one of each page, are still shared, but only a success
 * writes them. A search moves a variable of its own, so it tries every page and every record once.
 * All threads start at the same place, and compete for the same records.
 *
 * Source: the first improvement proposed in Database Kernel Monthly on PFS memory management.
 */
#include "containers/strict.h"
#include "words.h"

struct cursor {
	alignas(PFS_LINE) _Atomic(uint64_t) value; /* any thread */
};
static const char *const lines[] = { "cursor", NULL };

static inline struct cursor *page_cursor(const struct pfs_page *page)
{
	return pfs_page_policy(page);
}

static inline uint32_t begin_below(uint64_t hint, uint32_t count)
{
	return hint < count ? (uint32_t)hint : 0;
}

static inline uint32_t page_begin(struct pfs_thread *thread, uint32_t page_count)
{
	const struct cursor *cursor = thread->policy;
	/* relaxed: a hint of where to look. */
	return begin_below(pfs_load_relaxed(&cursor->value), page_count);
}

static inline uint32_t slot_begin(struct pfs_thread *thread, struct pfs_page *page)
{
	(void)thread;
	/* relaxed: a hint of where to look. */
	return begin_below(pfs_load_relaxed(&page_cursor(page)->value), page->slot_count);
}

/* Only a change is written: a store to a shared line costs every other thread a miss. */
static inline void learn(struct cursor *cursor, uint64_t value)
{
	if (pfs_load_relaxed(&cursor->value) != value)    /* relaxed: a hint */
		pfs_store_relaxed(&cursor->value, value); /* relaxed: a hint */
}

static inline void page_learn(struct pfs_thread *thread, uint32_t index)
{
	learn(thread->policy, index);
}

static inline void slot_learn(struct pfs_page *page, uint32_t slot)
{
	learn(page_cursor(page), slot);
}

static const struct pfs_strict_ops strict_ops = {
	.page_begin = page_begin,
	.slot_begin = slot_begin,
	.page_learn = page_learn,
	.slot_learn = slot_learn,
};
PFS_STRICT_ALLOCATE(strict_ops)

PFS_POLICY(local_scan) = {
	.name = "local_scan",
	.summary = "strict scan from the last success",
	.traits = PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_GROW | PFS_TRAIT_BOUNDED |
		  PFS_TRAIT_STRICT | PFS_TRAIT_C11 | PFS_TRAIT_OWN_WORD,
	.lines = lines,
	.allocate = allocate,
	.publish = publish_record,
	.abandon = abandon_by_word,
	.free = free_by_word,
};
