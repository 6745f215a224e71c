/*
 * bare_test.c - the layout without headers: what a page is made of, and what the calls answer, with
 * and without words.
 *
 * Each test runs twice for each policy: the harness's first layout stands for a page without words,
 * its second for one with.
 */
#include <stdlib.h>
#include <string.h>

#include "containers/place.h"
#include "stress/harness/fixture.h"

#define PAGES 5u
#define SLOTS 70u /* more than two occupancy words, and no whole number of them */
#define CAPACITY (PAGES * SLOTS)
#define ROUNDS (PFS_SHORT ? 60u : 400u)
#define CROWD 4u

static bool has_words(const struct pfs_case *at)
{
	return at->layout == PFS_LAYOUT_SIDE_BY_SIDE;
}

static void prepare(struct pfs_fixture *self, const struct pfs_case *at, uint32_t page_max,
		    uint32_t page_records)
{
	pfs_fixture_prepare(self, at, page_max, page_records);
	self->config.layout = PFS_LAYOUT_BARE;
	self->config.bare_words = has_words(at);
	self->config.record_size_bytes = 8;
	self->config.record_align_bytes = 8;
}

static void set_up(struct pfs_fixture *self, const struct pfs_case *at)
{
	prepare(self, at, PAGES, SLOTS);
	pfs_fixture_set_up(self);
}

/* Nothing but the records, where nothing is asked for. */
static void pages_are_their_records(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at, 2, 512);
	it.config.source = NULL;
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, 1024);
	PFS_CHECK_IS(it.container->shape.block_bytes, has_words(at) ? 8192 : 4096);
	for (uint32_t i = 0; i < 1024; i++) {
		PFS_CHECK_IS((uintptr_t)it.records[i / 512 * 512] % 4096, 0);
		PFS_CHECK((char *)it.records[i] ==
			  (char *)it.records[i / 512 * 512] + (size_t)(i % 512) * 8);
		*(uint64_t *)it.records[i] = i; /* first touch is the owner's */
	}
	struct pfs_counts counts = pfs_counts_of(it.container);
	PFS_CHECK_IS(counts.resident_bytes, 2 * it.container->shape.block_bytes);
	/* The words of the records, and a line for each 32 of them, with what belongs to it. */
	uint64_t words = has_words(at) ? 2 * 4096 : 0;
	PFS_CHECK(counts.overhead_bytes <= words + 1024 * 3 + 1024);
	pfs_fixture_empty(&it, 0, 1024);
	pfs_fixture_tear_down(&it);
}

static void mark(char *taken, const char *block, size_t block_bytes, const void *from, size_t size)
{
	size_t begin = (size_t)((const char *)from - block);
	PFS_CHECK((const char *)from >= block && begin + size <= block_bytes);
	for (size_t i = begin; i < begin + size; i++)
		PFS_CHECK(taken[i]++ == 0);
}

static void check_page(const struct pfs_config *config)
{
	struct pfs_page_shape shape = pfs_page_shape_of(config, 0);
	char *memory = aligned_alloc(4096, shape.granules_bytes + 8192);
	char *taken = calloc(1, shape.block_bytes);
	void *apart = aligned_alloc(64, (shape.apart_bytes + 63) / 64 * 64);
	PFS_CHECK(memory != NULL && taken != NULL && apart != NULL);
	char *block = memory + (config->source != NULL ? 64 : 0);
	memset(block, 0, shape.block_bytes);
	memset(apart, 0, shape.apart_bytes);
	struct pfs_page *page = pfs_page_make(apart, block, &shape, NULL, 3, config->page_records,
					      40);
	for (uint32_t slot = 0; slot < config->page_records; slot++) {
		char *record = pfs_page_record(page, slot);
		struct pfs_lock *lock = pfs_page_lock(page, slot);
		PFS_CHECK_IS((uintptr_t)record % config->record_align_bytes, 0);
		PFS_CHECK_IS(pfs_page_slot_at(&shape,
					      (size_t)(record - (char *)pfs_page_record(page, 0))),
			     slot);
		mark(taken, block, shape.block_bytes, record, config->record_size_bytes);
		PFS_CHECK_IS(lock != NULL, config->bare_words);
		if (lock != NULL) {
			PFS_CHECK_IS(pfs_load_relaxed(&lock->word), 40); /* relaxed: one thread */
			mark(taken, block, shape.block_bytes, lock, sizeof(*lock));
		}
		if (config->tag_bytes != 0) {
			char *tag = page->tags + (size_t)slot * config->tag_bytes;
			PFS_CHECK_IS((uintptr_t)tag % config->tag_bytes, 0);
			mark(taken, block, shape.block_bytes, tag, config->tag_bytes);
		}
	}
	free(apart);
	free(taken);
	free(memory);
}

