/*
 * read_test.c - look-ups by index, wild pointers, walks, weak references, optimistic reads.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "containers/container.h"
#include "stress/harness/harness.h"
#include "stress/harness/source.h"

#define PAGES 6u
#define SLOTS 9u
#define CAPACITY (PAGES * SLOTS)
#define INDEXED (PFS_TRAIT_WORDS | PFS_TRAIT_INDEX)
#define PINNED 20u
#define WALKS (PFS_SHORT ? 100u : 400u)

static struct pfs_config small_config(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	config.page_max = PAGES;
	config.page_records = SLOTS;
	config.reclaim.headroom_percent = 0;
	config.reclaim.spare_pages = 0;
	return config;
}

static void look_up(const struct pfs_case *at)
{
	struct pfs_config config = small_config(at);
	struct pfs_container *container = pfs_case_create(at, &config);
	struct pfs_thread *thread = pfs_attach_or_fail(container);
	void *records[CAPACITY];
	PFS_CHECK(pfs_lookup(thread, 0) == NULL);
	for (uint32_t i = 0; i < CAPACITY; i++)
		records[i] = pfs_allocate_or_fail(thread);
	for (uint32_t i = 0; i < CAPACITY; i++)
		PFS_CHECK(pfs_lookup(thread, pfs_index(thread, records[i])) == records[i]);
	PFS_CHECK(pfs_lookup(thread, CAPACITY) == NULL);
	PFS_CHECK(pfs_lookup(thread, UINT64_C(1) << 32) == NULL);
	PFS_CHECK(pfs_lookup(thread, SLOTS * (UINT64_C(1) << 32)) == NULL);
	PFS_CHECK(pfs_lookup(thread, PFS_INDEX_NONE) == NULL);
	uint64_t index = pfs_index(thread, records[11]);
	struct pfs_claim claim = pfs_reopen(thread, records[11]);
	PFS_CHECK(pfs_lookup(thread, index) == NULL); /* DIRTY */
	pfs_publish(thread, claim);
	PFS_CHECK(pfs_lookup(thread, index) == records[11]);
	for (uint32_t i = 0; i < CAPACITY; i++)
		pfs_free(thread, records[i]);
	PFS_CHECK(pfs_lookup(thread, index) == NULL);
	pfs_thread_detach(thread);
	pfs_container_destroy(container);
}

static void wild_pointers(const struct pfs_case *at)
{
	struct pfs_config config = small_config(at);
	struct pfs_container *container = pfs_case_create(at, &config);
	struct pfs_container *other = pfs_case_create(at, &config);
	struct pfs_thread *thread = pfs_attach_or_fail(container);
	struct pfs_thread *stranger = pfs_attach_or_fail(other);
	char *mine = pfs_allocate_or_fail(thread);
	char *theirs = pfs_allocate_or_fail(stranger);
	char *heap = malloc(64);

	PFS_CHECK(pfs_owns(thread, mine) && pfs_owns(stranger, theirs));
	PFS_CHECK(!pfs_owns(thread, theirs) && !pfs_owns(stranger, mine));
	PFS_CHECK(!pfs_owns(thread, NULL));
	PFS_CHECK(!pfs_owns(thread, heap) && !pfs_owns(thread, &config));
	PFS_CHECK(!pfs_owns(thread, (void *)(uintptr_t)1));
	PFS_CHECK(!pfs_owns(thread, (void *)UINTPTR_MAX));
	PFS_CHECK(!pfs_owns(thread, (void *)(UINTPTR_MAX / 2)));
	for (int offset = -256; offset <= 256; offset++)
		PFS_CHECK_IS(pfs_owns(thread, (void *)((uintptr_t)mine + (uintptr_t)offset)),
			     offset == 0);
	struct pfs_claim claim = pfs_reopen(thread, mine);
	PFS_CHECK(!pfs_owns(thread, mine)); /* DIRTY */
	pfs_publish(thread, claim);
	PFS_CHECK(pfs_owns(thread, mine));
	pfs_free(thread, mine);
	PFS_CHECK(!pfs_owns(thread, mine));
	pfs_free(stranger, theirs);
	free(heap);
	pfs_thread_detach(thread);
	pfs_thread_detach(stranger);
	pfs_container_destroy(container);
	pfs_container_destroy(other);
}

