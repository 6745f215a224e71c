/*
 * trace.h - the steps of an execution, kept and printed: one row a step, one column a thread.
 */
#ifndef PFS_SIM_TRACE_H
#define PFS_SIM_TRACE_H

#include <stdio.h>

#include "check/machine/machine.h"

/* Writes a name for an address; false: unknown, the source text is shown instead. The machine calls
 * it at each traced step. */
typedef bool pfs_name_address(void *context, const void *address, char *name, size_t name_bytes);

void pfs_trace_reset(struct pfs_machine *self);
void pfs_trace_fini(struct pfs_machine *self);

/* Keep the step, and find where the value seen was written. */
void pfs_trace_add(struct pfs_machine *self, struct pfs_step *step);

/* While tracing: a call of the thread begins or ends here. */
__attribute__((format(printf, 3, 4))) void pfs_trace_mark(struct pfs_machine *self, uint32_t thread,
							  const char *format, ...);

/* The steps as a table on out. */
void pfs_trace_print(const struct pfs_machine *self, FILE *out);

/* Room for a step in words, with a name of PFS_NAME_BYTES. */
#define PFS_TRACE_BYTES (PFS_NAME_BYTES + 128)

/* A traced step in a few words, e.g. "load page[1].record[0] = FREE.1 (T0#7)". */
void pfs_trace_describe(const struct pfs_machine *self, uint32_t at, char *text, size_t text_bytes);

const char *pfs_trace_base_name(const char *path);

/* "after its operation at FILE:LINE", of a thread's last operation, or of none. Valid until the
 * next call. */
const char *pfs_trace_after(const struct pfs_sim_place *last);

#endif
