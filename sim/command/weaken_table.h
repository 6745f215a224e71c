/*
 * weaken_table.h - the result of each weakened order, as rows of a page.
 */
#ifndef PFS_SIM_WEAKEN_TABLE_H
#define PFS_SIM_WEAKEN_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define PFS_WEAKEN_ROWS_MAX 512u

struct pfs_weaken_row {
	const char *file, *function, *label;
	char operation[48];
	const char *policy, *scenario; /* NULL: not noticed */
	bool owner_fences;
	uint64_t after;       /* number of executions */
	char as[64];          /* the failure */
	const char *sentence; /* if not noticed; NULL: nothing is known */
};

struct pfs_weaken_table {
	struct pfs_weaken_row rows[PFS_WEAKEN_ROWS_MAX];
	uint32_t count;
};

/* A new row, cleared; the last one again if there are too many. */
struct pfs_weaken_row *pfs_weaken_table_add(struct pfs_weaken_table *self);

/*
 * pfs_weaken_table_write - put the table into a page, between its two lines "<!-- pfs-sim weaken:
 * begin -->" and "<!-- pfs-sim weaken: end -->".
 *
 * Returns   false: the page cannot be read or written, or has no such lines; reported on stderr.
 * Errors    as returned.
 * Progress  blocking.
 * Order     none.
 */
bool pfs_weaken_table_write(const struct pfs_weaken_table *self, const char *path,
			    uint64_t executions);

#endif
