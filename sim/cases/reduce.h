/*
 * reduce.h - make a failing case small: fewer threads, fewer operations, fewer switches.
 */
#ifndef PFS_SIM_REDUCE_H
#define PFS_SIM_REDUCE_H

#include "sim/cases/cases.h"

/*
 * pfs_case_reduce - search again with fewer threads, then with fewer operations, as long as the
 * same failure is found soon; shorten the schedule; then look for it with 0, 1 and 2 preemptions,
 * which in small cases gives the smallest number.
 *
 * Returns   executions made. *own and *result are then those of the small case.
 * Errors    none: what cannot be made smaller stays.
 * Progress  blocking; bounded.
 * Order     none.
 */
uint64_t pfs_case_reduce(struct pfs_case *own, struct pfs_machine *machine,
			 const struct pfs_scenario *scenario, uint64_t seed,
			 struct pfs_search_result *result);

#endif
