/*
 * original.c - the policy of MySQL 8.0's Performance Schema, with its defects.
 *
 * Both cursors are shared, and every failed probe of every thread advances them. A post-increment
 * returns the value *before* it. So a lone thread probes the first page (record) of its window
 * twice, and leaves the page cursor at start + pages + 1. The page window starts at the cursor as
 * loaded, the record window at a post-incremented one. Threads that search at the same time share
 * one cursor, so each sees only part of the window: pages and records are skipped, and pages are
 * added without need.
 *
 * Full flags, as in the Performance Schema (config.full_flags): a page search that found nothing
 * sets the page's flag, a call that found nothing sets the container's; free clears both. A
 * searcher that failed may set a flag after a free has cleared it. Then the flag sticks, and a free
 * record cannot be allocated until the next free in that page. The flags are plain bools in the
 * Performance Schema; relaxed atomics here keep the same races without undefined behaviour.
 *
 * Source: PFS_buffer_scalable_container and PFS_buffer_default_array, from the description in
 * Database Kernel Monthly on PFS memory management and the observable behaviour of 8.x.
 */
#include "containers/strict.h"
#include "words.h"

/* One for the container, whose window is of pages, and one for each page, whose window is of
 * records. */
struct window {
	alignas(PFS_LINE) _Atomic(uint64_t) cursor; /* any thread */
	alignas(PFS_LINE) _Atomic(uint32_t) full;   /* any thread */
};
static const char *const lines[] = { "cursor", "full", NULL };

static inline struct window *page_window(const struct pfs_page *page)
{
	return pfs_page_policy(page);
}

/* The start of a window of count values of a cursor, which must not wrap around. */
static inline uint64_t window_begin(_Atomic(uint64_t) *cursor, uint64_t begin, uint32_t count)
{
	if (pfs_likely(begin + count >= begin))
		return begin;
	pfs_store_relaxed(cursor, 0); /* relaxed: a hint of where to look */
	return 0;
}

/* The value before: a post-increment. */
static inline uint64_t advance(_Atomic(uint64_t) *cursor)
{
	/* relaxed: a hint of where to look; claiming a record orders what matters. */
	return pfs_fetch_add_relaxed(cursor, 1);
}

static inline bool flag_is_set(const struct pfs_container *self, _Atomic(uint32_t) *flag)
{
	/* relaxed: a flag that may be stale, as in the Performance Schema. */
	return self->config.full_flags && pfs_load_relaxed(flag) != 0;
}

static inline void flag_put(const struct pfs_container *self, _Atomic(uint32_t) *flag,
			    uint32_t value)
{
	if (self->config.full_flags)
		pfs_store_relaxed(flag, value); /* relaxed: may come late, and then sticks */
}

/* Not inlined: with it, allocate runs short of registers, and a pair takes twice as long. */
static __attribute__((noinline)) struct pfs_claim page_allocate(struct pfs_thread *thread,
								struct pfs_page *page)
{
	struct pfs_container *self = thread->container;
	struct window *window = page_window(page);
	pfs_tally_search(thread, page);
	if (flag_is_set(self, &window->full)) {
		pfs_count(thread, PFS_EVENT_FLAG_SKIPS, 1);
		pfs_tally_miss(thread, page);
		return pfs_claim_none();
	}
	uint32_t count = page->slot_count;
	uint64_t cursor = window_begin(&window->cursor, advance(&window->cursor), count);
	uint64_t end = cursor + count;
	for (; cursor < end; cursor = advance(&window->cursor)) {
		struct pfs_claim claim = pfs_page_probe(thread, page, (uint32_t)(cursor % count));
		if (claim.record != NULL)
			return claim;
	}
	flag_put(self, &window->full, 1);
	pfs_tally_miss(thread, page);
	return pfs_claim_none();
}

static struct pfs_claim search(struct pfs_thread *thread, uint32_t count)
{
	struct pfs_container *self = thread->container;
	struct window *window = thread->policy;
	/* relaxed: a hint of where to look. */
	uint64_t cursor = window_begin(&window->cursor, pfs_load_relaxed(&window->cursor), count);
	uint64_t end = cursor + count;
	for (; cursor < end; cursor = advance(&window->cursor)) {
		struct pfs_page *page = pfs_container_page(self, (uint32_t)(cursor % count));
		struct pfs_claim claim = page_allocate(thread, page);
		if (claim.record != NULL)
			return claim;
	}
	return pfs_claim_none();
}

static struct pfs_claim grow(struct pfs_thread *thread, uint32_t index)
{
	struct pfs_container *self = thread->container;
	struct window *window = thread->policy;
	for (; index < self->page_capacity; index++) {
		struct pfs_page *page = pfs_container_page_at(thread, index);
		if (page == NULL)
			return pfs_container_refuse(thread, thread->growth);
		struct pfs_claim claim = page_allocate(thread, page);
		if (claim.record != NULL)
			return claim;
	}
	flag_put(self, &window->full, 1);
	return pfs_container_refuse(thread, PFS_FULL);
}

static struct pfs_claim allocate(struct pfs_thread *thread)
{
	struct pfs_container *self = thread->container;
	struct window *window = thread->policy;
	pfs_tally_call(thread);
	if (flag_is_set(self, &window->full)) {
		pfs_tally_gave_up(thread, pfs_container_page_limit(self));
		return pfs_container_refuse(thread, PFS_FULL);
	}
	/* After the flag, as in the Performance Schema: a page that came meanwhile is searched. */
	uint32_t count = pfs_container_page_limit(self);
	struct pfs_claim claim = count != 0 ? search(thread, count) : pfs_claim_none();
	if (claim.record != NULL)
		return claim;
	pfs_tally_gave_up(thread, count);
	return grow(thread, count);
}

/* The flags are cleared after the record is FREE, page first, as in the Performance Schema. */
static inline void clear_flags(struct pfs_thread *thread, struct pfs_page *page)
{
	struct window *window = thread->policy;
	flag_put(thread->container, &page_window(page)->full, 0);
	flag_put(thread->container, &window->full, 0);
}

static void free_and_clear(struct pfs_thread *thread, void *record)
{
	struct pfs_place place = pfs_place_of(thread, record);
	free_at(thread, record, place);
	clear_flags(thread, place.page);
}

static void abandon_and_clear(struct pfs_thread *thread, struct pfs_claim claim)
{
	struct pfs_place place = pfs_place_of(thread, claim.record);
	abandon_record(thread, claim);
	clear_flags(thread, place.page);
}

PFS_POLICY(original) = {
	.name = "original",
	.summary = "as the Performance Schema ships it: shared cursors, advanced per failed probe",
	.traits = PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_GROW | PFS_TRAIT_BOUNDED |
		  PFS_TRAIT_C11 | PFS_TRAIT_OWN_WORD,
	.lines = lines,
	.allocate = allocate,
	.publish = publish_record,
	.abandon = abandon_and_clear,
	.free = free_and_clear,
};