/* Counts what a walk visits, and checks that it goes up. */
static uint32_t walk_count(struct pfs_thread *thread, enum pfs_walk_kind kind)
{
	struct pfs_walk walk;
	uint64_t next = 0;
	uint32_t visited = 0;
	void *record;
	pfs_walk_begin(&walk, thread, kind);
	while ((record = pfs_walk_next(&walk)) != NULL) {
		PFS_CHECK(walk.index >= next);
		PFS_CHECK_IS(pfs_index(thread, record), walk.index);
		if (kind == PFS_WALK_LIVE) {
			PFS_CHECK(pfs_lookup(thread, walk.index) == record);
			PFS_CHECK(pfs_read_end(record, walk.glance));
		}
		next = walk.index + 1;
		visited++;
	}
	pfs_walk_end(&walk);
	return visited;
}

static void walks_at_rest(const struct pfs_case *at)
{
	struct pfs_config config = small_config(at);
	config.record_max = CAPACITY - 4;
	struct pfs_container *container = pfs_case_create(at, &config);
	struct pfs_thread *thread = pfs_attach_or_fail(container);
	void *records[CAPACITY - 4];
	PFS_CHECK_IS(walk_count(thread, PFS_WALK_LIVE), 0);
	for (uint32_t i = 0; i < CAPACITY - 4; i++)
		records[i] = pfs_allocate_or_fail(thread);
	PFS_CHECK_IS(walk_count(thread, PFS_WALK_LIVE), CAPACITY - 4);
	PFS_CHECK_IS(walk_count(thread, PFS_WALK_ALL), CAPACITY - 4);
	struct pfs_claim claim = pfs_reopen(thread, records[0]);
	pfs_free(thread, records[7]);
	pfs_free(thread, records[30]);
	PFS_CHECK_IS(walk_count(thread, PFS_WALK_LIVE), CAPACITY - 7);
	PFS_CHECK_IS(walk_count(thread, PFS_WALK_ALL), CAPACITY - 4); /* FREE and DIRTY too */
	pfs_publish(thread, claim);
	pfs_free(thread, records[0]);
	for (uint32_t i = 1; i < CAPACITY - 4; i++) {
		if (i != 7 && i != 30)
			pfs_free(thread, records[i]);
	}
	PFS_CHECK_IS(walk_count(thread, PFS_WALK_LIVE), 0);
	pfs_thread_detach(thread);
	pfs_container_destroy(container);
}

/* Two pages in the middle are given back. Look-ups, walks and pointers cope with the holes; a new
 * page at one of these indexes has higher versions. */
static void past_a_page_that_was_given_back(const struct pfs_case *at)
{
	struct pfs_config config = small_config(at);
	struct pfs_container *container = pfs_case_create(at, &config);
	struct pfs_thread *thread = pfs_attach_or_fail(container);
	void *by_index[CAPACITY];
	uint32_t versions[CAPACITY];
	for (uint32_t i = 0; i < CAPACITY; i++) {
		void *record = pfs_allocate_or_fail(thread);
		by_index[pfs_index(thread, record)] = record;
	}
	for (uint32_t i = 1; i < SLOTS; i++) { /* versions of a page may differ */
		for (uint32_t times = 0; times < i; times++)
			pfs_publish(thread, pfs_reopen(thread, by_index[SLOTS + i]));
	}
	for (uint32_t i = 0; i < CAPACITY; i++)
		versions[i] = pfs_version(by_index[i]);
	PFS_CHECK_IS(versions[2 * SLOTS - 1], SLOTS);
	for (uint32_t i = SLOTS; i < 3 * SLOTS; i++)
		pfs_free(thread, by_index[i]);
	PFS_CHECK_IS(pfs_reclaim_now(thread), 2);
	PFS_CHECK_IS(pfs_counts_of(container).pages, PAGES - 2);
	PFS_CHECK_IS(walk_count(thread, PFS_WALK_LIVE), CAPACITY - 2 * SLOTS);
	PFS_CHECK_IS(walk_count(thread, PFS_WALK_ALL), CAPACITY - 2 * SLOTS);
	PFS_CHECK(pfs_lookup(thread, SLOTS) == NULL);
	PFS_CHECK(!pfs_owns(thread, by_index[SLOTS]));
	PFS_CHECK(pfs_owns(thread, by_index[CAPACITY - 1]));
	for (uint32_t i = 0; i < 2 * SLOTS; i++) {
		void *record = pfs_allocate_or_fail(thread);
		uint64_t index = pfs_index(thread, record);
		PFS_CHECK(index >= SLOTS && index < 3 * SLOTS);   /* the index is used again */
		PFS_CHECK(pfs_version(record) > versions[index]); /* {index, version}: stale */
		by_index[index] = record;
	}
	PFS_CHECK_IS(pfs_counts_of(container).pages, PAGES);
	PFS_CHECK_IS(walk_count(thread, PFS_WALK_LIVE), CAPACITY);
	for (uint32_t i = 0; i < CAPACITY; i++)
		pfs_free(thread, by_index[i]);
	pfs_thread_detach(thread);
	pfs_container_destroy(container);
}

