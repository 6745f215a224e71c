/*
 * calls_test.c - calls other than allocate and free: existing records only, many at a time, weak
 * references, counts of live and lost records; and frees through another container's handle.
 */
#include <stdlib.h>

#include <pfslab/partitioned.h>

#include "stress/harness/fixture.h"

#define PAGES 3u
#define SLOTS 5u
#define CAPACITY (PAGES * SLOTS)
#define POOL (PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_BOUNDED)

static void existing_records_only(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	PFS_CHECK(pfs_allocate_existing(it.thread).record == NULL);
	PFS_CHECK_IS(pfs_thread_status(it.thread), PFS_FULL);
	PFS_CHECK_IS(pfs_fixture_pages(&it), 0);
	PFS_CHECK_IS(pfs_counts_of(it.container).lost, 0);
	pfs_fixture_fill(&it, SLOTS);
	PFS_CHECK(pfs_allocate_existing(it.thread).record == NULL);
	PFS_CHECK_IS(pfs_fixture_pages(&it), 1);
	pfs_fixture_empty(&it, 2, 3);
	struct pfs_claim claim = pfs_allocate_existing(it.thread);
	PFS_CHECK(claim.record != NULL);
	PFS_CHECK_IS(pfs_index(it.thread, claim.record), 2);
	pfs_abandon(it.thread, claim);
	pfs_fixture_fill(&it, SLOTS); /* the next call may grow again */
	PFS_CHECK_IS(pfs_fixture_pages(&it), 2);
	pfs_fixture_empty(&it, 0, CAPACITY);
	pfs_fixture_tear_down(&it);
}

static void many_at_a_time(const struct pfs_case *at)
{
	struct pfs_fixture it;
	struct pfs_claim claims[CAPACITY + 1];
	void *records[CAPACITY];
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	PFS_CHECK_IS(pfs_allocate_many(it.thread, claims, CAPACITY + 1), CAPACITY);
	PFS_CHECK_IS(pfs_thread_status(it.thread), PFS_FULL);
	PFS_CHECK_IS(pfs_container_lost(it.container), 1);
	PFS_CHECK_IS(pfs_container_live(it.container), CAPACITY);
	pfs_publish_many(it.thread, claims, CAPACITY);
	for (uint32_t i = 0; i < CAPACITY; i++) {
		records[i] = claims[i].record;
		PFS_CHECK(pfs_owns(it.thread, records[i]));
	}
	pfs_free_many(it.thread, records, CAPACITY - 2);
	PFS_CHECK_IS(pfs_container_live(it.container), 2);
	pfs_free_many(it.thread, records + CAPACITY - 2, 2);
	PFS_CHECK_IS(pfs_container_live(it.container), 0);
	pfs_fixture_tear_down(&it);
}

#define WIDE_PAGES 3u
#define WIDE_SLOTS 75u /* two full words and a part of one */
#define WIDE (WIDE_PAGES * WIDE_SLOTS)

static uint32_t publish_all(struct pfs_fixture *it, struct pfs_claim *claims, uint32_t count,
			    void **records)
{
	uint32_t taken = pfs_allocate_many(it->thread, claims, count);
	pfs_publish_many(it->thread, claims, taken);
	for (uint32_t i = 0; i < taken; i++)
		records[i] = claims[i].record;
	return taken;
}

