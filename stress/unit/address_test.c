/*
 * address_test.c - from any pointer to its record: the page map, the slot by a multiplication,
 * pfs_owns, and look-ups with pointers that belong to no record.
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "containers/container.h"
#include "stress/harness/fixture.h"

#define PAGES 6u
#define SLOTS 9u
#define ROUNDS (PFS_SHORT ? 150u : 1500u)
#define UNITS_MAX ((UINT64_C(1) << 30) / 8) /* of 8 bytes; a page has no more */

/* Slots are never smaller for a larger distance, so the ends of each slot decide. */
static void check_stride(uint32_t stride)
{
	struct pfs_config config;
	pfs_config_init(&config);
	config.layout = PFS_LAYOUT_BARE;
	config.record_align_bytes = 8;
	config.record_size_bytes = stride;
	config.page_records = 1;
	struct pfs_page_shape shape = pfs_page_shape_of(&config, 0);
	PFS_CHECK_IS(shape.record_stride, stride);
	uint64_t units = stride / 8;
	for (uint64_t slot = 0, at = 0; at < UNITS_MAX; slot++, at += units) {
		uint64_t last = at + units - 1;
		if (pfs_page_slot_at(&shape, at * 8) != slot ||
		    (last < UNITS_MAX && pfs_page_slot_at(&shape, last * 8 + 7) != slot))
			PFS_CHECK_IS(pfs_page_slot_at(&shape, at * 8), stride);
	}
}

/* Every stride up to 64 KiB, to the end of the largest page and beyond. */
static void slots_by_a_product(const struct pfs_case *at)
{
	(void)at;
	uint32_t step = PFS_UNDER_TSAN ? 8 * 97 : 8;
	for (uint32_t stride = 8; stride <= 65536; stride += step)
		check_stride(stride);
	for (uint32_t stride = 65544; stride <= (1u << 20) + 16; stride += 8 * 31)
		check_stride(stride);
}

static void the_map_by_itself(const struct pfs_case *at)
{
	/* Beyond the end of a leaf, at addresses that no page has: nothing is read there. */
	const size_t leaf = (size_t)1 << (PFS_LEAF_BITS + PFS_GRANULE_BITS);
	char *block = (char *)(77 * leaf - 3 * PFS_GRANULE_BYTES);
	int owner;
	(void)at;
	PFS_CHECK(pfs_page_map_find(block) == NULL);
	PFS_CHECK(pfs_page_map_reserve(block, 5 * PFS_GRANULE_BYTES));
	PFS_CHECK(pfs_page_map_reserve(block, 5 * PFS_GRANULE_BYTES));
	PFS_CHECK(pfs_page_map_find(block) == NULL);
	pfs_page_map_set(block, 5 * PFS_GRANULE_BYTES, &owner);
	for (size_t byte = 0; byte < 5 * PFS_GRANULE_BYTES; byte += 511)
		PFS_CHECK(pfs_page_map_find(block + byte) == &owner);
	PFS_CHECK(pfs_page_map_find(block - 1) == NULL);
	PFS_CHECK(pfs_page_map_find(block + 5 * PFS_GRANULE_BYTES) == NULL);
	pfs_page_map_set(block, 5 * PFS_GRANULE_BYTES, NULL);
	PFS_CHECK(pfs_page_map_find(block) == NULL);
	PFS_CHECK(!pfs_page_map_reserve((void *)(UINT64_C(1) << 48), PFS_GRANULE_BYTES));
	PFS_CHECK(!pfs_page_map_reserve((void *)((UINT64_C(1) << 48) - 4096), 8192));
	PFS_CHECK(pfs_page_map_find((void *)UINTPTR_MAX) == NULL);
	PFS_CHECK(pfs_page_map_find((void *)(UINT64_C(1) << 48)) == NULL);
	pfs_page_map_forget();
	PFS_CHECK(pfs_page_map_find(block) == NULL);
}

static uint32_t resident_os_pages(struct pfs_page_map_leaf *leaf)
{
	unsigned char present[sizeof(*leaf) / 4096 + 1];
	uint32_t count = 0;
	PFS_CHECK_IS(mincore((void *)leaf, sizeof(*leaf), present), 0);
	for (size_t i = 0; i < sizeof(present); i++)
		count += present[i] & 1;
	return count;
}

