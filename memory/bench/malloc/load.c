/*
 * load.c - pfs-malloc-load: runs a workload with whatever allocator this process has; see load.h.
 *
 * usage: pfs-malloc-load WORKLOAD [--threads=N] [--count=N] [--seed=N] [--idle-ms=N] [--trace=FILE]
 * Exit 0: done; the workload's own numbers are on stdout. 1: it failed. 2: bad usage.
 */
#define _GNU_SOURCE 1
#include "base/command_line.h"
#include "load.h"

#include <stdio.h>
#include <string.h>

static const struct load *const loads[] = {
	&load_tiny,  &load_pair,    &load_handoff, &load_drain,        &load_server,
	&load_burst, &load_buffers, &load_idle,    &load_idle_foreign, &load_free_only,
	&load_dying, &load_large,   &load_mixed,   &load_replay,       &load_tails,
};

static const char program[] = "pfs-malloc-load";

static void name_loads(char *text, size_t bytes)
{
	size_t used = (size_t)snprintf(text, bytes, "workloads, with threads and count:\n");

	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]) && used < bytes; i++)
		used += (size_t)snprintf(text + used, bytes - used, "  %-13s %3u %9llu  %s\n",
					 loads[i]->name, loads[i]->threads,
					 (unsigned long long)loads[i]->count, loads[i]->summary);
}

static const struct load *find_load(const char *name)
{
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		if (strcmp(loads[i]->name, name) == 0)
			return loads[i];
	return NULL;
}

int main(int argc, char **argv)
{
	static char after[4000];
	uint64_t threads = 0, count = 0, seed = 1, idle_ms = 0;
	struct load_options options = { .trace = NULL };
	const struct pfs_option table[] = {
		PFS_NUMBER_OPTION("threads", "N", &threads, 1, LOAD_THREADS_MAX,
				  "default: the workload's"),
		PFS_NUMBER_OPTION("count", "N", &count, 1, UINT64_C(1) << 40,
				  "default: the workload's"),
		PFS_NUMBER_OPTION("seed", "N", &seed, 0, UINT32_MAX, "default 1"),
		PFS_NUMBER_OPTION("idle-ms", "N", &idle_ms, 0, 600000, "of workloads that rest"),
		PFS_TEXT_OPTION("trace", "FILE", &options.trace, "of workloads that replay one"),
	};
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = program, .words = "WORKLOAD", .words_min = 1, .words_max = 1,
		.about = "a workload of malloc and free, of whatever allocator is preloaded",
		.after = after, .options = table, .option_count = 5,
	};
	/* clang-format on */
	int next = 0;

	name_loads(after, sizeof(after));
	int status = pfs_command_line_read(&line, argc, argv, &next);
	if (status != PFS_GO_ON)
		return status;
	const struct load *load = find_load(argv[next]);
	if (load == NULL)
		return pfs_command_refuse(program, PFS_EXIT_WRONG_USE,
					  "unknown workload '%.80s': "
					  "--help lists them",
					  argv[next]);
	options.threads = threads != 0 ? (uint32_t)threads : load->threads;
	options.count = count != 0 ? count : load->count;
	options.seed = seed;
	options.idle_ms = (uint32_t)idle_ms;
	load->run(&options);
	return pfs_command_end(program, 0);
}
