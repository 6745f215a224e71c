/*
 * due.h - were a refusal and a new page justified? Judged by the calls alone.
 *
 * The containers' own metrics (needless_growths, false_full) read the structures that they judge.
 * Here only calls are counted: a record is busy from the begin of its allocate to the return of its
 * free, and each allocate in progress counts as one busy record. If at no moment of the call all
 * records were busy, some record was free throughout, and an exact policy may neither refuse nor
 * add a page. An allocate in progress may hold no record, so every report is a fault, but some
 * faults are not reported.
 *
 * Virtual threads switch only at operations of the machine, and there is none here: all is plain.
 */
#ifndef PFS_SIM_DUE_H
#define PFS_SIM_DUE_H

#include <stdint.h>

struct pfs_thread;

/* An allocate under way; on its caller's stack. */
struct pfs_due_call {
	struct pfs_due *container;
	struct pfs_due_call *next;
	uint64_t busy_max; /* most records busy at once since it began, without its own */
};

void pfs_due_reset(void);
void pfs_due_begin(struct pfs_due_call *call, const struct pfs_thread *thread);
/* The call's answer is known: a record, or none and the thread's status. */
void pfs_due_end(struct pfs_due_call *call, const struct pfs_thread *thread, const void *record);
/* A free has returned. */
void pfs_due_freed(const struct pfs_thread *thread);

/* Since reset: refusals, and pages, that were not justified. */
struct pfs_due_counts {
	uint64_t refused_early;
	uint64_t grown_early;
};
struct pfs_due_counts pfs_due_counts(void);

struct pfs_container;
/* The containers whose calls it saw, since reset, in the order of their first ones; NULL after the
 * last. */
const struct pfs_container *pfs_due_container(uint32_t index);

#endif
