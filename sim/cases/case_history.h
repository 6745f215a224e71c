/*
 * case_history.h - the calls of one execution by the clock, for the linear check of
 * stress/history.h.
 *
 * Stamps are drawn where calls begin and end; pages are seen to come and go between two steps. With
 * store buffers a free ends when it has reached memory: what a thread can learn of another thread's
 * past, it learns through memory, in that order. real_time is stricter: a free ends when it
 * returns, although its stores are still buffered.
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
	bool exact; /* full, or a page added, claims that no record was free */
	bool real_time;
	bool learned; /* answers are judged by the frees that happen before their calls */
	uint32_t page_records;
	uint64_t now;
	struct pfs_life lives[PFS_CASE_LIVES_MAX];
	uint32_t freed_by[PFS_CASE_LIVES_MAX]; /* its free is still in this thread's buffer */
	uint32_t life_count;
	uint32_t draining; /* frees in buffers */
	struct pfs_no_free no_frees[PFS_CASE_LIVES_MAX];
	uint32_t no_free_count;
	struct pfs_span spans[PFS_CASE_SPANS_MAX];
	uint32_t span_count;
	bool has_page[PFS_CASE_PAGES_MAX];
	/* Happens-before, if learned: when a life ended, and what a thread, and an answer, knew. */
	struct pfs_case_epoch {
		uint32_t thread, epoch;
	} freed_at[PFS_CASE_LIVES_MAX];
	uint32_t known[PFS_CASE_CALLERS_MAX][PFS_CASE_CALLERS_MAX];
	uint32_t no_free_known[PFS_CASE_LIVES_MAX][PFS_CASE_CALLERS_MAX];
	/* By thread: an allocate that has begun; PFS_STAMP_NEVER: none. */
	uint64_t began[PFS_CASE_CALLERS_MAX];
	bool too_long;
};

void pfs_case_history_begin(struct pfs_case_history *self, bool exact, bool real_time,
			    uint32_t page_records);

/* A record that is in use from the start. */
void pfs_case_history_keep(struct pfs_case_history *self, uint32_t record);

/* Around a call; allocated: record, refused: none was free. */
void pfs_case_history_call(struct pfs_case_history *self, uint32_t thread);
void pfs_case_history_allocated(struct pfs_case_history *self, uint32_t thread, uint32_t record);
void pfs_case_history_refused(struct pfs_case_history *self, uint32_t thread, bool full);
/* Around a free: the first returns the life that the second one ends. Until it ends, the next owner
 * of the record may have its own. */
uint32_t pfs_case_history_free(struct pfs_case_history *self, uint32_t record);
void pfs_case_history_freed(struct pfs_case_history *self, struct pfs_machine *machine,
			    uint32_t thread, uint32_t life);

/* Between two steps: is the page of an index published? Before the first step: it always was. */
void pfs_case_history_page(struct pfs_case_history *self, struct pfs_machine *machine,
			   uint32_t page, bool published);
/* The same, once for all pages. */
void pfs_case_history_step(struct pfs_case_history *self, struct pfs_machine *machine);

/*
 * pfs_case_history_known - a hash of what part of the history so far decides about answers that are
 * not judged yet, or will be given.
 *
 * Returns   equal hashes for histories that continue alike: history.h compares only where calls
 *           began (allocate, refused) with where calls ended (free, refused). So of the stamps only
 *           which of them fall between the same two of the other kind matters; and of those before
 *           everything that is still open, only their result.
 * Errors    none. Not where answers are `learned`.
 * Progress  wait-free, quadratic.
 * Order     none.
 */
uint64_t pfs_case_history_known(const struct pfs_case_history *self);

/* All of it that is in use. */
struct pfs_machine_snapshot;
void pfs_case_history_keep_all(struct pfs_case_history *self,
			       struct pfs_machine_snapshot *snapshot);

/* Before the end: as pfs_case_history_check, for the answers that pfs_case_history_known leaves
 * out. */
void pfs_case_history_check_past(struct pfs_case_history *self);

/*
 * pfs_case_history_check - when all threads have finished, or stopped for ever.
 *
 * Returns   nothing; fails the execution with a message if its history is not linearizable.
 * Errors    as above.
 * Progress  wait-free, linear.
 * Order     none.
 */
void pfs_case_history_check(struct pfs_case_history *self);

#endif
