/*
 * overhead_test.c - the metric overhead_bytes: what it counts for a page, and that this ends with
 * the page.
 */
#include "containers/container.h"
#include "stress/harness/fixture.h"

#define PAGES 6u
#define SLOTS 64u

static uint64_t overhead_of(struct pfs_fixture *self)
{
	return pfs_counts_of(self->container).overhead_bytes;
}

/* For a single page: the size of its block minus the bytes that its users asked for. */
static uint64_t page_overhead(const struct pfs_fixture *self)
{
	return self->container->shape.block_bytes -
	       (uint64_t)SLOTS * self->config.record_size_bytes;
}

/* Outside its page, no policy keeps more than a cache line and some words per record. */
static void check_bounds(struct pfs_fixture *self, uint64_t pages)
{
	uint64_t beside = (256 + 64 + 64 * (uint64_t)SLOTS) * pages;
	uint64_t overhead = overhead_of(self);
	PFS_CHECK(overhead >= pages * page_overhead(self));
	PFS_CHECK(overhead <= pages * page_overhead(self) + beside);
}

static void grows_by_the_page(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_prepare(&it, at, PAGES, SLOTS);
	it.config.record_size_bytes = 40;
	pfs_fixture_set_up(&it);
	for (uint32_t pages = 1; pages <= PAGES; pages++) {
		pfs_fixture_fill(&it, SLOTS);
		check_bounds(&it, pfs_fixture_pages(&it));
	}
	PFS_CHECK_IS(pfs_fixture_pages(&it), PAGES);
	pfs_fixture_empty(&it, 0, PAGES * SLOTS);
	check_bounds(&it, PAGES);
	pfs_fixture_tear_down(&it);
}

/* Bytes of records that the smaller last page lacks belong to no record. */
static void a_smaller_last_page_is_overhead(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_start(&it, at, 1, SLOTS);
	pfs_fixture_fill(&it, 1);
	uint64_t whole = overhead_of(&it);
	pfs_fixture_empty(&it, 0, SLOTS);
	pfs_fixture_tear_down(&it);

	pfs_fixture_prepare(&it, at, 1, SLOTS);
	it.config.record_max = SLOTS - 3;
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, 1);
	PFS_CHECK_IS(overhead_of(&it), whole + 3u * it.config.record_size_bytes);
	pfs_fixture_empty(&it, 0, SLOTS);
	pfs_fixture_tear_down(&it);
}

/* Pages that wait for a reader still count; once they are gone, they do not. */
static void goes_with_the_pages(const struct pfs_case *at)
{
	struct pfs_fixture it;
	struct pfs_thread *reader;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	reader = pfs_attach_or_fail(it.container);
	pfs_fixture_fill(&it, PAGES * SLOTS);
	pfs_fixture_empty(&it, 0, PAGES * SLOTS);
	pfs_enter(reader);
	(void)pfs_reclaim_trim(it.thread);
	PFS_CHECK_IS(pfs_fixture_pages(&it), 0);
	PFS_CHECK(overhead_of(&it) >= PAGES * page_overhead(&it));
	pfs_leave(reader);
	PFS_CHECK_IS(pfs_reclaim_trim(it.thread), PAGES);
	PFS_CHECK(overhead_of(&it) < PAGES * page_overhead(&it));
	pfs_thread_detach(reader);
	pfs_fixture_tear_down(&it);
}

static void nothing_where_there_are_no_pages(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	void *record = pfs_allocate_or_fail(it.thread);
	PFS_CHECK_IS(overhead_of(&it), 0);
	pfs_free(it.thread, record);
	pfs_fixture_tear_down(&it);
}

#define EACH(title, function, needs, misses)                                         \
	{                                                                            \
		.name = (title), .run = (function), .each = true, .traits = (needs), \
		.without = (misses)                                                  \
	}

static const struct pfs_test tests[] = {
	EACH("grows by the page", grows_by_the_page, PFS_TRAIT_INDEX, 0),
	EACH("a smaller last page is overhead", a_smaller_last_page_is_overhead, PFS_TRAIT_INDEX,
	     0),
	EACH("goes with the pages", goes_with_the_pages, PFS_TRAIT_RECLAIM, 0),
	EACH("nothing where there are no pages", nothing_where_there_are_no_pages, 0,
	     PFS_TRAIT_INDEX),
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
