/*
 * trace.h - who did something to a guarded block: a thread and its call stack, down to the first
 * function outside the library.
 */
#ifndef PFS_MALLOC_TRACE_H
#define PFS_MALLOC_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#define PFS_TRACE_FRAMES 24u

/* The only thread of the process: it does not ask for its number and name, because it may be in a
 * sandbox that would end it for that. */
#define PFS_TRACE_ALONE UINT32_MAX

struct pfs_trace {
	uint32_t thread_id; /* the system's, or PFS_TRACE_ALONE; 0: there is no trace */
	uint16_t depth;
	bool is_cut; /* the stack goes on */
	char thread[16];
	uintptr_t frames[PFS_TRACE_FRAMES]; /* return addresses, the innermost first */
};

/*
 * pfs_trace_take - of the calling thread. from: the first frame, which the stack is searched for;
 * 0: the first function that is not of this library.
 *
 * Progress  libgcc's unwinder, which neither locks nor allocates (glibc 2.35 and later).
 */
void pfs_trace_take(struct pfs_trace *trace, uintptr_t from);

/* Only who, with one frame; for a stack that may be damaged. */
void pfs_trace_begin(struct pfs_trace *trace, uintptr_t frame);

/* Before a report: replaces PFS_TRACE_ALONE. A child that was forked from the only thread reports
 * what that did as its own. */
void pfs_trace_name(struct pfs_trace *trace);

#endif