static void page_shapes(const struct pfs_case *at)
{
	static const uint32_t sizes[] = { 8, 9, 15, 48, 61, 100, 4095, 8200 };
	static const uint32_t counts[] = { 1, 7, 65 };
	static const struct pfs_memory_source source = { .align_bytes = 64 };
	(void)at;
	for (uint32_t align = 8; align <= 4096; align *= 2) {
		for (uint32_t i = 0; i < 8 * 3 * 3 * 2; i++) {
			struct pfs_config config;
			pfs_config_init(&config);
			config.record_align_bytes = align;
			config.record_size_bytes = sizes[i / 18];
			config.page_records = counts[i / 6 % 3];
			config.layout = PFS_LAYOUT_BARE;
			config.bare_words = i % 2 != 0;
			config.tag_bytes = i / 2 % 3 * 4;
			config.source = i % 4 < 2 ? &source : NULL;
			PFS_CHECK_IS(pfs_config_check(&config, NULL), PFS_OK);
			check_page(&config);
		}
	}
}

/* Each record has its bytes and its tag for itself. */
static void bytes_and_tags(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at, PAGES, SLOTS);
	it.config.tag_bytes = 4;
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	PFS_CHECK(pfs_allocate(it.thread).record == NULL);
	PFS_CHECK_IS(pfs_thread_status(it.thread), PFS_FULL);
	for (uint32_t i = 0; i < CAPACITY; i++) {
		PFS_CHECK_IS(*(uint32_t *)pfs_tag(it.thread, it.records[i]), 0);
		*(uint32_t *)pfs_tag(it.thread, it.records[i]) = i;
		memset(it.records[i], (int)(i % 251), 8);
	}
	for (uint32_t i = 0; i < CAPACITY; i++) {
		PFS_CHECK_IS(*(uint32_t *)pfs_tag(it.thread, it.records[i]), i);
		for (uint32_t byte = 0; byte < 8; byte++)
			PFS_CHECK_IS(((unsigned char *)it.records[i])[byte], i % 251);
	}
	PFS_CHECK_IS(pfs_counts_of(it.container).needless_growths, 0);
	pfs_fixture_empty(&it, 0, CAPACITY);
	pfs_fixture_fill(&it, CAPACITY);
	pfs_fixture_empty(&it, 0, CAPACITY);
	PFS_CHECK_IS(pfs_reclaim_trim(it.thread), PAGES);
	PFS_CHECK_IS(pfs_fixture_pages(&it), 0);
	PFS_CHECK(pfs_allocate_existing(it.thread).record == NULL);
	PFS_CHECK_IS(pfs_fixture_pages(&it), 0);
	pfs_fixture_fill(&it, 1);
	struct pfs_claim claim = pfs_allocate_existing(it.thread);
	PFS_CHECK(claim.record != NULL);
	pfs_abandon(it.thread, claim);
	PFS_CHECK_IS(pfs_fixture_pages(&it), 1);
	pfs_fixture_empty(&it, 0, CAPACITY);
	pfs_fixture_tear_down(&it);
}

static void no_tags_unless_asked_for(const struct pfs_case *at)
{
	struct pfs_fixture it;
	set_up(&it, at);
	void *record = pfs_allocate_or_fail(it.thread);
	PFS_CHECK(pfs_tag(it.thread, record) == NULL);
	pfs_free(it.thread, record);
	pfs_fixture_tear_down(&it);
}