/* Over words and pages, in an order that no word has, and the last record is found. */
static void many_of_several_words(const struct pfs_case *at)
{
	struct pfs_fixture it;
	struct pfs_claim claims[WIDE + 1];
	void *records[WIDE], *mixed[WIDE];
	bool seen[WIDE] = { false };
	pfs_fixture_start(&it, at, WIDE_PAGES, WIDE_SLOTS);
	for (uint32_t turn = 0; turn < 4; turn++) {
		uint32_t some = turn * 37 % WIDE;
		PFS_CHECK_IS(pfs_allocate_many(it.thread, claims, 0), 0);
		PFS_CHECK_IS(publish_all(&it, claims, some, records), some);
		PFS_CHECK_IS(publish_all(&it, claims, WIDE + 1 - some, &records[some]),
			     WIDE - some);
		PFS_CHECK_IS(pfs_container_lost(it.container), turn + 1);
		PFS_CHECK_IS(pfs_container_live(it.container), WIDE);
		for (uint32_t i = 0; i < WIDE; i++) {
			uint64_t index = pfs_index(it.thread, records[i]);
			PFS_CHECK(index < WIDE && seen[index] == (turn % 2 != 0));
			seen[index] = turn % 2 == 0;
			mixed[i * 101 % WIDE] = records[i];
		}
		pfs_free_many(it.thread, mixed, 0);
		pfs_free_many(it.thread, turn % 2 == 0 ? mixed : records, WIDE - 1);
		PFS_CHECK_IS(pfs_container_live(it.container), 1);
		pfs_free_many(it.thread, (turn % 2 == 0 ? mixed : records) + WIDE - 1, 1);
	}
	PFS_CHECK_IS(pfs_fixture_pages(&it), WIDE_PAGES);
	pfs_fixture_tear_down(&it);
}

/* A batch gets the records that single calls freed, and vice versa. */
static void many_and_one_at_a_time(const struct pfs_case *at)
{
	struct pfs_fixture it;
	struct pfs_claim claims[WIDE];
	void *records[WIDE];
	pfs_fixture_start(&it, at, WIDE_PAGES, WIDE_SLOTS);
	pfs_fixture_fill(&it, WIDE);
	pfs_fixture_empty(&it, 20, 120);
	PFS_CHECK_IS(publish_all(&it, claims, 100, records), 100);
	PFS_CHECK(pfs_allocate_existing(it.thread).record == NULL);
	pfs_free_many(it.thread, records, 100);
	pfs_fixture_fill(&it, 100);
	PFS_CHECK(pfs_allocate(it.thread).record == NULL);
	pfs_fixture_empty(&it, 0, WIDE);
	pfs_fixture_tear_down(&it);
}

static void one_record_twice_in_a_batch(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	void *twice[2];
	twice[0] = twice[1] = pfs_allocate_or_fail(it.thread);
	pfs_free_many(it.thread, twice, 2);
}

static void a_stranger_in_a_batch(const struct pfs_case *at)
{
	struct pfs_fixture ours, theirs;
	pfs_fixture_start(&ours, at, PAGES, SLOTS);
	pfs_fixture_start(&theirs, at, PAGES, SLOTS);
	void *records[2] = { pfs_allocate_or_fail(theirs.thread),
			     pfs_allocate_or_fail(ours.thread) };
	pfs_free_many(theirs.thread, records, 2);
}

static void a_weak_reference_names_one_life(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_start(&it, at, 1, 1);
	struct pfs_claim claim = pfs_allocate(it.thread);
	struct pfs_reference unpublished = pfs_reference_of(it.thread, claim.record);
	PFS_CHECK(pfs_lookup_reference(it.thread, unpublished, NULL) == NULL);
	pfs_publish(it.thread, claim);
	struct pfs_reference first = pfs_reference_of(it.thread, claim.record);
	PFS_CHECK(pfs_lookup_reference(it.thread, first, NULL) == claim.record);
	PFS_CHECK(pfs_lookup_reference(it.thread, unpublished, NULL) == NULL);
	pfs_free(it.thread, claim.record);
	PFS_CHECK(pfs_lookup_reference(it.thread, first, NULL) == NULL);
	void *again = pfs_allocate_or_fail(it.thread);
	PFS_CHECK(again == claim.record);
	PFS_CHECK(pfs_lookup_reference(it.thread, first, NULL) == NULL);
	struct pfs_reference second = pfs_reference_of(it.thread, again);
	PFS_CHECK(pfs_lookup_reference(it.thread, second, NULL) == again);
	struct pfs_reference nowhere = { UINT64_MAX, 1 };
	PFS_CHECK(pfs_lookup_reference(it.thread, nowhere, NULL) == NULL);
	pfs_free(it.thread, again);
	pfs_fixture_tear_down(&it);
}

