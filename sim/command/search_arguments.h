/*
 * search_arguments.h - the arguments of `pfs-sim explore`, `check` and `weaken`, and of a replay
 * file.
 */
#ifndef PFS_SIM_SEARCH_ARGUMENTS_H
#define PFS_SIM_SEARCH_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <pfslab/config.h>

struct pfs_search_arguments {
	const char *policy, *scenario, *memory, *search, *save, *weaken, *labels, *out;
	uint64_t threads, operations, seed, executions, preemptions, jobs, seconds, memory_mib;
	bool full_flags, bare_words, owner_fences, quiet, real_time, append_only;
	enum pfs_layout layout;
	bool no_races, noted;
};

/* Of each command, argv[0] being its name: PFS_GO_ON, or the exit status. */
int pfs_explore_arguments(struct pfs_search_arguments *self, int argc, char **argv);
int pfs_check_arguments(struct pfs_search_arguments *self, int argc, char **argv);
int pfs_weaken_arguments(struct pfs_search_arguments *self, int argc, char **argv);

#endif
