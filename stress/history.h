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
 * Pages come and go: a record exists in spans, from the stamp of its page's publication to that
 * of its unlinking, both of an instant. A life must lie inside one span (unlinking a record in
 * use is as wrong as allocating it twice); its outer ends are cut to the span's, and then rules
 * 1 and 2 hold as above, each span of a record by itself. What nobody owns in a span is free.
 */
#ifndef PFS_STRESS_HISTORY_H
#define PFS_STRESS_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFS_STAMP_NEVER UINT64_MAX

/* One life of a record: an allocate, and its free (both stamps NEVER if it was not freed). */
struct pfs_life {
	uint64_t record;
	uint64_t alloc_inv, alloc_res;
	uint64_t free_inv, free_res;
};

/* A record exists after the stamp `from` and before the stamp `until`; PFS_STAMP_NEVER: to the
 * end. */
struct pfs_span {
	uint64_t record;
	uint64_t from, until;
	bool from_start; /* no stamp: before all */
};

/* An answer that no record was free: full, or a page added by a policy that is exact. */
struct pfs_no_free {
	uint64_t inv, res;
};

struct pfs_history {
	struct pfs_life *lives; /* the check sorts them */
	size_t life_count;
	struct pfs_no_free *no_frees; /* and these */
	size_t no_free_count;
	uint64_t record_count;  /* records are 0 .. record_count - 1 */
	struct pfs_span *spans; /* NULL: all records exist all the time; sorted, too */
	size_t span_count;
};

enum pfs_verdict {
	PFS_HISTORY_FINE,
	PFS_HISTORY_DOUBLE,     /* a record had two owners: lives[where - 1], lives[where] */
	PFS_HISTORY_NO_PAGE,    /* lives[where]: in use where its record did not exist */
	PFS_HISTORY_FALSE_FULL, /* no_frees[where]: some record was free all the while */
	PFS_HISTORY_MALFORMED,  /* stamps out of order, or such a record does not exist */
	PFS_HISTORY_NO_MEMORY
};

/*
 * pfs_history_check - check a complete history; all stamps of it are distinct.
 *
 * Returns   the verdict, and *where (may be NULL) for those that name a place.
 * Errors    as returned.
 * Progress  wait-free: sorting, then linear in stamps, lives, spans and records.
 * Order     none: call it when the threads are done.
 */
enum pfs_verdict pfs_history_check(struct pfs_history *history, size_t *where);

const char *pfs_verdict_text(enum pfs_verdict verdict);

#endif