static void free_page(struct pfs_thread *thread, uint32_t page)
{
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		pfs_free(thread, pfs_lookup(thread, (uint64_t)page * SLOTS + slot));
}

/* A page that is unlinked while a walk is at another one waits until the walk reaches the next
 * page, not until the walk ends. */
static void a_walk_renews_its_section(const struct pfs_case *at)
{
	struct pfs_config config = small_config(at);
	struct pfs_container *container = pfs_case_create(at, &config);
	struct pfs_thread *thread = pfs_attach_or_fail(container);
	struct pfs_thread *reader = pfs_attach_or_fail(container);
	struct pfs_walk walk;
	for (uint32_t i = 0; i < 3 * SLOTS; i++)
		(void)pfs_allocate_or_fail(thread);
	pfs_walk_begin(&walk, reader, PFS_WALK_LIVE);
	PFS_CHECK(pfs_walk_next(&walk) != NULL);
	free_page(thread, 1);
	PFS_CHECK_IS(pfs_reclaim_now(thread), 0);
	PFS_CHECK_IS(pfs_counts_of(container).pages_waiting, 1);
	while (walk.index < 2 * SLOTS)
		PFS_CHECK(pfs_walk_next(&walk) != NULL);
	PFS_CHECK_IS(pfs_reclaim_now(thread), 1);
	pfs_walk_end(&walk);
	free_page(thread, 0);
	free_page(thread, 2);
	pfs_thread_detach(reader);
	pfs_thread_detach(thread);
	pfs_container_destroy(container);
}

/* One record's version has wrapped around, the others' have not: the next page at this index
 * continues after the one that wrapped. */
static void versions_that_wrapped_go_on(const struct pfs_case *at)
{
	struct pfs_config config = small_config(at);
	struct pfs_container *container = pfs_case_create(at, &config);
	struct pfs_thread *thread = pfs_attach_or_fail(container);
	void *records[SLOTS];
	container->version_bases[0] = PFS_VERSION_MASK - 2 * PFS_VERSION_ONE;
	for (uint32_t i = 0; i < SLOTS; i++)
		records[i] = pfs_allocate_or_fail(thread);
	PFS_CHECK_IS(pfs_version(records[0]), (1u << 30) - 2);
	for (uint32_t times = 0; times < 5; times++)
		pfs_publish(thread, pfs_reopen(thread, records[4]));
	PFS_CHECK_IS(pfs_version(records[4]), 3);
	for (uint32_t i = 0; i < SLOTS; i++)
		pfs_free(thread, records[i]);
	PFS_CHECK_IS(pfs_reclaim_now(thread), 1);
	void *record = pfs_allocate_or_fail(thread);
	PFS_CHECK(pfs_index(thread, record) < SLOTS);
	PFS_CHECK_IS(pfs_version(record), 5); /* base 4, published once */
	pfs_free(thread, record);
	pfs_thread_detach(thread);
	pfs_container_destroy(container);
}

/* Some records stay; threads allocate and free others, and reclaim, around the walks. */
struct around {
	struct pfs_container *container;
	uint64_t pinned[PINNED];   /* their indexes */
	_Atomic(uint32_t) churned; /* rounds */
	_Atomic(bool) enough;
};

static bool go_on(struct around *self)
{
	/* relaxed: the walks must see no order but the containers' own. */
	return !atomic_load_explicit(&self->enough, memory_order_relaxed);
}

