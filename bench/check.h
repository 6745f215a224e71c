/*
 * check.h - sums over a scene's containers, and whether these agree with the records.
 *
 * Main calls these while the workers rest.
 */
#ifndef PFS_BENCH_CHECK_H
#define PFS_BENCH_CHECK_H

#include "workload.h"

void pfs_check_sum_counts(const struct pfs_scene *scene, struct pfs_counts *sum);

/* Pages that would have been enough, summed; UINT64_MAX if not known. */
uint64_t pfs_check_page_ideal(const struct pfs_scene *scene);

/* Records held over records in pages; NaN without pages. */
double pfs_check_occupancy(const struct pfs_scene *scene, const struct pfs_counts *sum);

/* Do a walk, the pages and the lost counter agree with what the workers hold? */
bool pfs_check_held(struct pfs_scene *scene, struct pfs_message *message);

/* After all records were freed: is nothing left? */
bool pfs_check_empty(struct pfs_scene *scene, struct pfs_message *message);

#endif
