/*
 * due.h - were a refusal and a new page due? Judged by the calls alone.
 *
 * The containers' own metrics (needless_growths, false_full) read the structures that they
 * judge. Here only calls are counted: a record is busy from the begin of its allocate to the
 * return of its free, and so is one for each allocate under way. Without a moment in the call
 * at which so many records were busy as there are, some record was free and in nobody's hands
 * all the while, and a policy that is exact may neither refuse nor add a page. Each allocate
 * under way counts as one record though it may hold none: what is found is wrong, what is wrong
 * need not be found.
 *
 * Virtual threads switch at operations of the machine only, and here is none: all is plain.
 */
#ifndef PFS_SIM_DUE_H
#define PFS_SIM_DUE_H

#include <stdint.h>

struct pfs_thread;

/* An allocate under way; on its caller's stack. */
struct pfs_due_call {
	struct pfs_due *container;
	struct pfs_due_call *next;
	uint64_t busy_max; /* records busy at once since it began, its own apart */
};

void pfs_due_reset(void);
void pfs_due_begin(struct pfs_due_call *call, const struct pfs_thread *thread);
/* The call's answer is there: a record, or none and the thread's status. */
void pfs_due_end(struct pfs_due_call *call, const struct pfs_thread *thread, const void *record);
/* A free has returned. */
void pfs_due_freed(const struct pfs_thread *thread);

/* Since reset: refusals, and pages, that were not due. */
struct pfs_due_counts {
	uint64_t refused_early;
	uint64_t grown_early;
};
struct pfs_due_counts pfs_due_counts(void);

#endif
