/*
 * container_test.c - page growth, the maximum, the last page, refusals and misuse, for every
 * policy.
 */
#include <stdlib.h>
#include <string.h>

#include "stress/harness/fixture.h"

#define PAGES 5u
#define SLOTS 7u
#define CAPACITY (PAGES * SLOTS)
#define ALL (PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_BOUNDED)

/* Allocates all of capacity, each index once, into records[] in the order in which they came:
 * they are freed in it, too, not by index as pfs_fixture_empty does. */
static void fill(struct pfs_fixture *self, void **records, uint64_t capacity)
{
	char *seen = calloc(capacity, 1);
	PFS_CHECK(seen != NULL);
	for (uint64_t i = 0; i < capacity; i++) {
		records[i] = pfs_allocate_or_fail(self->thread);
		uint64_t index = pfs_index(self->thread, records[i]);
		PFS_CHECK(index < capacity);
		PFS_CHECK(!seen[index]);
		seen[index] = 1;
	}
	free(seen);
}

static void empty(struct pfs_fixture *self, void **records, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		pfs_free(self->thread, records[i]);
}

static void records_are_aligned(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_prepare(&it, at, 2, 8);
	it.config.record_align_bytes = 1024;
	it.config.record_size_bytes = 24;
	pfs_fixture_set_up(&it);
	void *records[16];
	for (uint32_t i = 0; i < 16; i++) {
		records[i] = pfs_allocate_or_fail(it.thread);
		PFS_CHECK_IS((uintptr_t)records[i] % 1024, 0);
	}
	for (uint32_t i = 0; i < 16; i++)
		pfs_free(it.thread, records[i]);
	pfs_fixture_tear_down(&it);
}

static void refused(struct pfs_fixture *self, enum pfs_status status, uint64_t lost)
{
	struct pfs_claim claim = pfs_allocate(self->thread);
	PFS_CHECK(claim.record == NULL);
	PFS_CHECK_IS(pfs_thread_status(self->thread), status);
	PFS_CHECK_IS(pfs_counts_of(self->container).lost, lost);
}

static void grows_to_its_maximum(const struct pfs_case *at)
{
	struct pfs_fixture it;
	void *records[CAPACITY];
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	bool grows = (pfs_variant_traits(at->variant) & PFS_TRAIT_GROW) != 0;
	PFS_CHECK_IS(pfs_counts_of(it.container).pages, grows ? 0 : PAGES);
	PFS_CHECK_IS(pfs_thread_status(it.thread), PFS_OK);
	fill(&it, records, CAPACITY);
	struct pfs_counts counts = pfs_counts_of(it.container);
	PFS_CHECK_IS(counts.pages, PAGES);
	PFS_CHECK_IS(counts.pages_peak, PAGES);
	PFS_CHECK_IS(counts.growths, grows ? PAGES : 0);
	PFS_CHECK_IS(counts.lost, 0);
	refused(&it, PFS_FULL, 1);
	refused(&it, PFS_FULL, 2);
	/* One freed record can be had again, and is no new loss. */
	pfs_free(it.thread, records[17]);
	records[17] = pfs_allocate_or_fail(it.thread);
	PFS_CHECK_IS(pfs_counts_of(it.container).lost, 2);
	refused(&it, PFS_FULL, 3);
	empty(&it, records, CAPACITY);
	fill(&it, records, CAPACITY);
	empty(&it, records, CAPACITY);
	pfs_fixture_tear_down(&it);
}

static void preallocates(const struct pfs_case *at)
{
	struct pfs_fixture it;
	void *records[CAPACITY];
	pfs_fixture_prepare(&it, at, PAGES, SLOTS);
	it.config.page_prealloc = 3;
	pfs_fixture_set_up(&it);
	struct pfs_counts counts = pfs_counts_of(it.container);
	bool grows = (pfs_variant_traits(at->variant) & PFS_TRAIT_GROW) != 0;
	PFS_CHECK_IS(counts.pages, grows ? 3 : PAGES);
	PFS_CHECK_IS(counts.growths, 0);
	PFS_CHECK(counts.resident_bytes > 0);
	fill(&it, records, CAPACITY);
	counts = pfs_counts_of(it.container);
	PFS_CHECK_IS(counts.growths, grows ? PAGES - 3 : 0);
	PFS_CHECK_IS(counts.needless_growths, 0);
	empty(&it, records, CAPACITY);
	pfs_fixture_tear_down(&it);
}

