/*
 * history.h - is a history of allocate, free and "no free record" linearizable? In linear time.
 *
 * Each operation carries two stamps of one counter: inv, drawn before its first step, and res,
 * drawn after its last. free is invoked after its allocate has returned. Such a history is
 * linearizable if and only if
 *	1. for each record, the intervals [alloc_res, free_inv] are disjoint, and
 *	2. each answer "no free record" has an instant inside it at which every record that
 *	   exists is inside some interval (alloc_inv, free_res).
 * Rule 1 fixes the order of a record's lives; a record is surely free only from free_res to
 * the next alloc_inv, if that is not empty, and all these gaps are smallest at once.
 *
 * A record exists from its page's publication on: born is a stamp drawn after it.
 */
#ifndef PFS_STRESS_HISTORY_H
#define PFS_STRESS_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#define PFS_STAMP_NEVER UINT64_MAX

/* One life of a record: an allocate, and its free (both stamps NEVER if it was not freed). */
struct pfs_life {
	uint64_t record;
	uint64_t alloc_inv, alloc_res;
	uint64_t free_inv, free_res;
};

/* An answer that no record was free: full, or a page added by a policy that is exact. */
struct pfs_no_free {
	uint64_t inv, res;
};

struct pfs_history {
	struct pfs_life *lives;         /* the check sorts them */
	size_t life_count;
	struct pfs_no_free *no_frees;   /* and these */
	size_t no_free_count;
	uint64_t record_count;          /* records are 0 .. record_count - 1 */
	const uint64_t *born;           /* [record_count], or NULL: all from the start */
};

enum pfs_verdict {
	PFS_HISTORY_FINE,
	PFS_HISTORY_DOUBLE,     /* a record had two owners: lives[where - 1], lives[where] */
	PFS_HISTORY_FALSE_FULL, /* no_frees[where]: some record was free all the while */
	PFS_HISTORY_MALFORMED,  /* stamps out of order, or such a record does not exist */
	PFS_HISTORY_NO_MEMORY
};

/*
 * pfs_history_check - check a complete history; all stamps of it are distinct.
 *
 * Returns   the verdict, and *where (may be NULL) for those that name a place.
 * Errors    as returned.
 * Progress  wait-free: sorting, then linear in stamps, lives and records.
 * Order     none: call it when the threads are done.
 */
enum pfs_verdict pfs_history_check(struct pfs_history *history, size_t *where);

const char *pfs_verdict_text(enum pfs_verdict verdict);

#endif