/* The glance of a look-up belongs to the life that was asked for; a later life is not confirmed. */
static void a_reference_is_read_by_its_glance(const struct pfs_case *at)
{
	struct pfs_fixture it;
	struct pfs_glance glance;
	pfs_fixture_start(&it, at, 1, 1);
	void *record = pfs_allocate_or_fail(it.thread);
	struct pfs_reference first = pfs_reference_of(it.thread, record);
	PFS_CHECK(pfs_lookup_reference(it.thread, first, &glance) == record);
	PFS_CHECK(pfs_read_end(record, glance));
	pfs_free(it.thread, record);
	PFS_CHECK(pfs_allocate_or_fail(it.thread) == record); /* another life is there */
	PFS_CHECK(!pfs_read_end(record, glance));
	PFS_CHECK(pfs_lookup_reference(it.thread, first, &glance) == NULL);
	PFS_CHECK(!pfs_read_end(record, glance));
	pfs_free(it.thread, record);
	pfs_fixture_tear_down(&it);
}

/* After any number of lives: a version of 16, 17 or 20 bits would repeat here. */
static void a_reference_is_of_one_life_in_many(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_start(&it, at, 1, 1);
	void *record = pfs_allocate_or_fail(it.thread);
	struct pfs_reference first = pfs_reference_of(it.thread, record);
	for (uint32_t life = 0; life < UINT32_C(1) << 20; life++) {
		pfs_free(it.thread, record);
		PFS_CHECK(pfs_allocate_or_fail(it.thread) == record);
		if ((life & (life + 1)) == 0) /* 2^n lives have begun since */
			PFS_CHECK(pfs_lookup_reference(it.thread, first, NULL) == NULL);
	}
	pfs_free(it.thread, record);
	pfs_fixture_tear_down(&it);
}

static void publish_anew(struct pfs_fixture *it, void *record)
{
	struct pfs_claim claim = pfs_reopen(it->thread, record);
	PFS_CHECK(claim.record == record);
	pfs_publish(it->thread, claim);
}

/* With lasting references a record that is reopened stays in its life; free and abandon end it. */
static void a_reopened_record_keeps_its_life(const struct pfs_case *at)
{
	struct pfs_fixture it;
	struct pfs_glance glance;
	pfs_fixture_prepare(&it, at, 1, 1);
	it.config.lasting_references = true;
	pfs_fixture_set_up(&it);
	void *record = pfs_allocate_or_fail(it.thread);
	struct pfs_reference first = pfs_reference_of(it.thread, record);
	for (uint32_t round = 0; round < 3; round++)
		publish_anew(&it, record);
	struct pfs_reference late = pfs_reference_of(it.thread, record);
	PFS_CHECK(pfs_lookup_reference(it.thread, first, &glance) == record);
	PFS_CHECK(pfs_lookup_reference(it.thread, late, NULL) == record);
	PFS_CHECK(pfs_read_end(record, glance));
	struct pfs_reference never = { first.index, first.version - 1 };
	PFS_CHECK(pfs_lookup_reference(it.thread, never, NULL) == NULL);
	struct pfs_claim claim = pfs_reopen(it.thread, record);
	PFS_CHECK(pfs_lookup_reference(it.thread, first, &glance) == record);
	PFS_CHECK(!pfs_read_end(record, glance)); /* it is being written */
	pfs_abandon(it.thread, claim);
	PFS_CHECK(pfs_lookup_reference(it.thread, late, NULL) == NULL);
	claim = pfs_allocate(it.thread); /* DIRTY with the version of `late` */
	PFS_CHECK(claim.record == record);
	PFS_CHECK(pfs_lookup_reference(it.thread, late, NULL) == NULL);
	pfs_publish(it.thread, claim);
	PFS_CHECK(pfs_lookup_reference(it.thread, first, NULL) == NULL);
	PFS_CHECK(pfs_lookup_reference(it.thread, late, NULL) == NULL);
	struct pfs_reference second = pfs_reference_of(it.thread, record);
	publish_anew(&it, record);
	PFS_CHECK(pfs_lookup_reference(it.thread, second, NULL) == record);
	PFS_CHECK(pfs_lookup_reference(it.thread, late, NULL) == NULL);
	pfs_free(it.thread, record);
	PFS_CHECK(pfs_lookup_reference(it.thread, second, NULL) == NULL);
	pfs_fixture_tear_down(&it);
}

