/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory_trace.h - exact bytes of named owners of memory, in a tree, with limits that are enforced.
 *
 * An owner (a cache, a queue, a session) says how many bytes it takes and gives back, whoever
 * allocates them and wherever they come from. Each add gives a guard, and only by that guard are
 * its bytes taken off again, all of them, once: what is taken off twice, or by a copy of a guard,
 * is refused and counted, so nothing goes below zero. An owner has its own bytes, the sum of its
 * own and those of all owners below it, and the peak of that sum. All of it is in the box
 * (docs/explanation/trace.md).
 *
 *	cache = pfs_owner_register(books, NULL, "cache");
 *	blocks = pfs_owner_register(books, cache, "blocks");
 *	pfs_owner_limit(cache, 64 << 20, PFS_OWNER_REFUSE);
 *	struct pfs_owner_guard guard = { 0, 0, 0 };
 *	if (!pfs_owner_add(blocks, bytes, &guard))
 *		...                                      there is no room for it
 *	pfs_owner_end(&guard);
 *
 * Limits hold on the whole way up. Before bytes are counted they are reserved at each owner from
 * the own one upwards, by a fetch-add each, as the kernel's page_counter does; where one is over
 * its limit, all that was reserved is given back. What is reserved stands apart from what is
 * counted: the sum of an owner whose limit refuses is at no moment above it. Adds under way at the
 * same time that will be refused elsewhere may have one refused that would have had room a moment
 * later; what was given back is there for the next.
 *
 * A guard is the caller's, of whatever life; it begins as zeroes, and is used where it is: a copy
 * of it holds nothing (pfs_owner_hand). Two threads that use one guard at once are safe: one is
 * refused. Not caught is a guard that is overwritten, or whose older bytes are copied back over it,
 * unless an owner would go below zero by it.
 *
 * Owners stay until the books are closed. Calls are for any thread, no signal handlers.
 * fork: the child goes on with what was there when the parent forked.
 *
 * Source: TiKV's memory trace (a tree of named counters) and Linux' mm/page_counter.c (limits); the
 * guards are our own.
 */
#ifndef PFSLAB_MEMORY_TRACE_H
#define PFSLAB_MEMORY_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include <pfslab/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfs_owner;

/* Of one add, kept by the caller; no field of it is for him. All zero: it holds nothing. */
struct pfs_owner_guard {
	uint64_t state, owner, bytes;
};

#define PFS_OWNER_NO_LIMIT UINT64_MAX
#define PFS_OWNER_ADD_MOST (UINT64_C(1) << 47)   /* more is never granted by one add */
#define PFS_OWNER_BYTES_MOST (UINT64_C(1) << 62) /* what no sum is ever above */

/* What happens to an add above a limit. */
enum pfs_owner_action {
	PFS_OWNER_REFUSE, /* it is refused */
	PFS_OWNER_CALL,   /* pfs_owner_on_limit's is called, and may have it tried again */
	PFS_OWNER_REPORT  /* it is granted, and counted as over the limit */
};

/*
 * pfs_owner_register - an owner by its name, below another one, or at the top (NULL).
 *
 * Returns   the owner, the same for the same name and parent; NULL: the name is empty, longer than
 *           47 bytes or has a '/', the tree is deeper than 16, or there is no room for a record,
 *           which is counted as lost (trace_owners_max of the books). All calls take NULL for an
 *           owner: nothing is counted then, and nothing refused.
 * Progress  blocking.
 */
struct pfs_owner *pfs_owner_register(struct pfs_books *books, struct pfs_owner *parent,
				     const char *name);

/*
 * pfs_owner_limit - no more than so many bytes of an owner and all below it. At first there is
 * none, and the action is PFS_OWNER_REFUSE. What is counted already stays, also above it.
 *
 * `UPDATE memory_trace SET LIMIT_BYTES = ...` does the same from outside; who came last, decides.
 * Progress  wait-free. Order: none; an add before it or after it.
 */
void pfs_owner_limit(struct pfs_owner *owner, uint64_t limit_bytes, enum pfs_owner_action action);

/* What is called by an add that is over a limit of PFS_OWNER_CALL: by the thread that adds, which
 * has reserved nothing then. It may end guards, and add. True: try again, at most three times. */
typedef bool (*pfs_owner_caller)(void *context, struct pfs_owner *over, uint64_t bytes);

/* pfs_owner_on_limit - what is called; before the first add at or below the owner. */
void pfs_owner_on_limit(struct pfs_owner *owner, pfs_owner_caller call, void *context);

/*
 * pfs_owner_add - the owner has so many bytes more, until the guard ends.
 *
 * Returns   true: they are counted. False: nothing is, for a limit refused it (counted at the owner
 *           whose limit it is), or the guard holds an add already (counted as bad); of a limit the
 *           guard is empty then.
 * Progress  wait-free; where a peak rises, lock-free: a CAS fails only because another add raised
 *           the same peak, and is tried again only while this one's is higher. What a callback does
 *           is its own.
 * Order     acquire [Z1], as it comes after what was taken off before it at the same owners.
 * Cost      a CAS of the guard, a locked addition to the owner's own bytes, two at each level, and
 *           a CAS at each whose peak rises.
 */
bool pfs_owner_add(struct pfs_owner *owner, uint64_t bytes, struct pfs_owner_guard *guard);

/*
 * pfs_owner_end - the guard's bytes are taken off. It may be used for another add then.
 *
 * Returns   false: nothing is, for it holds nothing. If it did once, or is a copy of one, that is
 *           counted as bad; after an add that was refused it is not.
 * Progress  wait-free. Order: release [Z2].
 */
bool pfs_owner_end(struct pfs_owner_guard *guard);

/* pfs_owner_resize - the guard has so many bytes from now on. False: it has as many as before: a
 * limit refused it, or it holds nothing. Less is never refused. As pfs_owner_add. */
bool pfs_owner_resize(struct pfs_owner_guard *guard, uint64_t bytes);

/* pfs_owner_move - the guard's bytes are another owner's from now on. Limits of owners that are
 * above both are not asked: their sums do not change. Until the end of the call both own them, so
 * that no reader sees too little. False: it is where it was. As pfs_owner_add. */
bool pfs_owner_move(struct pfs_owner_guard *guard, struct pfs_owner *owner);

/* pfs_owner_hand - what one guard holds the other one holds from now on, for guards in memory that
 * moves. False: the first holds nothing, or the second something. Wait-free. */
bool pfs_owner_hand(struct pfs_owner_guard *from, struct pfs_owner_guard *to);

/* What an owner has now; sums of a moment each. Wait-free. */
struct pfs_owner_sums {
	uint64_t own_bytes, sum_bytes, high_bytes;
	uint64_t limit_bytes;   /* PFS_OWNER_NO_LIMIT: none */
	uint64_t refused, over; /* adds that its limit refused; that it only reported */
	uint64_t bad;           /* guards that were used a second time */
};
void pfs_owner_read(const struct pfs_owner *owner, struct pfs_owner_sums *sums);

#ifdef __cplusplus
}
#endif
#endif
