/*
 * config_test.c - every bound of the configuration, and the shape of a page for odd ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/page.h"
#include "stress/harness/harness.h"

/* One field set to one value; the line must begin with the field and the value. */
struct bound {
	const char *field;
	size_t offset, size;
	uint64_t value;
	bool fine;
};

#define BOUND(field, value, fine)                                                   \
	{                                                                           \
#field, offsetof(struct pfs_config, field),                         \
			sizeof(((struct pfs_config *)NULL)->field), (value), (fine) \
	}

static const struct bound bounds[] = {
	BOUND(record_size_bytes, 7, false),
	BOUND(record_size_bytes, 8, true),
	BOUND(record_size_bytes, (1u << 20) + 1, false),
	BOUND(record_align_bytes, 0, false),
	BOUND(record_align_bytes, 4, false),
	BOUND(record_align_bytes, 24, false),
	BOUND(record_align_bytes, 8, true),
	BOUND(record_align_bytes, 4096, true),
	BOUND(record_align_bytes, 8192, false),
	BOUND(page_records, 0, false),
	BOUND(page_records, 1, true),
	BOUND(page_records, 65536, true),
	BOUND(page_records, 65537, false),
	BOUND(page_max, 0, true),
	BOUND(page_max, 1u << 20, true),
	BOUND(page_max, (1u << 20) + 1, false),
	BOUND(page_prealloc, 256, true),
	BOUND(page_prealloc, 257, false),
	BOUND(record_max, 256 * 256, true),
	BOUND(record_max, 256 * 256 + 1, false),
	BOUND(layout, 4, false),
	BOUND(memory, 4, false),
	BOUND(reclaim.headroom_percent, 1000, true),
	BOUND(reclaim.headroom_percent, 1001, false),
	BOUND(reclaim.idle_passes, 0, false),
	BOUND(reclaim.idle_passes, 1000, true),
	BOUND(reclaim.idle_passes, 1001, false),
	BOUND(reclaim.decay_passes, 0, true),
	BOUND(reclaim.decay_passes, 1000, true),
	BOUND(reclaim.decay_passes, 1001, false),
};

static void set_field(struct pfs_config *config, const struct bound *bound)
{
	/* Little-endian or not: the field is written by its own width. */
	uint32_t narrow = (uint32_t)bound->value;
	const void *from = bound->size == sizeof(narrow) ? (const void *)&narrow
							 : (const void *)&bound->value;
	memcpy((char *)config + bound->offset, from, bound->size);
}

static void check_bound(const struct bound *bound)
{
	struct pfs_config config;
	struct pfs_message message = { "" };
	struct pfs_container *container = NULL;
	char begin[64];

	pfs_config_init(&config);
	set_field(&config, bound);
	enum pfs_status status = pfs_config_check(&config, &message);
	(void)snprintf(begin, sizeof(begin), "%s %llu: ", bound->field,
		       (unsigned long long)bound->value);
	(void)fprintf(stderr, "%s%s\n", begin, message.text);
	PFS_CHECK_IS(status, bound->fine ? PFS_OK : PFS_BAD_CONFIG);
	PFS_CHECK_IS(pfs_config_check(&config, NULL), status);
	if (bound->fine)
		return;
	PFS_CHECK(strncmp(message.text, begin, strlen(begin)) == 0);
	PFS_CHECK(strchr(message.text, '\n') == NULL);
	PFS_CHECK_IS(pfs_container_create(pfs_variant_at(0), &config, &container, &message),
		     PFS_BAD_CONFIG);
	PFS_CHECK(container == NULL);
}

static void every_bound(const struct pfs_case *at)
{
	(void)at;
	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		check_bound(&bounds[i]);
}