/* A leaf covers 1 GiB of addresses and takes 2 MiB of address space. Apart from its last page,
 * which holds its own fields, only parts with entries are resident. */
static void nothing_resident_where_nothing_is(const struct pfs_case *at)
{
	char *block = (char *)(UINT64_C(1000) << 30);
	int owner;
	(void)at;
	PFS_CHECK(pfs_page_map_reserve(block, PFS_GRANULE_BYTES));
	struct pfs_page_map_leaf *leaf = pfs_page_map_leaf_of((uintptr_t)block);
	PFS_CHECK_IS(resident_os_pages(leaf), 1);
	pfs_page_map_set(block, PFS_GRANULE_BYTES, &owner);
	PFS_CHECK_IS(resident_os_pages(leaf), 2);
	pfs_page_map_forget();
}

/* Of fill(1): the one record, wherever the policy took it. */
static void *only_record(const struct pfs_fixture *self)
{
	uint32_t i = 0;
	while (self->records[i] == NULL)
		i++;
	return self->records[i];
}

/* Pointers that are no record's of the container. */
static void check_hostile(struct pfs_thread *thread, const void *pointer)
{
	PFS_CHECK(!pfs_owns(thread, pointer));
	PFS_CHECK(pfs_lookup_address(thread, pointer) == NULL);
}

static void any_byte_of_a_record(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_prepare(&it, at, PAGES, SLOTS);
	it.config.record_size_bytes = 40;
	it.config.record_align_bytes = 32;
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, PAGES * SLOTS);
	for (uint32_t i = 0; i < PAGES * SLOTS; i++) {
		char *record = it.records[i];
		for (int byte = -64; byte < 40 + 64; byte++) {
			char *found = pfs_lookup_address(it.thread, record + byte);
			PFS_CHECK_IS(found == record, byte >= 0 && byte < 40);
			PFS_CHECK(found == NULL ||
				  (found <= record + byte && record + byte < found + 40));
			PFS_CHECK_IS(pfs_owns(it.thread, record + byte),
				     found != NULL && found == record + byte);
		}
		PFS_CHECK(pfs_container_of(record) == it.container);
	}
	pfs_fixture_empty(&it, 0, PAGES * SLOTS);
	pfs_fixture_tear_down(&it);
}

static void records_that_are_not_live(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	struct pfs_claim claim = pfs_allocate(it.thread);
	check_hostile(it.thread, claim.record); /* DIRTY */
	pfs_publish(it.thread, claim);
	PFS_CHECK(pfs_owns(it.thread, claim.record));
	pfs_free(it.thread, claim.record);
	check_hostile(it.thread, claim.record);
	pfs_fixture_tear_down(&it);
}

static void hostile_pointers(const struct pfs_case *at)
{
	struct pfs_fixture it, other;
	char *heap = malloc(1 << 20);
	char *page = mmap(NULL, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *gone = mmap(NULL, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	PFS_CHECK(heap != NULL && page != MAP_FAILED && gone != MAP_FAILED);
	PFS_CHECK_IS(munmap(gone, 1 << 16), 0);
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	pfs_fixture_start(&other, at, PAGES, SLOTS);
	void *theirs = pfs_allocate_or_fail(other.thread);
	/* clang-format off */
	const void *pointers[] = {
		NULL, (void *)1, &it, heap, heap + 4096, page, page + 4096, gone, gone + 64,
		(void *)UINTPTR_MAX, (void *)(UINTPTR_MAX / 2), (void *)(UINT64_C(1) << 47),
		(void *)(UINT64_C(1) << 48), (void *)(uintptr_t)hostile_pointers,
		theirs, other.container, it.container, it.thread
	};
	/* clang-format on */
	for (uint32_t round = 0; round < 2; round++) { /* without a page, and with one */
		for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++)
			check_hostile(it.thread, pointers[i]);
		pfs_fixture_fill(&it, SLOTS);
		PFS_CHECK(pfs_owns(other.thread, theirs));
		check_hostile(other.thread, it.records[0]);
		pfs_fixture_empty(&it, 0, PAGES * SLOTS);
	}
	pfs_free(other.thread, theirs);
	pfs_fixture_tear_down(&it);
	pfs_fixture_tear_down(&other);
	free(heap);
	PFS_CHECK_IS(munmap(page, 1 << 16), 0);
}

/* A source that checks, when it gets a block back, that the page map no longer has it. A late
 * clearing would remove the entries of the next mapping at these addresses. */
static struct pfs_memory_source *inner;

static void *map_inner(void *context, size_t size_bytes, enum pfs_memory memory,
		       uint32_t node_wanted, uint32_t *node_got)
{
	(void)context;
	return inner->map(inner->context, size_bytes, memory, node_wanted, node_got);
}

static void unmap_forgotten(void *context, void *block, size_t size_bytes)
{
	(void)context;
	for (size_t at = 0; at < size_bytes; at += PFS_GRANULE_BYTES)
		PFS_CHECK(pfs_page_map_find((char *)block + at) == NULL);
	inner->unmap(inner->context, block, size_bytes);
}

static void the_map_forgets_before_the_source_has_it(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_prepare(&it, at, PAGES, SLOTS);
	struct pfs_memory_source source = it.source.source;
	inner = &it.source.source;
	source.map = map_inner;
	source.unmap = unmap_forgotten;
	it.config.source = &source;
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, PAGES * SLOTS);
	pfs_fixture_empty(&it, 0, PAGES * SLOTS);
	PFS_CHECK_IS(pfs_reclaim_trim(it.thread), PAGES);
	pfs_fixture_fill(&it, SLOTS);
	pfs_fixture_empty(&it, 0, PAGES * SLOTS);
	pfs_fixture_tear_down(&it); /* its pages come back, too */
}