static void the_last_page_is_smaller(const struct pfs_case *at)
{
	struct pfs_fixture it;
	void *records[CAPACITY];
	pfs_fixture_prepare(&it, at, PAGES, SLOTS);
	it.config.record_max = 2 * SLOTS + 3;
	pfs_fixture_set_up(&it);
	fill(&it, records, 2 * SLOTS + 3);
	PFS_CHECK_IS(pfs_counts_of(it.container).pages, 3);
	refused(&it, PFS_FULL, 1);
	PFS_CHECK(pfs_lookup(it.thread, 2 * SLOTS + 2) != NULL);
	PFS_CHECK(pfs_lookup(it.thread, 2 * SLOTS + 3) == NULL);
	empty(&it, records, 2 * SLOTS + 3);
	pfs_fixture_tear_down(&it);
}

static void no_pages_at_all(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_prepare(&it, at, PAGES, SLOTS);
	it.config.page_max = 0;
	pfs_fixture_set_up(&it);
	refused(&it, PFS_FULL, 1);
	refused(&it, PFS_FULL, 2);
	PFS_CHECK(pfs_lookup(it.thread, 0) == NULL);
	PFS_CHECK_IS(pfs_counts_of(it.container).pages, 0);
	pfs_fixture_tear_down(&it);
}

static void one_record_a_page(const struct pfs_case *at)
{
	struct pfs_fixture it;
	void *records[PAGES];
	pfs_fixture_prepare(&it, at, PAGES, SLOTS);
	it.config.page_records = 1;
	pfs_fixture_set_up(&it);
	fill(&it, records, PAGES);
	refused(&it, PFS_FULL, 1);
	empty(&it, records, PAGES);
	pfs_fixture_tear_down(&it);
}

static void a_refused_page_is_an_error_for_that_call(const struct pfs_case *at)
{
	struct pfs_fixture it;
	void *records[CAPACITY];
	pfs_fixture_prepare(&it, at, PAGES, SLOTS);
	pfs_test_source_refuse(&it.source, 0, 2);
	pfs_fixture_set_up(&it);
	fill(&it, records, 2 * SLOTS);
	refused(&it, PFS_NO_MEMORY, 1);
	refused(&it, PFS_NO_MEMORY, 2);
	PFS_CHECK_IS(pfs_counts_of(it.container).pages, 2);
	/* What is there goes on. */
	pfs_free(it.thread, records[3]);
	records[3] = pfs_allocate_or_fail(it.thread);
	refused(&it, PFS_NO_MEMORY, 3);
	/* And growth, once there is memory again. */
	pfs_test_source_refuse(&it.source, 0, 0);
	empty(&it, records, 2 * SLOTS);
	fill(&it, records, CAPACITY);
	refused(&it, PFS_FULL, 4);
	empty(&it, records, CAPACITY);
	pfs_fixture_tear_down(&it);
}

static void a_refused_page_undoes_create(const struct pfs_case *at)
{
	for (uint64_t after = 1; after < PAGES; after++) {
		struct pfs_fixture it;
		struct pfs_message message = { "" };
		pfs_fixture_prepare(&it, at, PAGES, SLOTS);
		it.config.page_prealloc = PAGES;
		pfs_test_source_refuse(&it.source, 0, after);
		it.container = (struct pfs_container *)(void *)&it; /* create must clear it */
		PFS_CHECK_IS(pfs_container_create(at->variant, &it.config, &it.container, &message),
			     PFS_NO_MEMORY);
		PFS_CHECK(it.container == NULL);
		PFS_CHECK(strstr(message.text, pfs_variant_name(at->variant)) != NULL);
		PFS_CHECK_IS(it.source.mapped, after);
		PFS_CHECK_IS(pfs_test_source_out(&it.source), 0);
	}
}