static void a_page_has_a_bound_too(const struct pfs_case *at)
{
	struct pfs_config config;
	struct pfs_message message = { "" };
	(void)at;
	pfs_config_init(&config);
	config.record_size_bytes = 1u << 20;
	config.page_records = 4096;
	PFS_CHECK_IS(pfs_config_check(&config, &message), PFS_BAD_CONFIG);
	PFS_CHECK(strstr(message.text, "lower page_records") != NULL);
	/* What counts is the page itself: 514 MiB are well below 1 GiB. */
	config.record_size_bytes = 8200;
	config.page_records = 65536;
	PFS_CHECK_IS(pfs_config_check(&config, &message), PFS_OK);
	config.record_size_bytes = 16384; /* 1 GiB, and a header for each record */
	PFS_CHECK_IS(pfs_config_check(&config, &message), PFS_BAD_CONFIG);
}

static void no_policy_is_refused(const struct pfs_case *at)
{
	struct pfs_config config;
	struct pfs_message message = { "" };
	struct pfs_container *container = NULL;
	(void)at;
	pfs_config_init(&config);
	PFS_CHECK(pfs_variant_find("no_such_policy") == NULL);
	PFS_CHECK_IS(pfs_container_create(NULL, &config, &container, &message), PFS_BAD_VARIANT);
	PFS_CHECK(strstr(message.text, "unknown name") != NULL);
	PFS_CHECK(strstr(message.text, "pfs_variant_at") != NULL);
}

/* What a policy cannot honour is refused, not left undone. */
static void a_period_needs_a_policy_that_reclaims(const struct pfs_case *at)
{
	struct pfs_config config = pfs_case_config(at);
	struct pfs_message message = { "" };
	struct pfs_container *container = NULL;
	config.reclaim.period_ms = 1000;
	enum pfs_status status = pfs_container_create(at->variant, &config, &container, &message);
	if ((pfs_variant_traits(at->variant) & PFS_TRAIT_RECLAIM) != 0) {
		PFS_CHECK_IS(status, PFS_OK);
		pfs_container_destroy(container);
		return;
	}
	PFS_CHECK_IS(status, PFS_BAD_CONFIG);
	PFS_CHECK(container == NULL);
	PFS_CHECK(strncmp(message.text, "reclaim.period_ms 1000: ", 24) == 0);
	PFS_CHECK(strstr(message.text, pfs_variant_name(at->variant)) != NULL);
	PFS_CHECK(strchr(message.text, '\n') == NULL);
}

static void *map_nothing(void *context, size_t size_bytes, enum pfs_memory memory,
			 uint32_t node_wanted, uint32_t *node_got)
{
	(void)context, (void)size_bytes, (void)memory, (void)node_wanted, (void)node_got;
	return NULL;
}

static void unmap_nothing(void *context, void *memory, size_t size_bytes)
{
	(void)context, (void)memory, (void)size_bytes;
}

/* The message names the request: pages in advance, or as many as a policy makes at a time. */
static void no_memory_names_what_to_lower(const struct pfs_case *at)
{
	static const struct pfs_memory_source none = { .map = map_nothing, .unmap = unmap_nothing };
	struct pfs_config config = pfs_case_config(at);
	struct pfs_message message = { "" };
	struct pfs_container *container = NULL;
	config.source = &none;
	for (uint32_t pages = 0; pages <= 3; pages += 3) {
		config.page_prealloc = pages;
		enum pfs_status status = pfs_container_create(at->variant, &config, &container,
							      &message);
		if (status == PFS_OK) { /* it has another source, or none as yet */
			pfs_container_destroy(container);
			continue;
		}
		PFS_CHECK_IS(status, PFS_NO_MEMORY);
		PFS_CHECK((strstr(message.text, "page_prealloc") != NULL) == (pages != 0));
		PFS_CHECK((strstr(message.text, "lower page_max") != NULL) == (pages == 0));
	}
}

static void a_node_that_is_not_there(const struct pfs_case *at)
{
	struct pfs_config config;
	struct pfs_message message = { "" };
	struct pfs_container *container = NULL;
	(void)at;
	pfs_config_init(&config);
	config.memory = PFS_MEMORY_NODE;
	config.memory_node = 4000;
	PFS_CHECK_IS(pfs_container_create(pfs_variant_at(0), &config, &container, &message),
		     PFS_NO_NODE);
	PFS_CHECK(container == NULL && strstr(message.text, "4000") != NULL);
}

#define LINES 2u /* of the policy */

