/*
 * history.h - linearizability: the calls of one execution, and whether an order of them agrees with
 * their times and with a sequential specification.
 *
 * A call begins and ends with a step of its own (a note, depends.h), so that a search tries every
 * order of ends and begins. With store buffers a call ends when its stores have left its thread's
 * buffer; with views a thread that begins a call later knows all that ended. If calls are `known`
 * there are no such steps: a call comes before another if its end happens before the other's begin.
 */
#ifndef PFS_CHECK_HISTORY_H
#define PFS_CHECK_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PFS_HISTORY_MAX 64u
#define PFS_HISTORY_STATE_MAX 4096u
#define PFS_HISTORY_NEVER UINT32_MAX

enum pfs_call_phase { PFS_CALL_SET_UP, PFS_CALL_IN_THREAD, PFS_CALL_AT_REST };

struct pfs_call {
	const char *name;
	int operation;
	int64_t argument, result;
	enum pfs_call_phase phase;
	uint32_t thread;
	uint32_t called, ended; /* times; PFS_HISTORY_NEVER: it has not returned, or its stores are
				 * buffered */
	bool returned;
};

/* The result of the search for an order. */
enum pfs_history_verdict { PFS_HISTORY_FIT, PFS_HISTORY_DO_NOT, PFS_HISTORY_TOO_MANY };

/* The longest order that was found, and the calls that could not follow it. */
struct pfs_history_longest {
	uint32_t count, refused_count;
	uint32_t order[PFS_HISTORY_MAX], refused[PFS_HISTORY_MAX];
	int64_t wanted[PFS_HISTORY_MAX]; /* the specification's results for those refused */
};

typedef int64_t pfs_history_step(void *state, int operation, int64_t argument, int64_t result);

/*
 * pfs_history_order - find an order of the calls that the specification allows, and in which each
 * call comes after those in its mask of `before`. Calls that have not returned may be omitted.
 *
 * Returns   whether there is one; TOO_MANY: the search is too large. *longest: if there is none.
 * Errors    none besides.
 * Progress  exponential in overlapping calls; each pair of a set of calls and a state is visited
 *           once.
 * Order     none.
 * Source    J. M. Wing, C. Gong, 1993; the table of visited pairs as in G. Lowe, 2017.
 */
enum pfs_history_verdict pfs_history_order(const struct pfs_call *calls, const uint64_t *before,
					   uint32_t count, const void *initial, size_t state_bytes,
					   pfs_history_step *step,
					   struct pfs_history_longest *longest);

/* Order calls by happens-before instead of the clock, in all executions? */
void pfs_history_by_known(bool known);

/* begin: before the set-up of an execution. check: at its end; fails it if no order fits. */
void pfs_history_begin(void);
void pfs_history_check(void);

/* All that an execution changes, between two steps. */
struct pfs_machine_snapshot;
void pfs_history_put(struct pfs_machine_snapshot *snapshot);

/* The calls of the last execution, if no order of them fits. */
void pfs_history_print(FILE *out);

#endif