static void versions_grow_by_publish_alone(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_prepare(&it, at, PAGES, SLOTS);
	it.config.page_max = 1;
	it.config.page_records = 1;
	pfs_fixture_set_up(&it);
	void *record = pfs_allocate_or_fail(it.thread);
	PFS_CHECK_IS(pfs_version(record), 1);
	pfs_free(it.thread, record);
	PFS_CHECK_IS(pfs_version(record), 1);
	struct pfs_claim claim = pfs_allocate(it.thread);
	PFS_CHECK(claim.record == record);
	PFS_CHECK_IS(pfs_version(record), 1);
	pfs_abandon(it.thread, claim);
	PFS_CHECK_IS(pfs_version(record), 1);
	PFS_CHECK(pfs_allocate_or_fail(it.thread) == record);
	PFS_CHECK_IS(pfs_version(record), 2);
	claim = pfs_reopen(it.thread, record);
	PFS_CHECK(claim.record == record);
	PFS_CHECK_IS(pfs_version(record), 2);
	PFS_CHECK(pfs_lookup(it.thread, 0) == NULL);
	pfs_publish(it.thread, claim);
	PFS_CHECK_IS(pfs_version(record), 3);
	PFS_CHECK(pfs_lookup(it.thread, 0) == record);
	pfs_free(it.thread, record);
	pfs_fixture_tear_down(&it);
}

static void an_abandoned_record_is_free(const struct pfs_case *at)
{
	struct pfs_fixture it;
	struct pfs_claim claims[CAPACITY];
	void *records[CAPACITY];
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	for (uint32_t i = 0; i < CAPACITY; i++) {
		claims[i] = pfs_allocate(it.thread);
		PFS_CHECK(claims[i].record != NULL);
	}
	refused(&it, PFS_FULL, 1);
	for (uint32_t i = 0; i < CAPACITY; i++)
		pfs_abandon(it.thread, claims[i]);
	fill(&it, records, CAPACITY);
	empty(&it, records, CAPACITY);
	pfs_fixture_tear_down(&it);
}

/* Misuse: each must end in one line that names it. */
static void free_twice(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	void *record = pfs_allocate_or_fail(it.thread);
	pfs_free(it.thread, record);
	pfs_free(it.thread, record);
}

static void free_of_dirty(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	pfs_free(it.thread, pfs_allocate(it.thread).record);
}

static void publish_twice(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	struct pfs_claim claim = pfs_allocate(it.thread);
	pfs_publish(it.thread, claim);
	pfs_publish(it.thread, claim);
}

static void abandon_of_allocated(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	struct pfs_claim claim = pfs_allocate(it.thread);
	pfs_publish(it.thread, claim);
	pfs_abandon(it.thread, claim);
}

static void reopen_of_free(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	void *record = pfs_allocate_or_fail(it.thread);
	pfs_free(it.thread, record);
	(void)pfs_reopen(it.thread, record);
}

#define EACH(title, function, needs)                                                \
	{                                                                           \
		.name = (title), .run = (function), .each = true, .traits = (needs) \
	}
#define DIES(title, function, text)                                                          \
	{                                                                                    \
		.name = (title), .run = (function), .each = true, .traits = PFS_TRAIT_WORDS, \
		.dies_with = (text)                                                          \
	}

static const struct pfs_test tests[] = {
	EACH("records are aligned", records_are_aligned, 0),
	EACH("grows to its maximum", grows_to_its_maximum, ALL),
	EACH("preallocates", preallocates, ALL),
	EACH("the last page is smaller", the_last_page_is_smaller, ALL),
	EACH("no pages at all", no_pages_at_all, ALL),
	EACH("one record a page", one_record_a_page, ALL),
	EACH("a refused page is an error for that call", a_refused_page_is_an_error_for_that_call,
	     ALL | PFS_TRAIT_GROW),
	EACH("a refused page undoes create", a_refused_page_undoes_create, ALL),
	EACH("versions grow by publish alone", versions_grow_by_publish_alone, ALL),
	EACH("an abandoned record is free", an_abandoned_record_is_free, ALL),
	DIES("free twice", free_twice, "pfslab: free: "),
	DIES("free of DIRTY", free_of_dirty, "pfslab: free: "),
	DIES("publish twice", publish_twice, "pfslab: publish: "),
	DIES("abandon of ALLOCATED", abandon_of_allocated, "pfslab: abandon: "),
	DIES("reopen of FREE", reopen_of_free, "pfslab: reopen: "),
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