/* Mark the bytes of a page that something uses: no byte may be used twice. */
static void mark(char *taken, const char *block, size_t block_bytes, const void *from, size_t size)
{
	size_t begin = (size_t)((const char *)from - block);
	PFS_CHECK((const char *)from >= block && begin + size <= block_bytes);
	for (size_t i = begin; i < begin + size; i++)
		PFS_CHECK(taken[i]++ == 0);
}

static void check_page(const struct pfs_config *config, uint32_t index, uint32_t slots)
{
	struct pfs_page_shape shape = pfs_page_shape_of(config, LINES);
	size_t granules = shape.granules_bytes;
	char *memory = aligned_alloc(4096, shape.granules_bytes + 8192);
	char *taken = calloc(1, shape.block_bytes);
	PFS_CHECK(memory != NULL && taken != NULL);
	char *block = memory + (config->source != NULL ? 64 : 0); /* as aligned as a source must */
	memset(block, 0, shape.block_bytes);
	struct pfs_page *page = pfs_page_make(NULL, block, &shape, NULL, index, slots, 40);

	PFS_CHECK(pfs_page_block(page) == block);
	PFS_CHECK_IS((uintptr_t)page % PFS_LINE, 0);
	char *first = pfs_page_granules(page);
	PFS_CHECK_IS((uintptr_t)first % PFS_GRANULE_BYTES, 0);
	PFS_CHECK(first >= block && first + granules <= block + shape.block_bytes);
	PFS_CHECK((char *)page >= first);
	mark(taken, block, shape.block_bytes, page, sizeof(*page));
	mark(taken, block, shape.block_bytes, pfs_page_policy(page), LINES * PFS_LINE);
	for (uint32_t slot = 0; slot < slots; slot++) {
		char *record = pfs_page_record(page, slot);
		PFS_CHECK(record + config->record_size_bytes <= first + granules);
		struct pfs_lock *lock = pfs_page_lock(page, slot);
		PFS_CHECK_IS((uintptr_t)record % config->record_align_bytes, 0);
		PFS_CHECK_IS((uintptr_t)lock % sizeof(uint32_t), 0);
		PFS_CHECK(pfs_record_lock(record) == lock);
		PFS_CHECK(pfs_record_page(record) == page);
		PFS_CHECK_IS(pfs_record_slot(record), slot);
		PFS_CHECK_IS(pfs_load_relaxed(&lock->word), 40); /* relaxed: one thread */
		mark(taken, block, shape.block_bytes, record - sizeof(struct pfs_record_header),
		     config->record_size_bytes + sizeof(struct pfs_record_header));
		if (config->layout == PFS_LAYOUT_SIDE_BY_SIDE)
			mark(taken, block, shape.block_bytes, lock, sizeof(*lock));
		else
			PFS_CHECK((char *)lock < record && (char *)lock > record - 16);
	}
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
		for (uint32_t i = 0; i < 8 * 3 * 2; i++) {
			struct pfs_config config;
			pfs_config_init(&config);
			config.record_align_bytes = align;
			config.record_size_bytes = sizes[i / 6];
			config.page_records = counts[i / 2 % 3];
			config.layout = (enum pfs_layout)(i % 2);
			config.source = i % 4 < 2 ? &source : NULL;
			PFS_CHECK_IS(pfs_config_check(&config, NULL), PFS_OK);
			check_page(&config, 0, config.page_records);
			check_page(&config, 31, (config.page_records + 1) / 2);
		}
	}
}

static const struct pfs_test tests[] = {
	{ .name = "config: every bound", .run = every_bound },
	{ .name = "config: a page has a bound too", .run = a_page_has_a_bound_too },
	{ .name = "config: no policy is refused", .run = no_policy_is_refused },
	{ .name = "config: a reclaim period needs a policy that reclaims",
	  .run = a_period_needs_a_policy_that_reclaims,
	  .each = true },
	{ .name = "config: no memory names what to lower",
	  .run = no_memory_names_what_to_lower,
	  .each = true },
	{ .name = "config: a node that is not there", .run = a_node_that_is_not_there },
	{ .name = "config: page shapes", .run = page_shapes },
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
