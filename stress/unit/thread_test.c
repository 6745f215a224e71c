/*
 * thread_test.c - threads come and go, containers live side by side, partitions.
 */
#include <pfslab/partitioned.h>
#include <stdlib.h>
#include <string.h>

#include "containers/container.h"
#include "stress/harness/harness.h"
#include "stress/harness/source.h"

#define ALL (PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_BOUNDED)
#define TOGETHER 8u
#define COMINGS 125u /* times TOGETHER: 1000 threads */

struct coming {
	struct pfs_container *container;
};

/* Attach, use records, detach; handles of other threads are reused. */
static void come_and_go(void *context, uint32_t index)
{
	struct coming *self = context;
	struct pfs_thread *thread = pfs_attach_or_fail(self->container);
	uint64_t *records[4];
	for (uint32_t i = 0; i < 4; i++) {
		records[i] = pfs_allocate_or_fail(thread);
		*records[i] = (uint64_t)index << 32 | i;
	}
	for (uint32_t i = 0; i < 4; i++) {
		PFS_CHECK_IS(*records[i], (uint64_t)index << 32 | i);
		pfs_free(thread, records[i]);
	}
	pfs_thread_detach(thread);
}

static void a_thousand_threads(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	config.page_records = 16;
	config.page_max = 16;
	struct coming self = { pfs_case_create(at, &config) };
	for (uint32_t round = 0; round < COMINGS; round++)
		pfs_run_threads(TOGETHER, come_and_go, &self);
	PFS_CHECK(self.container->thread_count >= 1);
	PFS_CHECK(self.container->thread_count <= TOGETHER);
	PFS_CHECK_IS(pfs_counts_of(self.container).lost, 0);
	pfs_container_destroy(self.container);
}

static void a_handle_is_used_again(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	config.page_max = 0; /* so that an allocation is refused */
	struct pfs_container *container = pfs_case_create(at, &config);
	struct pfs_thread *first = pfs_attach_or_fail(container);
	struct pfs_thread *second = pfs_attach_or_fail(container);
	PFS_CHECK(first != second);
	struct pfs_claim claim = pfs_allocate(first);
	if (claim.record != NULL) /* malloc knows no bound */
		pfs_abandon(first, claim);
	pfs_thread_detach(first);
	PFS_CHECK(pfs_attach_or_fail(container) == first);
	PFS_CHECK_IS(pfs_thread_status(first), PFS_OK);
	uint64_t lost = (pfs_variant_traits(at->variant) & PFS_TRAIT_BOUNDED) != 0;
	PFS_CHECK_IS(pfs_counts_of(container).lost, lost); /* kept by the handle */
	pfs_thread_detach(first);
	pfs_thread_detach(second);
	pfs_container_destroy(container);
}

static void detach_twice(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct pfs_thread *thread = pfs_attach_or_fail(pfs_case_create(at, &config));
	pfs_thread_detach(thread);
	pfs_thread_detach(thread);
}

static void detach_inside_a_section(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct pfs_thread *thread = pfs_attach_or_fail(pfs_case_create(at, &config));
	pfs_enter(thread);
	pfs_thread_detach(thread);
}

static void leave_without_enter(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct pfs_thread *thread = pfs_attach_or_fail(pfs_case_create(at, &config));
	pfs_enter(thread);
	pfs_enter(thread);
	pfs_leave(thread);
	pfs_leave(thread);
	pfs_leave(thread);
}

/* Containers of all policies at the same time, in different shapes; none takes another's records
 * for its own. */
static void side_by_side(const struct pfs_case *at)
{
	struct pfs_container *containers[16];
	struct pfs_thread *threads[16];
	void *records[16];
	const struct pfs_variant *variant;
	uint32_t count = 0;
	for (size_t i = 0; (variant = pfs_variant_at(i)) != NULL && count < 16; i++) {
		if ((pfs_variant_traits(variant) & ALL) != ALL)
			continue;
		struct pfs_case here = { variant, (enum pfs_layout)(count % 2) };
		struct pfs_config config = pfs_case_config(&here);
		config.page_records = 3 + count;
		config.page_max = 4 + count;
		config.record_size_bytes = 8 + 8 * count;
		containers[count] = pfs_case_create(&here, &config);
		threads[count] = pfs_attach_or_fail(containers[count]);
		records[count] = pfs_allocate_or_fail(threads[count]);
		count++;
	}
	(void)at;
	PFS_CHECK(count >= 6);
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t j = 0; j < count; j++)
			PFS_CHECK_IS(pfs_owns(threads[i], records[j]), i == j);
		pfs_free(threads[i], records[i]);
		PFS_CHECK(!pfs_owns(threads[i], records[i]));
		pfs_thread_detach(threads[i]);
		pfs_container_destroy(containers[i]);
	}
}

