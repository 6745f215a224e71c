/*
 * command_weaken.h - pfs-sim weaken: every place that orders anything is made weaker, one at a
 * time, and all scenarios are searched: who notices?
 */
#ifndef PFS_SIM_COMMAND_WEAKEN_H
#define PFS_SIM_COMMAND_WEAKEN_H

#include <stdbool.h>
#include <stdint.h>

struct pfs_weaken_options {
	const char *labels;  /* "L1,L3": only these, as the comments of the sources name them */
	const char *out;     /* a page that has the table, see weaken_table.h; NULL: none */
	uint64_t executions; /* of each search */
	uint64_t seed;
	bool noted; /* what weaken.notes has a sentence for is not searched */
};

/*
 * pfs_command_weaken - print the table: place, label, noticed by what, after how many executions.
 *
 * Returns   0: each weaker order is noticed, or weaken.notes says why no search shows it. 1: one
 *           is not, or is noticed although it says so, or a line there is of no operation. 2: a
 *           file can't be read or written.
 * Errors    as returned.
 * Progress  blocking: minutes.
 * Order     none.
 */
int pfs_command_weaken(const struct pfs_weaken_options *options);

#endif
