/*
 * arguments.h - the arguments of pfs-check.
 */
#ifndef PFS_CHECK_ARGUMENTS_H
#define PFS_CHECK_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "check/search/search.h"

#define PFS_CHECK_NAME "pfs-check"

struct pfs_check_arguments {
	const char *program, *scenario, *memory, *search, *calls, *save, *schedule, *json;
	uint64_t preemptions, spurious, looks, executions, steps, seed, jobs, slots;
	double seconds, patience;
	bool complete;
	bool no_races, uninitialized, relaxed_volatile, quiet, list, example, gdb;
	char **words; /* the program, or its sources and flags */
	int word_count;
	/* Derived from the options. */
	enum pfs_search_kind kind;
	const struct pfs_memory_model *model;
	bool calls_known;
};

/* read: parse and check all of them. PFS_GO_ON, or the exit status. */
int pfs_check_arguments_read(struct pfs_check_arguments *self, int argc, char **argv);

/* One line on stderr: what, and why it is refused. Returns the exit status. */
int pfs_check_refuse(const char *what, const char *why);

#endif