static void churn_around(struct around *self)
{
	struct pfs_thread *thread = pfs_attach_or_fail(self->container);
	void *records[SLOTS + 4];
	while (go_on(self)) {
		uint32_t count = 0;
		for (; count < SLOTS + 4; count++) {
			struct pfs_claim claim = pfs_allocate(thread);
			if (claim.record == NULL)
				break;
			if (count % 5 == 4)
				pfs_abandon(thread, claim);
			else
				pfs_publish(thread, claim);
			records[count] = count % 5 == 4 ? NULL : claim.record;
		}
		while (count-- > 0) {
			if (records[count] != NULL)
				pfs_free(thread, records[count]);
		}
		(void)pfs_reclaim_now(thread);
		(void)atomic_fetch_add_explicit(&self->churned, 1, memory_order_relaxed);
	}
	pfs_thread_detach(thread);
}

static void walk_once(struct around *self, struct pfs_thread *thread, enum pfs_walk_kind kind)
{
	uint32_t visits[CAPACITY] = { 0 };
	struct pfs_walk walk;
	pfs_walk_begin(&walk, thread, kind);
	while (pfs_walk_next(&walk) != NULL) {
		PFS_CHECK(walk.index < CAPACITY);
		visits[walk.index]++;
	}
	pfs_walk_end(&walk);
	for (uint32_t i = 0; i < CAPACITY; i++)
		PFS_CHECK(visits[i] <= 1);
	for (uint32_t i = 0; i < PINNED; i++)
		PFS_CHECK_IS(visits[self->pinned[i]], 1);
}

static void walk_or_churn(void *context, uint32_t index)
{
	struct around *self = context;
	if (index != 0) {
		churn_around(self);
		return;
	}
	struct pfs_thread *thread = pfs_attach_or_fail(self->container);
	for (uint32_t i = 0;
	     i < WALKS || atomic_load_explicit(&self->churned, memory_order_relaxed) < WALKS; i++)
		walk_once(self, thread, i % 2 == 0 ? PFS_WALK_LIVE : PFS_WALK_ALL);
	pfs_thread_detach(thread);
	atomic_store_explicit(&self->enough, true, memory_order_relaxed);
}

static void walks_while_others_work(const struct pfs_case *at)
{
	struct pfs_test_source source;
	struct around self = { .container = NULL };
	struct pfs_config config = small_config(at);
	void *records[CAPACITY];
	pfs_test_source_init(&source);
	config.source = &source.source;
	self.container = pfs_case_create(at, &config);
	struct pfs_thread *thread = pfs_attach_or_fail(self.container);
	for (uint32_t i = 0; i < CAPACITY; i++)
		records[i] = pfs_allocate_or_fail(thread);
	/* The last two pages and two of the first stay; pages between them come and go. */
	for (uint32_t i = 0, kept = 0; i < CAPACITY; i++) {
		uint64_t index = pfs_index(thread, records[i]);
		if (index < 2 || index >= CAPACITY - 2 * SLOTS)
			self.pinned[kept++] = index;
		else
			pfs_free(thread, records[i]);
	}
	pfs_thread_detach(thread);
	pfs_run_threads(3, walk_or_churn, &self);
	pfs_container_destroy(self.container);
	PFS_CHECK_IS(pfs_test_source_out(&source), 0);
}

static void bytes_there_and_back(const struct pfs_case *at)
{
	struct pfs_config config = small_config(at);
	struct pfs_container *container = pfs_case_create(at, &config);
	struct pfs_thread *thread = pfs_attach_or_fail(container);
	char there[48], back[48];
	for (uint32_t i = 0; i < sizeof(there); i++)
		there[i] = (char)(i * 7 + 1);
	struct pfs_claim claim = pfs_allocate(thread);
	pfs_bytes_store(claim.record, there, sizeof(there));
	PFS_CHECK(!pfs_read_end(claim.record, pfs_read_begin(claim.record))); /* DIRTY */
	pfs_publish(thread, claim);
	struct pfs_glance glance = pfs_read_begin(claim.record);
	pfs_bytes_load(back, claim.record, sizeof(back));
	PFS_CHECK(pfs_read_end(claim.record, glance));
	PFS_CHECK(memcmp(there, back, sizeof(back)) == 0);
	pfs_bytes_store(claim.record, back + 8, 8); /* no more than asked */
	PFS_CHECK(memcmp((char *)claim.record + 8, there + 8, sizeof(there) - 8) == 0);
	claim = pfs_reopen(thread, claim.record);
	pfs_publish(thread, claim);
	PFS_CHECK(!pfs_read_end(claim.record, glance));
	pfs_free(thread, claim.record);
	PFS_CHECK(!pfs_read_end(claim.record, pfs_read_begin(claim.record))); /* FREE */
	pfs_thread_detach(thread);
	pfs_container_destroy(container);
}