static uint32_t walk_count(struct pfs_thread *thread)
{
	struct pfs_walk walk;
	uint32_t count = 0;
	pfs_walk_begin(&walk, thread, PFS_WALK_LIVE);
	while (pfs_walk_next(&walk) != NULL)
		count++;
	pfs_walk_end(&walk);
	return count;
}

static void calls_that_need_words(const struct pfs_case *at)
{
	struct pfs_fixture it;
	set_up(&it, at);
	pfs_fixture_fill(&it, SLOTS + 3);
	bool words = has_words(at);
	for (uint32_t i = 0; i < SLOTS + 3; i++) {
		void *record = it.records[i];
		if (record == NULL)
			continue;
		struct pfs_reference reference = pfs_reference_of(it.thread, record);
		PFS_CHECK_IS(pfs_version(record), words);
		PFS_CHECK_IS(pfs_read_end(record, pfs_read_begin(record)), words);
		PFS_CHECK_IS(reference.index, words ? i : PFS_INDEX_NONE);
		void *found = pfs_lookup_reference(it.thread, reference, NULL);
		PFS_CHECK(found == (words ? record : NULL));
		PFS_CHECK(pfs_lookup(it.thread, i) == record);
		struct pfs_claim claim = pfs_reopen(it.thread, record);
		PFS_CHECK(claim.record == record);
		PFS_CHECK(pfs_lookup(it.thread, i) == (words ? NULL : record));
		pfs_publish(it.thread, claim);
	}
	PFS_CHECK_IS(walk_count(it.thread), SLOTS + 3);
	PFS_CHECK_IS(pfs_container_live(it.container), SLOTS + 3);
	pfs_fixture_empty(&it, 0, CAPACITY);
	(void)pfs_reclaim_pass(it.thread); /* rings into the bits */
	PFS_CHECK_IS(walk_count(it.thread), 0);
	PFS_CHECK_IS(pfs_container_live(it.container), 0);
	pfs_fixture_tear_down(&it);
}

static void any_byte_of_a_record(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at, PAGES, SLOTS);
	it.config.record_size_bytes = 12; /* of 16 */
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	for (uint32_t i = 0; i < CAPACITY; i++) {
		char *record = it.records[i];
		for (uint32_t byte = 0; byte < 16; byte++) {
			PFS_CHECK(pfs_lookup_address(it.thread, record + byte) ==
				  (byte < 12 ? record : NULL));
			PFS_CHECK_IS(pfs_owns(it.thread, record + byte), byte == 0);
		}
		PFS_CHECK(pfs_container_of(record) == it.container);
		PFS_CHECK_IS(pfs_index(it.thread, record), i);
	}
	PFS_CHECK(!pfs_owns(it.thread, NULL) && !pfs_owns(it.thread, &it));
	pfs_fixture_empty(&it, 0, CAPACITY);
	(void)pfs_reclaim_pass(it.thread); /* rings into the bits */
	PFS_CHECK(!pfs_owns(it.thread, pfs_page_record(pfs_container_page(it.container, 0), 0)));
	pfs_fixture_tear_down(&it);
}

/* A second free is caught by the bit, or, in a policy with rings, when both frees reach the
 * words. */
static void free_twice(const struct pfs_case *at)
{
	struct pfs_fixture it;
	set_up(&it, at);
	void *record = pfs_allocate_or_fail(it.thread);
	pfs_free(it.thread, record);
	pfs_free(it.thread, record);
	(void)pfs_reclaim_trim(it.thread);
}

static void many_at_a_time(const struct pfs_case *at)
{
	struct pfs_fixture it;
	struct pfs_claim claims[CAPACITY + 1];
	void *records[CAPACITY];
	set_up(&it, at);
	for (uint32_t turn = 0; turn < 3; turn++) {
		PFS_CHECK_IS(pfs_allocate_many(it.thread, claims, CAPACITY + 1), CAPACITY);
		pfs_publish_many(it.thread, claims, CAPACITY);
		for (uint32_t i = 0; i < CAPACITY; i++)
			records[i * 101 % CAPACITY] = claims[i].record;
		PFS_CHECK_IS(pfs_container_live(it.container), CAPACITY);
		pfs_free_many(it.thread, records, CAPACITY);
		/* A record in a ring is free, though its bit is not set. */
		(void)pfs_reclaim_trim(it.thread);
		PFS_CHECK_IS(pfs_container_live(it.container), 0);
	}
	pfs_fixture_tear_down(&it);
}