static void pages_that_went(const struct pfs_case *at)
{
	struct pfs_fixture it;
	void *records[PAGES * SLOTS];
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	struct pfs_thread *reader = pfs_attach_or_fail(it.container);
	pfs_fixture_fill(&it, PAGES * SLOTS);
	memcpy(records, it.records, sizeof(records));
	pfs_fixture_empty(&it, 0, PAGES * SLOTS);
	pfs_enter(reader);
	(void)pfs_reclaim_trim(it.thread); /* unlinked, and still mapped */
	for (uint32_t i = 0; i < PAGES * SLOTS; i++)
		check_hostile(reader, records[i]);
	pfs_leave(reader);
	PFS_CHECK_IS(pfs_reclaim_trim(it.thread), PAGES);
	for (uint32_t i = 0; i < PAGES * SLOTS; i++) {
		check_hostile(it.thread, records[i]);
		PFS_CHECK(pfs_container_of(records[i]) == NULL);
	}
	pfs_fixture_fill(&it, 1); /* at an index that was used, perhaps elsewhere */
	PFS_CHECK(pfs_owns(it.thread, only_record(&it)));
	pfs_fixture_empty(&it, 0, PAGES * SLOTS);
	pfs_thread_detach(reader);
	pfs_fixture_tear_down(&it);
}

/* After a container is destroyed, its addresses belong to no container. */
static void containers_that_went(const struct pfs_case *at)
{
	struct pfs_fixture it, other;
	pfs_fixture_start(&other, at, PAGES, SLOTS);
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	pfs_fixture_fill(&it, 1);
	void *record = only_record(&it);
	PFS_CHECK(pfs_container_of(record) == it.container);
	pfs_fixture_tear_down(&it);
	PFS_CHECK(pfs_container_of(record) == NULL);
	check_hostile(other.thread, record);
	pfs_fixture_tear_down(&other);
}

static void a_child_has_the_map(const struct pfs_case *at)
{
	struct pfs_fixture it;
	int status = 1;
	pfs_fixture_start(&it, at, PAGES, SLOTS);
	pfs_fixture_fill(&it, SLOTS);
	pid_t child = fork();
	PFS_CHECK(child >= 0);
	if (child == 0) {
		PFS_CHECK(pfs_owns(it.thread, it.records[0]));
		pfs_fixture_fill(&it, 2 * SLOTS);
		PFS_CHECK(pfs_owns(it.thread, it.records[3 * SLOTS - 1]));
		pfs_fixture_empty(&it, 0, PAGES * SLOTS);
		pfs_fixture_tear_down(&it);
		_exit(0);
	}
	PFS_CHECK_IS(waitpid(child, &status, 0), child);
	PFS_CHECK_IS(status, 0);
	PFS_CHECK(pfs_owns(it.thread, it.records[0]));
	pfs_fixture_empty(&it, 0, PAGES * SLOTS);
	pfs_fixture_tear_down(&it);
}

