/*
 * stats.h - what pfs_malloc_count counts, as a table on stderr.
 */
#ifndef PFS_MALLOC_STATS_H
#define PFS_MALLOC_STATS_H

#include <stdint.h>

/* malloc_stats, and at exit with the option stats_print. */
void pfs_stats_print(void);

#endif