/* The ring takes the first records. Those beyond its room go to the words, so both frees of the
 * last record meet there. */
static void free_twice_in_a_batch(const struct pfs_case *at)
{
	struct pfs_fixture it;
	struct pfs_claim claims[CAPACITY];
	void *records[CAPACITY + 1];
	set_up(&it, at);
	PFS_CHECK_IS(pfs_allocate_many(it.thread, claims, CAPACITY), CAPACITY);
	pfs_publish_many(it.thread, claims, CAPACITY);
	for (uint32_t i = 0; i < CAPACITY; i++)
		records[i] = claims[i].record;
	records[CAPACITY] = records[CAPACITY - 1];
	pfs_free_many(it.thread, records, CAPACITY + 1);
}

static void free_of_an_inner_pointer(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at, PAGES, SLOTS);
	it.config.record_size_bytes = 24;
	pfs_fixture_set_up(&it);
	pfs_free(it.thread, (char *)pfs_allocate_or_fail(it.thread) + 8);
}

static void free_by_another_container(const struct pfs_case *at)
{
	struct pfs_fixture it, other;
	set_up(&it, at);
	set_up(&other, at);
	pfs_free(it.thread, pfs_allocate_or_fail(other.thread));
}

static void refusal(const struct pfs_variant *variant, const struct pfs_config *config,
		    const char *text)
{
	struct pfs_container *container = NULL;
	struct pfs_message message = { "" };
	PFS_CHECK_IS(pfs_container_create(variant, config, &container, &message), PFS_BAD_CONFIG);
	PFS_CHECK(container == NULL);
	if (strstr(message.text, text) == NULL)
		pfs_check_failed(__FILE__, __LINE__, message.text, 0, 1);
}

static void headers_are_kept(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	config.layout = PFS_LAYOUT_BARE;
	refusal(at->variant, &config, "layout bare: policy ");
}

static void what_goes_with_bare_alone(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	config.bare_words = true;
	refusal(at->variant, &config, "bare_words: only with layout bare");
	config = pfs_case_config(at);
	config.tag_bytes = 8;
	refusal(at->variant, &config, "tag_bytes: only with layout bare");
	config.layout = PFS_LAYOUT_BARE;
	config.tag_bytes = 3;
	refusal(at->variant, &config, "tag_bytes 3: must be 0, 4 or 8");
}

/* From one record per page to the most, from the smallest record to some KiB. */
static void every_size_of_page(const struct pfs_case *at)
{
	static const uint32_t counts[] = { 1, 31, 32, 33, 65536 };
	static const uint32_t sizes[] = { 8, 24, 4096 };
	for (uint32_t i = 0; i < 5 * 3; i++) {
		struct pfs_fixture it;
		uint32_t records = counts[i / 3];
		if (records == 65536 && sizes[i % 3] == 4096)
			continue;
		prepare(&it, at, 2, records);
		it.config.record_size_bytes = sizes[i % 3];
		it.config.source = NULL;
		pfs_fixture_set_up(&it);
		pfs_fixture_fill(&it, 2 * records);
		PFS_CHECK(pfs_allocate(it.thread).record == NULL);
		PFS_CHECK(pfs_lookup(it.thread, 2 * (uint64_t)records - 1) ==
			  it.records[2 * records - 1]);
		PFS_CHECK_IS(pfs_index(it.thread, it.records[records]), records);
		pfs_fixture_empty(&it, 0, 2 * records);
		PFS_CHECK_IS(pfs_reclaim_trim(it.thread), 2);
		pfs_fixture_tear_down(&it);
	}
}

