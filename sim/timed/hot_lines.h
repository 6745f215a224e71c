/*
 * hot_lines.h - on which cache lines the threads of a machine in virtual time lose their time.
 *
 * Every atomic operation and mutex is timed from outside, from when its thread reaches it to when
 * it continues: cost of the access, transfer, queue. Plain accesses are not included.
 */
#ifndef PFS_SIM_HOT_LINES_H
#define PFS_SIM_HOT_LINES_H

#include <stdbool.h>
#include <stdint.h>

#define PFS_HOT_LINES_MAX 64 /* that can be requested */

struct pfs_hot_line {
	char place[96]; /* where in the source most of its time was spent: object, file:line */
	uint64_t ns;    /* of all threads together */
	uint64_t accesses;
	uint64_t ns_max; /* of one access */
};

/* Start or stop timing; of the current machine. False: no memory. */
bool pfs_hot_lines_record(bool on);

/* The hottest ones, in that order; returns how many. Forgets them. */
uint32_t pfs_hot_lines_take(struct pfs_hot_line *lines, uint32_t room);

#endif