static void check_partition(struct pfs_partitioned_thread *thread, uint32_t partition,
			    uint64_t partition_records)
{
	struct pfs_thread *own = pfs_partitioned_thread_of(thread, partition);
	void *record = pfs_allocate_or_fail(own);
	uint64_t index = pfs_partitioned_index(thread, partition, record);
	uint32_t found = 99;
	PFS_CHECK_IS(index / partition_records, partition);
	PFS_CHECK(pfs_partitioned_lookup(thread, index) == record);
	PFS_CHECK(pfs_partitioned_owns(thread, record, &found));
	PFS_CHECK_IS(found, partition);
	PFS_CHECK(pfs_partitioned_owns(thread, record, NULL));
	pfs_free(own, record);
	PFS_CHECK(pfs_partitioned_lookup(thread, index) == NULL);
	PFS_CHECK(!pfs_partitioned_owns(thread, record, &found));
}

static void partitions(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct pfs_partitioned *whole = NULL;
	struct pfs_partitioned_thread *thread = NULL;
	struct pfs_message message;
	struct pfs_counts counts;
	config.page_records = 5;
	config.page_max = 2;
	PFS_CHECK_IS(pfs_partitioned_create(at->variant, &config, 3, &whole, &message), PFS_OK);
	PFS_CHECK_IS(pfs_partitioned_attach(whole, &thread), PFS_OK);
	for (uint32_t partition = 0; partition < 3; partition++)
		check_partition(thread, partition, 10);
	PFS_CHECK(pfs_partitioned_thread_of(thread, 3) == NULL);
	PFS_CHECK_IS(pfs_partitioned_index(thread, 3, NULL), PFS_INDEX_NONE);
	PFS_CHECK(pfs_partitioned_lookup(thread, 30) == NULL); /* the real one has no check */
	PFS_CHECK(pfs_partitioned_lookup(thread, PFS_INDEX_NONE) == NULL);
	PFS_CHECK(!pfs_partitioned_owns(thread, &whole, NULL));
	/* A full partition refuses; the others have room. The bound is each partition's. */
	pfs_partitioned_enter(thread);
	pfs_partitioned_leave(thread);
	void *records[10];
	struct pfs_thread *full = pfs_partitioned_thread_of(thread, 1);
	for (uint32_t i = 0; i < 10; i++)
		records[i] = pfs_allocate_or_fail(full);
	PFS_CHECK(pfs_allocate(full).record == NULL);
	check_partition(thread, 2, 10);
	pfs_partitioned_counts(whole, &counts);
	PFS_CHECK_IS(counts.lost, 1);
	PFS_CHECK(counts.pages >= 4);
	for (uint32_t i = 0; i < 10; i++)
		pfs_free(full, records[i]);
	pfs_partitioned_detach(thread);
	pfs_partitioned_destroy(whole);
}

static void partition_counts_are_bounded(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct pfs_partitioned *whole = NULL;
	struct pfs_message message = { "" };
	PFS_CHECK_IS(pfs_partitioned_create(at->variant, &config, 0, &whole, &message),
		     PFS_BAD_CONFIG);
	PFS_CHECK(strstr(message.text, "partition_count 0") != NULL && whole == NULL);
	PFS_CHECK_IS(pfs_partitioned_create(at->variant, &config, 257, &whole, &message),
		     PFS_BAD_CONFIG);
	config.page_records = 0;
	PFS_CHECK_IS(pfs_partitioned_create(at->variant, &config, 2, &whole, &message),
		     PFS_BAD_CONFIG);
	PFS_CHECK(strstr(message.text, "page_records 0") != NULL && whole == NULL);
	pfs_partitioned_destroy(NULL);
	pfs_container_destroy(NULL);
}

/* The second partition gets no page, so the first one is destroyed, too. */
static void partitions_are_undone(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct pfs_partitioned *whole = NULL;
	struct pfs_test_source source;
	pfs_test_source_init(&source);
	pfs_test_source_refuse(&source, 0, 3);
	config.source = &source.source;
	config.page_max = 2;
	config.page_prealloc = 2;
	PFS_CHECK_IS(pfs_partitioned_create(at->variant, &config, 2, &whole, NULL), PFS_NO_MEMORY);
	PFS_CHECK(whole == NULL);
	PFS_CHECK_IS(source.mapped, 3);
	PFS_CHECK_IS(pfs_test_source_out(&source), 0);
}

static const struct pfs_test tests[] = {
	{ .name = "a thousand threads", .run = a_thousand_threads, .each = true, .threads = true },
	{ .name = "a handle is used again", .run = a_handle_is_used_again, .each = true },
	{ .name = "detach twice",
	  .run = detach_twice,
	  .each = true,
	  .dies_with = "pfslab: detach of a handle that is not attached: a bug of the caller" },
	{ .name = "detach inside a section",
	  .run = detach_inside_a_section,
	  .each = true,
	  .traits = PFS_TRAIT_RECLAIM,
	  .dies_with = "pfslab: detach inside a read section: a bug of the caller" },
	{ .name = "leave without enter",
	  .run = leave_without_enter,
	  .each = true,
	  .traits = PFS_TRAIT_RECLAIM,
	  .dies_with = "pfslab: leave without enter: a bug of the caller" },
	{ .name = "side by side", .run = side_by_side },
	{ .name = "partitions", .run = partitions, .each = true, .traits = ALL },
	{ .name = "partition counts are bounded", .run = partition_counts_are_bounded },
	{ .name = "partitions are undone",
	  .run = partitions_are_undone,
	  .each = true,
	  .traits = ALL },
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
