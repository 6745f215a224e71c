#include "sim/cases/reduce.h"

#include <stdlib.h>
#include <string.h>

#define EXECUTIONS_MAX 4000u /* of each search */
#define SECONDS_MAX 2.0
#define PREEMPTIONS_MAX 2u

static bool search_again(struct pfs_machine *machine, const struct pfs_scenario *scenario,
			 enum pfs_search_kind kind, uint32_t preemptions, uint64_t seed,
			 const struct pfs_search_result *wanted, struct pfs_search_result *found,
			 uint64_t *executions)
{
	const struct pfs_search_options options = { .kind = kind,
						    .seed = seed,
						    .execution_max = EXECUTIONS_MAX,
						    .seconds_max = SECONDS_MAX,
						    .preemption_max = preemptions };
	bool fails = !pfs_search(machine, scenario, &options, found);
	*executions += found->executions;
	return fails && pfs_search_is_same(wanted, found->end, found->message);
}

/* Lowers *count by one if the case still fails. */
static bool try_less(uint32_t *count, struct pfs_machine *machine,
		     const struct pfs_scenario *scenario, uint64_t seed,
		     struct pfs_search_result *result, struct pfs_search_result *found,
		     uint64_t *executions)
{
	if (*count == 1)
		return false;
	--*count;
	if (search_again(machine, scenario, PFS_SEARCH_ROTATE, 0, seed, result, found,
			 executions) ||
	    search_again(machine, scenario, PFS_SEARCH_ALL, 0, seed, result, found, executions)) {
		*result = *found;
		return true;
	}
	++*count;
	return false;
}

uint64_t pfs_case_reduce(struct pfs_case *own, struct pfs_machine *machine,
			 const struct pfs_scenario *scenario, uint64_t seed,
			 struct pfs_search_result *result)
{
	struct pfs_search_result *found = malloc(sizeof(*found));
	uint64_t executions = 0;
	if (found == NULL || !result->failed) {
		free(found);
		return 0;
	}
	if (scenario->is_endless) { /* another search would not end */
		free(found);
		return pfs_search_shrink(machine, scenario, result);
	}
	while (try_less(&own->thread_count, machine, scenario, seed, result, found, &executions))
		continue;
	while (try_less(&own->operations, machine, scenario, seed, result, found, &executions))
		continue;
	executions += pfs_search_shrink(machine, scenario, result);
	for (uint32_t bound = 0; bound <= PREEMPTIONS_MAX; bound++) {
		if (!search_again(machine, scenario, PFS_SEARCH_BOUNDED, bound, seed, result, found,
				  &executions))
			continue;
		executions += pfs_search_shrink(machine, scenario, found);
		if (found->segment_count < result->segment_count)
			*result = *found;
		break;
	}
	free(found);
	return executions;
}