static void large_pages(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at, 2, 65536);
	it.config.source = NULL;
	it.config.record_size_bytes = 32;
	it.config.huge_pages = PFS_HUGE_ADVISE;
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, 1);
	uint32_t i = 0;
	while (it.records[i] == NULL)
		i++;
	PFS_CHECK_IS((uintptr_t)pfs_page_map_find(it.records[i]) != 0, 1);
	char *first = pfs_page_record(pfs_container_page(it.container, i / 65536), 0);
	PFS_CHECK_IS((uintptr_t)first % (2 << 20), 0);
	pfs_fixture_empty(&it, 0, 2 * 65536);
	pfs_fixture_tear_down(&it);
	struct pfs_config config = pfs_case_config(at);
	struct pfs_memory_source own = { .align_bytes = 0 };
	config.huge_pages = PFS_HUGE_ADVISE;
	config.source = &own;
	refusal(at->variant, &config, "huge_pages: only with the default source");
}

/* Records are held by one thread at a time, while pages come and go. */
static void hold_and_release(void *opaque, uint32_t index)
{
	struct pfs_fixture *it = opaque;
	struct pfs_thread *thread = pfs_attach_or_fail(it->container);
	uint64_t *held[CAPACITY / CROWD];
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t count = 0;
		uint32_t wanted = (round * 7 + index) % (CAPACITY / CROWD) + 1;
		while (count < wanted) {
			struct pfs_claim claim = pfs_allocate(thread);
			if (claim.record == NULL)
				break;
			held[count] = claim.record;
			*held[count] = (uint64_t)index << 32 | round;
			PFS_CHECK(pfs_owns(thread, claim.record) == !it->config.bare_words);
			pfs_publish(thread, claim);
			PFS_CHECK(pfs_owns(thread, held[count]));
			count++;
		}
		PFS_CHECK_IS(count, wanted); /* the others hold less than there are */
		for (uint32_t i = 0; i < count; i++) {
			PFS_CHECK_IS(*held[i], (uint64_t)index << 32 | round);
			pfs_free(thread, held[i]);
		}
		if (round % 16 == index)
			(void)pfs_reclaim_trim(thread);
	}
	pfs_thread_detach(thread);
}

static void threads_share_pages(const struct pfs_case *at)
{
	struct pfs_fixture it;
	set_up(&it, at);
	pfs_run_threads(CROWD, hold_and_release, &it);
	PFS_CHECK_IS(pfs_counts_of(it.container).lost, 0);
	(void)pfs_reclaim_trim(it.thread);
	PFS_CHECK_IS(pfs_fixture_pages(&it), 0);
	pfs_fixture_tear_down(&it);
}

#define EACH(title, function)                                                              \
	{                                                                                  \
		.name = (title), .run = (function), .each = true, .traits = PFS_TRAIT_BARE \
	}
#define DIES(title, function, text)                                                         \
	{                                                                                   \
		.name = (title), .run = (function), .each = true, .traits = PFS_TRAIT_BARE, \
		.dies_with = (text)                                                         \
	}

static const struct pfs_test tests[] = {
	{ .name = "bare: page shapes", .run = page_shapes },
	EACH("pages are their records", pages_are_their_records),
	EACH("bytes and tags", bytes_and_tags),
	EACH("no tags unless asked for", no_tags_unless_asked_for),
	EACH("calls that need words", calls_that_need_words),
	EACH("any byte of a record", any_byte_of_a_record),
	DIES("free twice", free_twice, "pfslab: free: "),
	EACH("many at a time", many_at_a_time),
	DIES("free twice in a batch", free_twice_in_a_batch, "pfslab: free: "),
	DIES("free of an inner pointer", free_of_an_inner_pointer, "not to its first byte"),
	DIES("free by another container", free_by_another_container,
	     "in no page of the handle's container"),
	{ .name = "headers are kept",
	  .run = headers_are_kept,
	  .each = true,
	  .without = PFS_TRAIT_BARE },
	EACH("what goes with bare alone", what_goes_with_bare_alone),
	EACH("every size of page", every_size_of_page),
	EACH("large pages", large_pages),
	{ .name = "threads share pages",
	  .run = threads_share_pages,
	  .each = true,
	  .traits = PFS_TRAIT_BARE,
	  .threads = true },
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
