/*
 * reduce.h - make a failing case smaller: fewer threads, operations and switches.
 */
#ifndef PFS_SIM_REDUCE_H
#define PFS_SIM_REDUCE_H

#include "sim/cases/cases.h"

/*
 * pfs_case_reduce - search again with fewer threads, then with fewer operations, while the same
 * failure is still found quickly. Then shorten the schedule, and search with 0, 1 and 2
 * preemptions, which finds the smallest number in small cases.
 *
 * Returns   the number of executions. *own and *result now describe the small case.
 * Errors    none: a case that cannot be made smaller stays as it is.
 * Progress  blocking; bounded.
 * Order     none.
 */
uint64_t pfs_case_reduce(struct pfs_case *own, struct pfs_machine *machine,
			 const struct pfs_scenario *scenario, uint64_t seed,
			 struct pfs_search_result *result);

#endif
