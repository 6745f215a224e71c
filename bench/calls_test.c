/*
 * calls_test.c - all ways to call each policy keep the promises of calls.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

#define PAGES 4
#define SLOTS 8
#define CAPACITY (PAGES * SLOTS)

#define CHECK(condition) check((condition), #condition, __LINE__)

static const char *policy, *api_name;
static int failures;

static void check(bool holds, const char *what, int line)
{
	if (holds)
		return;
	failures++;
	fprintf(stderr, "calls_test: %s, %s: line %d: %s does not hold\n", policy, api_name, line,
		what);
}

struct fixture {
	struct pfs_container *container;
	struct pfs_thread *thread;
};

static struct fixture set_up(const struct pfs_variant *variant)
{
	struct fixture it = { .container = NULL };
	struct pfs_message message = { .text = "" };
	struct pfs_config config;

	pfs_config_init(&config);
	config.page_records = SLOTS;
	config.page_max = PAGES;
	if (pfs_container_create(variant, &config, &it.container, &message) != PFS_OK ||
	    pfs_thread_attach(it.container, &it.thread) != PFS_OK) {
		fprintf(stderr, "calls_test: %s: %s\n", policy, message.text);
		exit(1);
	}
	return it;
}

static void tear_down(struct fixture *it)
{
	pfs_thread_detach(it->thread);
	pfs_container_destroy(it->container);
}

static void batches_keep_their_promise(const struct pfs_variant *variant,
				       const struct pfs_calls *calls)
{
	void *records[CAPACITY + 1];
	struct pfs_live live = { .records = records, .random = 7, .salt = 99 };
	bool bounded = (pfs_variant_traits(variant) & PFS_TRAIT_BOUNDED) != 0;
	uint32_t most = bounded ? CAPACITY : CAPACITY + 1;
	struct fixture it = set_up(variant);

	CHECK(calls->pair(it.thread, 100) == 0);
	CHECK(calls->fill(it.thread, &live, CAPACITY) == 0);
	CHECK(live.count == CAPACITY);
	CHECK(calls->churn(it.thread, &live, 200) == 200);
	CHECK(live.count == CAPACITY);
	CHECK(calls->fill(it.thread, &live, CAPACITY + 1) == CAPACITY + 1 - most);
	CHECK(live.count == most);
	calls->drain(it.thread, &live, 5);
	CHECK(live.count == 5);
	CHECK(live.spoiled == 0);
	*(uint64_t *)records[0] ^= 1; /* as a second owner would */
	calls->drain(it.thread, &live, 0);
	CHECK(live.spoiled == 1);
	CHECK(calls->churn(it.thread, &live, 200) == 0); /* there is none to replace */
	tear_down(&it);
}

static void a_full_container_refuses_batches(const struct pfs_variant *variant,
					     const struct pfs_calls *calls)
{
	void *records[CAPACITY];
	struct pfs_live live = { .records = records, .random = 7, .salt = 99 };
	struct pfs_counts counts;

	if ((pfs_variant_traits(variant) & PFS_TRAIT_BOUNDED) == 0)
		return;
	struct fixture it = set_up(variant);
	CHECK(calls->fill(it.thread, &live, CAPACITY) == 0);
	CHECK(calls->pair(it.thread, 3) == 3);
	pfs_container_counts(it.container, &counts);
	CHECK(counts.lost == 3);
	calls->drain(it.thread, &live, 0);
	tear_down(&it);
}

/* The single operations are of the same container as the batches. */
static void operations_and_batches_mix(const struct pfs_variant *variant,
				       const struct pfs_calls *calls)
{
	void *records[CAPACITY];
	struct pfs_live live = { .records = records, .random = 7, .salt = 99 };
	struct fixture it = set_up(variant);
	struct pfs_claim claim = calls->allocate(it.thread);

	CHECK(claim.record != NULL);
	memset(claim.record, 0xA5, sizeof(uint64_t));
	calls->publish(it.thread, claim);
	CHECK(calls->fill(it.thread, &live, CAPACITY - 1) == 0);
	for (uint32_t i = 0; i < live.count; i++)
		CHECK(records[i] != claim.record);
	calls->free(it.thread, claim.record);
	CHECK(calls->pair(it.thread, 3) == 0);
	calls->drain(it.thread, &live, 0);
	tear_down(&it);
}

int main(void)
{
	static const char *const api_names[] = { "inlined", "public", "cxx" }; /* of enum pfs_api */
	const struct pfs_variant *variant;

	for (size_t i = 0; (variant = pfs_variant_at(i)) != NULL; i++) {
		for (int api = PFS_API_INLINED; api <= PFS_API_CXX; api++) {
			const struct pfs_calls *calls = pfs_calls_of(variant, (enum pfs_api)api);

			policy = pfs_variant_name(variant);
			api_name = api_names[api];
			CHECK(calls != NULL);
			if (calls == NULL)
				continue;
			batches_keep_their_promise(variant, calls);
			a_full_container_refuses_batches(variant, calls);
			operations_and_batches_mix(variant, calls);
		}
	}
	return failures == 0 ? 0 : 1;
}