/*
 * Pages of two containers come and go on one heap, so an address belongs to one container and then
 * to the other. Readers of both look up the addresses that they saw. Threads 0 and 1 churn a
 * container each; threads 2 and 3 look up.
 */
struct coming_and_going {
	struct pfs_fixture fixtures[2];
	_Atomic(void *) seen[2][PAGES * SLOTS];
	atomic_uint done;
};

static void churn(struct coming_and_going *self, uint32_t which)
{
	struct pfs_thread *thread = pfs_attach_or_fail(self->fixtures[which].container);
	void *records[PAGES * SLOTS];
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t count = (round % PAGES + 1) * SLOTS;
		for (uint32_t i = 0; i < count; i++) {
			records[i] = pfs_allocate_or_fail(thread);
			atomic_store_explicit(&self->seen[which][i], records[i],
					      memory_order_relaxed);
		}
		for (uint32_t i = 0; i < count; i++) {
			PFS_CHECK(pfs_owns(thread, records[i]));
			PFS_CHECK(pfs_lookup_address(thread, (char *)records[i] + 47) ==
				  records[i]);
			PFS_CHECK(pfs_container_of(records[i]) == self->fixtures[which].container);
			pfs_free(thread, records[i]);
		}
		(void)pfs_reclaim_trim(thread);
	}
	pfs_thread_detach(thread);
	atomic_fetch_add(&self->done, 1);
}

static void ask(struct coming_and_going *self, uint32_t which)
{
	struct pfs_thread *thread = pfs_attach_or_fail(self->fixtures[which].container);
	uint32_t turn = which;
	while (atomic_load(&self->done) < 2) {
		turn++;
		char *pointer = atomic_load_explicit(
			&self->seen[turn % 2][turn / 2 % (PAGES * SLOTS)], memory_order_relaxed);
		if (pointer == NULL)
			continue;
		char *found = pfs_lookup_address(thread, pointer + turn % 64);
		PFS_CHECK(found == NULL ||
			  (found <= pointer + turn % 64 && pointer + turn % 64 < found + 48));
		(void)pfs_owns(thread, pointer);
	}
	pfs_thread_detach(thread);
}

static void one_of_four(void *opaque, uint32_t index)
{
	if (index < 2)
		churn(opaque, index);
	else
		ask(opaque, index - 2);
}

static void while_pages_come_and_go(const struct pfs_case *at)
{
	struct coming_and_going *self = calloc(1, sizeof(*self));
	PFS_CHECK(self != NULL);
	for (uint32_t i = 0; i < 2; i++) {
		pfs_fixture_prepare(&self->fixtures[i], at, PAGES, SLOTS);
		pfs_fixture_set_up(&self->fixtures[i]);
	}
	pfs_run_threads(4, one_of_four, self);
	for (uint32_t i = 0; i < 2; i++)
		pfs_fixture_tear_down(&self->fixtures[i]);
	free(self);
}

#define EACH(title, function, needs)                                                \
	{                                                                           \
		.name = (title), .run = (function), .each = true, .traits = (needs) \
	}

static const struct pfs_test tests[] = {
	{ .name = "slots by a product", .run = slots_by_a_product },
	{ .name = "the map by itself", .run = the_map_by_itself },
	{ .name = "nothing resident where nothing is", .run = nothing_resident_where_nothing_is },
	EACH("any byte of a record", any_byte_of_a_record, PFS_TRAIT_INDEX),
	EACH("records that are not live", records_that_are_not_live, PFS_TRAIT_INDEX),
	EACH("hostile pointers", hostile_pointers, PFS_TRAIT_INDEX),
	EACH("the map forgets before the source has it", the_map_forgets_before_the_source_has_it,
	     PFS_TRAIT_INDEX | PFS_TRAIT_RECLAIM),
	EACH("pages that went", pages_that_went, PFS_TRAIT_INDEX | PFS_TRAIT_RECLAIM),
	EACH("containers that went", containers_that_went, PFS_TRAIT_INDEX),
	EACH("a child has the map", a_child_has_the_map, PFS_TRAIT_INDEX),
	{ .name = "while pages come and go",
	  .run = while_pages_come_and_go,
	  .each = true,
	  .traits = PFS_TRAIT_INDEX | PFS_TRAIT_RECLAIM,
	  .threads = true },
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
