/*
 * count_calls.c - pair or churn so many times, on one thread, and nothing else: for tools that
 * count instructions, by which two runs of different lengths are subtracted. See
 * scripts/instructions.py.
 *
 * usage: pfs-count-calls POLICY inlined|public pair|churn COUNT
 * Exit 0: done. 1: it could not be. 2: bad usage, or an unknown policy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

#define PAGES 64u
#define PAGE_RECORDS 256u
#define LIVE (PAGES * PAGE_RECORDS / 10 * 9)

static int usage(const char *what)
{
	fprintf(stderr, "pfs-count-calls: %s; usage: POLICY inlined|public pair|churn COUNT\n",
		what);
	return 2;
}

static bool run(const struct pfs_calls *calls, struct pfs_thread *thread, bool churns,
		uint64_t count)
{
	static void *records[LIVE + 1];
	struct pfs_live live = {.records = records, .random = 7, .salt = 99};

	if (!churns)
		return calls->pair(thread, count) == 0;
	bool good = calls->fill(thread, &live, LIVE) == 0 &&
		    calls->churn(thread, &live, count) == count && live.spoiled == 0;
	calls->drain(thread, &live, 0);
	return good;
}

int main(int argc, char **argv)
{
	struct pfs_message message = {.text = ""};
	struct pfs_container *container;
	struct pfs_thread *thread;
	struct pfs_config config;
	char *end;

	if (argc != 5)
		return usage("four arguments are needed");
	const struct pfs_variant *variant = pfs_variant_find(argv[1]);
	if (variant == NULL)
		return usage("unknown policy");
	bool public = strcmp(argv[2], "public") == 0;
	if (!public && strcmp(argv[2], "inlined") != 0)
		return usage("the second argument is neither inlined nor public");
	bool churns = strcmp(argv[3], "churn") == 0;
	if (!churns && strcmp(argv[3], "pair") != 0)
		return usage("the third argument is neither pair nor churn");
	uint64_t count = strtoull(argv[4], &end, 10);
	if (*end != '\0' || count == 0)
		return usage("COUNT is no number above 0");
	pfs_config_init(&config);
	config.page_records = PAGE_RECORDS;
	config.page_max = config.page_prealloc = PAGES;
	if (pfs_container_create(variant, &config, &container, &message) != PFS_OK) {
		fprintf(stderr, "pfs-count-calls: %s\n", message.text);
		return 1;
	}
	if (pfs_thread_attach(container, &thread) != PFS_OK) {
		fprintf(stderr, "pfs-count-calls: no memory for a handle\n");
		return 1;
	}
	bool good = run(pfs_calls_of(variant, public ? PFS_API_PUBLIC : PFS_API_INLINED), thread,
			churns, count);
	pfs_thread_detach(thread);
	pfs_container_destroy(container);
	if (!good)
		fprintf(stderr, "pfs-count-calls: a call was refused\n");
	return good ? 0 : 1;
}