/* Through their addresses these are the library's functions, which other languages call. */
static const struct {
	struct pfs_claim (*allocate)(struct pfs_thread *thread);
	void (*publish)(struct pfs_thread *thread, struct pfs_claim claim);
	void (*free)(struct pfs_thread *thread, void *record);
} volatile of_library = { pfs_allocate, pfs_publish, pfs_free };

static void the_library_has_the_inlined_calls(const struct pfs_case *at)
{
	struct pfs_fixture it;
	bool has_words = (pfs_variant_traits(at->variant) & PFS_TRAIT_WORDS) != 0;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	for (uint32_t i = 0; i < 8; i++) { /* each of the three inlined, and not */
		struct pfs_claim claim = (i & 1) != 0 ? pfs_allocate(it.thread)
						      : of_library.allocate(it.thread);
		PFS_CHECK(claim.record != NULL);
		uint32_t version = has_words ? pfs_version(claim.record) : 0;
		if ((i & 2) != 0)
			pfs_publish(it.thread, claim);
		else
			of_library.publish(it.thread, claim);
		PFS_CHECK(!has_words || pfs_version(claim.record) == version + 1);
		PFS_CHECK(!has_words || pfs_read_end(claim.record, pfs_read_begin(claim.record)));
		if ((i & 4) != 0)
			pfs_free(it.thread, claim.record);
		else
			of_library.free(it.thread, claim.record);
		PFS_CHECK(!has_words || !pfs_read_end(claim.record, pfs_read_begin(claim.record)));
	}
	pfs_fixture_tear_down(&it);
}

/* A claim made by hand, or by a policy that does not give the offset of the word. */
static void a_claim_without_its_word_is_published(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	struct pfs_claim claim = pfs_allocate(it.thread);
	claim.word_offset = 0;
	pfs_publish(it.thread, claim);
	pfs_free(it.thread, claim.record);
	pfs_fixture_tear_down(&it);
}

static void publish_twice(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	struct pfs_claim claim = pfs_allocate(it.thread);
	pfs_publish(it.thread, claim);
	pfs_publish(it.thread, claim);
}

static void publish_twice_by_the_library(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	struct pfs_claim claim = pfs_allocate(it.thread);
	of_library.publish(it.thread, claim);
	of_library.publish(it.thread, claim);
}

/* As after a migration: the handle's node is the one on which the caller runs. */
static void a_handle_looks_where_it_runs(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	uint32_t node = pfs_thread_migrated(it.thread);
	PFS_CHECK_IS(pfs_thread_migrated(it.thread), node);
	void *record = pfs_allocate_or_fail(it.thread);
	pfs_free(it.thread, record);
	pfs_fixture_tear_down(&it);
}

/* The strict scans keep only the record's own word: any handle frees it, and the free is counted in
 * the record's container. */
static void a_scan_frees_by_the_word(const struct pfs_case *at)
{
	struct pfs_fixture ours, theirs;
	pfs_fixture_start(&ours, at, PAGES, SLOTS);
	pfs_fixture_start(&theirs, at, PAGES, SLOTS);
	void *record = pfs_allocate_or_fail(ours.thread);
	pfs_free(theirs.thread, record);
	PFS_CHECK_IS(pfs_container_live(ours.container), 0);
	PFS_CHECK(!pfs_owns(ours.thread, record));
	pfs_fixture_fill(&ours, CAPACITY);
	pfs_fixture_fill(&theirs, CAPACITY);
	PFS_CHECK(pfs_counts_of(ours.container).live_peak <= CAPACITY);
	pfs_fixture_empty(&ours, 0, CAPACITY);
	pfs_fixture_empty(&theirs, 0, CAPACITY);
	pfs_fixture_tear_down(&ours);
	pfs_fixture_tear_down(&theirs);
}

