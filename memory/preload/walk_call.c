/*
 * walk_call.c - pfs_memory_walk_report: the program asks for a report on its own blocks.
 */
#include <pfslab/memory_walk.h>

#include "counter.h"

__attribute__((visibility("default"))) uint64_t pfs_memory_walk_report(FILE *to)
{
	if (to == NULL || pfs_program_box() == NULL || !pfs_program.is_exact || !pfs_report_begin())
		return 0;
	struct pfs_counter *counter = pfs_counter_enter();
	uint64_t visited = counter != NULL ? pfs_report_walk() : 0;
	if (counter != NULL)
		pfs_counter_leave(counter);
	pfs_report_end(counter != NULL ? to : NULL);
	return visited;
}