/* One record is rewritten again and again; a confirmed read must be of a single write. */
#define CONFIRMED (PFS_SHORT ? 5000u : 50000u)
#define READERS 2u

struct rewritten {
	struct pfs_container *container;
	void *record;
	_Atomic(uint32_t) reading; /* relaxed: only to end */
};

static void read_whole(const void *record)
{
	uint64_t words[6];
	for (uint32_t confirmed = 0; confirmed < CONFIRMED;) {
		struct pfs_glance glance = pfs_read_begin(record);
		pfs_bytes_load(words, record, sizeof(words));
		if (!pfs_read_end(record, glance))
			continue;
		confirmed++;
		for (uint32_t i = 1; i < 6; i++)
			PFS_CHECK_IS(words[i], words[0] * (i + 1));
	}
}

static void read_or_write(void *context, uint32_t index)
{
	struct rewritten *self = context;
	struct pfs_thread *thread = pfs_attach_or_fail(self->container);
	uint64_t words[6];
	if (index != READERS) {
		read_whole(self->record);
		(void)atomic_fetch_sub_explicit(&self->reading, 1, memory_order_relaxed);
	}
	for (uint64_t round = 1;
	     index == READERS && atomic_load_explicit(&self->reading, memory_order_relaxed) != 0;
	     round++) {
		struct pfs_claim claim = pfs_reopen(thread, self->record);
		for (uint32_t i = 0; i < 6; i++)
			words[i] = round * (i + 1);
		pfs_bytes_store(claim.record, words, sizeof(words));
		pfs_publish(thread, claim);
	}
	pfs_thread_detach(thread);
}

static void optimistic_reads_are_whole(const struct pfs_case *at)
{
	struct pfs_config config = small_config(at);
	struct rewritten self = { .container = pfs_case_create(at, &config), .reading = READERS };
	struct pfs_thread *thread = pfs_attach_or_fail(self.container);
	const uint64_t words[6] = { 0 };
	struct pfs_claim claim = pfs_allocate(thread);
	pfs_bytes_store(claim.record, words, sizeof(words));
	pfs_publish(thread, claim);
	self.record = claim.record;
	pfs_run_threads(READERS + 1, read_or_write, &self);
	pfs_free(thread, claim.record);
	pfs_thread_detach(thread);
	pfs_container_destroy(self.container);
}

static const struct pfs_test tests[] = {
	{ .name = "look up", .run = look_up, .each = true, .traits = INDEXED },
	{ .name = "wild pointers", .run = wild_pointers, .each = true, .traits = INDEXED },
	{ .name = "walks at rest", .run = walks_at_rest, .each = true, .traits = INDEXED },
	{ .name = "past a page that was given back",
	  .run = past_a_page_that_was_given_back,
	  .each = true,
	  .traits = INDEXED | PFS_TRAIT_RECLAIM },
	{ .name = "a walk renews its section",
	  .run = a_walk_renews_its_section,
	  .each = true,
	  .traits = PFS_TRAIT_WORDS | PFS_TRAIT_RECLAIM },
	{ .name = "versions that wrapped go on",
	  .run = versions_that_wrapped_go_on,
	  .each = true,
	  .traits = INDEXED | PFS_TRAIT_RECLAIM },
	{ .name = "walks while others work",
	  .run = walks_while_others_work,
	  .each = true,
	  .threads = true,
	  .traits = INDEXED },
	{ .name = "bytes there and back",
	  .run = bytes_there_and_back,
	  .each = true,
	  .traits = INDEXED },
	{ .name = "optimistic reads are whole",
	  .run = optimistic_reads_are_whole,
	  .each = true,
	  .threads = true,
	  .traits = INDEXED },
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
