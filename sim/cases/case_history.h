/*
 * case_history.h - the calls of one execution with their times, for the check of stress/history.h.
 *
 * Calls are stamped where they begin and end; pages are seen to appear and disappear between steps.
 * With store buffers, a free ends when it has reached memory, because threads learn of each other
 * only through memory. real_time is stricter: a free ends when it returns, even if its stores are
 * still buffered.
 */
#ifndef PFS_SIM_CASE_HISTORY_H
#define PFS_SIM_CASE_HISTORY_H

#include "check/machine/machine.h"
#include "stress/history.h"

/* Room for every scenario with 8 threads of 8 operations. */
#define PFS_CASE_LIVES_MAX 1024u
#define PFS_CASE_SPANS_MAX 64u
#define PFS_CASE_PAGES_MAX 64u
#define PFS_CASE_CALLERS_MAX 8u

struct pfs_case_history {
	bool exact; /* an answer of full, or a new page, claims that no record was free */
	bool real_time;
	bool learned; /* only frees that happen before a call count for its answer */
	uint32_t page_records;
	uint64_t now;
	struct pfs_life lives[PFS_CASE_LIVES_MAX];
	uint32_t freed_by[PFS_CASE_LIVES_MAX]; /* the free is still in this thread's buffer */
	uint32_t life_count;
	uint32_t draining; /* frees in buffers */
	struct pfs_no_free no_frees[PFS_CASE_LIVES_MAX];
	uint32_t no_free_count;
	struct pfs_span spans[PFS_CASE_SPANS_MAX];
	uint32_t span_count;
	bool has_page[PFS_CASE_PAGES_MAX];
	/* Happens-before, if learned: when a life ended, and what a thread and an answer knew. */
	struct pfs_case_epoch {
		uint32_t thread, epoch;
	} freed_at[PFS_CASE_LIVES_MAX];
	uint32_t known[PFS_CASE_CALLERS_MAX][PFS_CASE_CALLERS_MAX];
	uint32_t no_free_known[PFS_CASE_LIVES_MAX][PFS_CASE_CALLERS_MAX];
	/* By thread: when its current allocate began; PFS_STAMP_NEVER: none. */
	uint64_t began[PFS_CASE_CALLERS_MAX];
	bool too_long;
};

void pfs_case_history_begin(struct pfs_case_history *self, bool exact, bool real_time,
			    uint32_t page_records);

/* A record that is in use from the start. */
void pfs_case_history_keep(struct pfs_case_history *self, uint32_t record);

/* Around a call, which gets a record or is refused; full: because none was free. */
void pfs_case_history_call(struct pfs_case_history *self, uint32_t thread);
void pfs_case_history_allocated(struct pfs_case_history *self, uint32_t thread, uint32_t record);
void pfs_case_history_refused(struct pfs_case_history *self, uint32_t thread, bool full);
/* Around a free: the first call returns the life that the second one ends. Meanwhile the next
 * owner's life may begin. */
uint32_t pfs_case_history_free(struct pfs_case_history *self, uint32_t record);
void pfs_case_history_freed(struct pfs_case_history *self, struct pfs_machine *machine,
			    uint32_t thread, uint32_t life);

/* Between two steps: is the page of an index published? A page that is published before the first
 * step counts as always published. */
void pfs_case_history_page(struct pfs_case_history *self, struct pfs_machine *machine,
			   uint32_t page, bool published);
/* Between two steps: frees that have reached memory end. */
void pfs_case_history_step(struct pfs_case_history *self, struct pfs_machine *machine);

/*
 * pfs_case_history_known - hash the part of the history that still decides open or future answers.
 *
 * Returns   equal hashes for histories with the same future. history.h only compares when calls
 *           began (allocate, refused) with when calls ended (free, refused). So only the order
 *           between stamps of different kinds matters; and of stamps before every open call, only
 *           their result.
 * Errors    none. Invalid where answers are `learned`.
 * Progress  wait-free, quadratic.
 * Order     none.
 */
uint64_t pfs_case_history_known(const struct pfs_case_history *self);

/* Puts the used part into a snapshot. */
struct pfs_machine_snapshot;
void pfs_case_history_keep_all(struct pfs_case_history *self,
			       struct pfs_machine_snapshot *snapshot);

/* Before the end: pfs_case_history_check of the answers that pfs_case_history_known leaves out. */
void pfs_case_history_check_past(struct pfs_case_history *self);

/*
 * pfs_case_history_check - check the history when all threads have finished or stopped forever.
 *
 * Returns   nothing; fails the execution with a message if its history is not linearizable.
 * Errors    as above.
 * Progress  wait-free, linear.
 * Order     none.
 */
void pfs_case_history_check(struct pfs_case_history *self);

#endif