/* Misuse: caught in the wrong call, before the other container's index knows the record. */
static void free_by_another_handle(const struct pfs_case *at)
{
	struct pfs_fixture ours, theirs;
	pfs_fixture_start(&ours, at, PAGES, SLOTS);
	pfs_fixture_start(&theirs, at, PAGES, SLOTS);
	pfs_free(theirs.thread, pfs_allocate_or_fail(ours.thread));
}

static void abandon_by_another_handle(const struct pfs_case *at)
{
	struct pfs_fixture ours, theirs;
	pfs_fixture_start(&ours, at, PAGES, SLOTS);
	pfs_fixture_start(&theirs, at, PAGES, SLOTS);
	pfs_abandon(theirs.thread, pfs_allocate(ours.thread));
}

#define PARTS 3u

static void partitions_free_by_the_record(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct pfs_partitioned *whole = NULL;
	struct pfs_partitioned_thread *thread = NULL;
	void *records[PARTS][CAPACITY];
	config.page_max = PAGES;
	config.page_records = SLOTS;
	PFS_CHECK_IS(pfs_partitioned_create(at->variant, &config, PARTS, &whole, NULL), PFS_OK);
	PFS_CHECK_IS(pfs_partitioned_attach(whole, &thread), PFS_OK);
	PFS_CHECK(pfs_partitioned_allocate(thread, PARTS).record == NULL);
	PFS_CHECK(pfs_partitioned_container(whole, PARTS) == NULL);
	for (uint32_t turn = 0; turn < 3; turn++) {
		for (uint32_t i = 0; i < PARTS * CAPACITY; i++) {
			struct pfs_claim claim = pfs_partitioned_allocate(thread, i % PARTS);
			PFS_CHECK(claim.record != NULL);
			pfs_partitioned_abandon(thread, claim);
			claim = pfs_partitioned_allocate(thread, i % PARTS);
			pfs_partitioned_publish(thread, claim);
			records[i % PARTS][i / PARTS] = claim.record;
		}
		for (uint32_t part = 0; part < PARTS; part++) {
			struct pfs_container *own = pfs_partitioned_container(whole, part);
			PFS_CHECK(pfs_partitioned_allocate(thread, part).record == NULL);
			PFS_CHECK_IS(pfs_container_lost(own), turn + 1);
			PFS_CHECK_IS(pfs_container_live(own), CAPACITY);
		}
		for (uint32_t i = 0; i < PARTS * CAPACITY; i++)
			pfs_partitioned_free(thread, records[i / CAPACITY][i % CAPACITY]);
	}
	pfs_partitioned_detach(thread);
	pfs_partitioned_destroy(whole);
}

static void free_of_a_stranger_in_partitions(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct pfs_partitioned *whole = NULL;
	struct pfs_partitioned_thread *thread = NULL;
	struct pfs_fixture it;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	PFS_CHECK_IS(pfs_partitioned_create(at->variant, &config, PARTS, &whole, NULL), PFS_OK);
	PFS_CHECK_IS(pfs_partitioned_attach(whole, &thread), PFS_OK);
	pfs_partitioned_free(thread, pfs_allocate_or_fail(it.thread));
}

