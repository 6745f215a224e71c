/*
 * trace.h - the steps of an execution, kept and printed: one row a step, one column a thread.
 */
#ifndef PFS_SIM_TRACE_H
#define PFS_SIM_TRACE_H

#include <stdio.h>

#include "sim/machine.h"

/* Writes a name for an address; false: it knows none, the source text is shown instead. */
typedef bool pfs_name_address(void *context, const void *address, char *name, size_t name_bytes);

void pfs_trace_reset(struct pfs_machine *self);

/* Keeps the step, and finds where the value seen was written. */
void pfs_trace_add(struct pfs_machine *self, struct pfs_step *step);

/*
 * Is this the place of a metric (tally.h, bumped counters)? Such operations are executed at
 * once and are no steps: they order nothing, and counting must not change what is explored.
 */
bool pfs_trace_is_quiet(const struct pfs_sim_place *place);

/* The steps first .. last - 1 as a table on out. name may be NULL. */
void pfs_trace_print(const struct pfs_machine *self, FILE *out, uint32_t first, uint32_t last,
		     pfs_name_address *name, void *context);

/* One step in a few words, e.g. "cas page[1].record[0] 4->5 (saw T0#7)". */
void pfs_trace_describe(const struct pfs_machine *self, const struct pfs_step *step,
			pfs_name_address *name, void *context, char *text, size_t text_bytes);

const char *pfs_trace_base_name(const char *path);

#endif
