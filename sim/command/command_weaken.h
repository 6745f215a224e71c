/*
 * command_weaken.h - `pfs-sim weaken`: weakens each ordered operation, one at a time, and
 * searches all scenarios for a failure.
 */
#ifndef PFS_SIM_COMMAND_WEAKEN_H
#define PFS_SIM_COMMAND_WEAKEN_H

#include <stdbool.h>
#include <stdint.h>

struct pfs_weaken_options {
	const char *labels;  /* "L1,L3": only these, as the comments of the sources name them */
	const char *out;     /* a page that contains the table, see weaken_table.h; NULL: none */
	uint64_t executions; /* of each search */
	uint64_t seed;
	bool noted; /* skip what weaken.notes has a sentence for */
};

/*
 * pfs_command_weaken - print the table: place, label, what noticed it, after how many executions.
 *
 * Returns   0: each weaker order is noticed, or weaken.notes says why no search shows it. 1: one is
 *           not, or is noticed although the notes say otherwise, or a line of the notes is for no
 *           operation. 2: a file cannot be read or written.
 * Errors    as returned.
 * Progress  blocking: minutes.
 * Order     none.
 */
int pfs_command_weaken(const struct pfs_weaken_options *options);

#endif