/* For a policy without an index, the bytes before a record belong to others: no call reads them. */
static void records_without_an_index(const struct pfs_case *at)
{
	struct pfs_fixture it;
	if ((pfs_variant_traits(at->variant) & PFS_TRAIT_INDEX) != 0)
		return;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	void *record = pfs_allocate_or_fail(it.thread);
	PFS_CHECK_IS(pfs_index(it.thread, record), PFS_INDEX_NONE);
	PFS_CHECK(!pfs_owns(it.thread, record));
	PFS_CHECK(pfs_lookup(it.thread, 0) == NULL);
	struct pfs_reference reference = pfs_reference_of(it.thread, record);
	PFS_CHECK_IS(reference.index, PFS_INDEX_NONE);
	PFS_CHECK(pfs_lookup_reference(it.thread, reference, NULL) == NULL);
	struct pfs_claim claim = pfs_reopen(it.thread, record);
	PFS_CHECK(claim.record == record);
	pfs_publish(it.thread, claim);
	pfs_free(it.thread, record);
	pfs_fixture_tear_down(&it);
}

static void partitions_without_an_index(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct pfs_partitioned *whole = NULL;
	struct pfs_partitioned_thread *thread = NULL;
	if ((pfs_variant_traits(at->variant) & PFS_TRAIT_INDEX) != 0)
		return;
	PFS_CHECK_IS(pfs_partitioned_create(at->variant, &config, PARTS, &whole, NULL), PFS_OK);
	PFS_CHECK_IS(pfs_partitioned_attach(whole, &thread), PFS_OK);
	struct pfs_claim claim = pfs_partitioned_allocate(thread, 1);
	pfs_partitioned_publish(thread, claim);
	PFS_CHECK_IS(pfs_partitioned_index(thread, 1, claim.record), PFS_INDEX_NONE);
	pfs_partitioned_free(thread, claim.record);
	pfs_partitioned_detach(thread);
	pfs_partitioned_destroy(whole);
}

#define EACH(title, function, needs)                                                \
	{                                                                           \
		.name = (title), .run = (function), .each = true, .traits = (needs) \
	}
#define PANICS(title, function, text)                                                        \
	{                                                                                    \
		.name = (title), .run = (function), .each = true, .traits = PFS_TRAIT_WORDS, \
		.dies_with = (text)                                                          \
	}
#define DIES(title, function, text)                                                          \
	{                                                                                    \
		.name = (title), .run = (function), .each = true, .traits = PFS_TRAIT_WORDS, \
		.without = PFS_TRAIT_STRICT, .dies_with = (text)                             \
	}

static const struct pfs_test tests[] = {
	EACH("existing records only", existing_records_only, POOL | PFS_TRAIT_GROW),
	EACH("many at a time", many_at_a_time, POOL),
	EACH("many of several words", many_of_several_words, POOL),
	EACH("many and one at a time", many_and_one_at_a_time, POOL),
	PANICS("one record twice in a batch", one_record_twice_in_a_batch, "free: "),
	DIES("a stranger in a batch", a_stranger_in_a_batch, "handle of another container"),
	EACH("a weak reference names one life", a_weak_reference_names_one_life, POOL),
	EACH("a reference is read by its glance", a_reference_is_read_by_its_glance, POOL),
	EACH("a reference is of one life in many", a_reference_is_of_one_life_in_many, POOL),
	EACH("a reopened record keeps its life", a_reopened_record_keeps_its_life, POOL),
	EACH("the library has the inlined calls", the_library_has_the_inlined_calls, 0),
	EACH("a claim without its word is published", a_claim_without_its_word_is_published, 0),
	EACH("a handle looks where it runs", a_handle_looks_where_it_runs, 0),
	EACH("partitions free by the record", partitions_free_by_the_record, POOL),
	EACH("records without an index", records_without_an_index, 0),
	EACH("partitions without an index", partitions_without_an_index, 0),
	EACH("a scan frees by the word", a_scan_frees_by_the_word, POOL | PFS_TRAIT_STRICT),
	PANICS("publish twice", publish_twice, "publish: the word is"),
	PANICS("publish twice by the library", publish_twice_by_the_library,
	       "publish: the word is"),
	DIES("free by another handle", free_by_another_handle, "handle of another container"),
	DIES("abandon by another handle", abandon_by_another_handle, "handle of another container"),
	DIES("free of a stranger in partitions", free_of_a_stranger_in_partitions,
	     "record of another container"),
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
