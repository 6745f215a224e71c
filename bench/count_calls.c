/*
 * count_calls.c - run pair or churn COUNT times on one thread and nothing else, for tools that
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
#include "base/command_line.h"

#define PAGES 64u
#define PAGE_RECORDS 256u
#define LIVE (PAGES * PAGE_RECORDS / 10 * 9)

static const char program[] = "pfs-count-calls";

static int refuse(const char *what, const char *word, const char *mend)
{
	return pfs_command_refuse(program, PFS_EXIT_WRONG_USE, "%s '%.80s': %s", what, word, mend);
}

static bool run(const struct pfs_calls *calls, struct pfs_thread *thread, bool churns,
		uint64_t count)
{
	static void *records[LIVE + 1];
	struct pfs_live live = { .records = records, .random = 7, .salt = 99 };

	if (!churns)
		return calls->pair(thread, count) == 0;
	bool good = calls->fill(thread, &live, LIVE) == 0 &&
		    calls->churn(thread, &live, count) == count && live.spoiled == 0;
	calls->drain(thread, &live, 0);
	return good;
}

int main(int argc, char **argv)
{
	struct pfs_message message = { .text = "" };
	struct pfs_container *container;
	struct pfs_thread *thread;
	struct pfs_config config;
	/* clang-format off */
	static const struct pfs_command_line line = {
		.program = program, .words = "POLICY inlined|public pair|churn COUNT",
		.words_min = 4, .words_max = 4,
		.about = "run pair or churn COUNT times on one thread and nothing else, for tools "
			 "that count instructions",
		.after = "exit 0: done. 1: it could not be. 2: bad usage, or an unknown policy.\n",
	};
	/* clang-format on */
	int next = 0, status = pfs_command_line_read(&line, argc, argv, &next);
	uint64_t count = 0;

	if (status != PFS_GO_ON)
		return status;
	const struct pfs_variant *variant = pfs_variant_find(argv[next]);
	if (variant == NULL)
		return refuse("unknown policy", argv[next], "pfs-bench --list-policies names them");
	bool public = strcmp(argv[next + 1], "public") == 0;
	if (!public && strcmp(argv[next + 1], "inlined") != 0)
		return refuse("api", argv[next + 1], "choose inlined or public");
	bool churns = strcmp(argv[next + 2], "churn") == 0;
	if (!churns && strcmp(argv[next + 2], "pair") != 0)
		return refuse("workload", argv[next + 2], "choose pair or churn");
	if (pfs_read_number("COUNT", argv[next + 3], 1, UINT64_MAX, &count, &message) != PFS_OK)
		return refuse("COUNT", argv[next + 3], "give a whole number above 0");
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
	return pfs_command_end(program, good ? 0 : 1);
}
