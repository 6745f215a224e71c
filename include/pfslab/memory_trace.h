/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory_trace.h - exact bytes of named owners of memory, in a tree, with limits that are enforced.
 *
 * An owner (a cache, a queue, a session) reports how many bytes it takes and gives back, wherever
 * they come from. Each add sets a *guard*. Only that guard can subtract the bytes, all of them,
 * once: a second subtraction, or one through a copy of a guard, is refused and counted, so no sum
 * falls below zero. An owner has its own bytes, the sum of these and of all owners below it, and
 * the peak of that sum. All of it is in the box (docs/explanation/trace.md).
 *
 *	cache = pfs_owner_register(books, NULL, "cache");
 *	blocks = pfs_owner_register(books, cache, "blocks");
 *	pfs_owner_limit(cache, 64 << 20, PFS_OWNER_REFUSE);
 *	struct pfs_owner_guard guard = { 0, 0, 0 };
 *	if (!pfs_owner_add(blocks, bytes, &guard))
 *		...                                      there is no room for it
 *	pfs_owner_end(&guard);
 *
 * Limits hold for every owner up to the root. An add first reserves its bytes at each owner, from
 * its own upwards, with one fetch-add each, as the kernel's page_counter does; if one owner is over
 * its limit, all reservations are undone. Reservations and counts are separate, so the sum of an
 * owner whose limit refuses never exceeds that limit. A reservation may cause a concurrent add to
 * be refused although its own add is then refused further up; a later add can use that room.
 *
 * A guard belongs to the caller. It starts as zeroes and must stay where it is: a copy holds
 * nothing (use pfs_owner_hand). Two threads that use one guard at the same time are safe: one is
 * refused. Overwriting a guard, or copying its older bytes back over it, is noticed only if an
 * owner would fall below zero.
 *
 * Owners exist until the books are closed. Any thread may make these calls; signal handlers may
 * not. fork: the child continues with the state at the fork.
 *
 * Source: TiKV's memory trace (a tree of named counters) and Linux mm/page_counter.c (limits); the
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

/* The guard of one add. The caller keeps it and does not touch its fields. All zero: it holds
 * nothing. */
struct pfs_owner_guard {
	uint64_t state, owner, bytes;
};

#define PFS_OWNER_NO_LIMIT UINT64_MAX
#define PFS_OWNER_ADD_MOST (UINT64_C(1) << 47)   /* one add grants at most this */
#define PFS_OWNER_BYTES_MOST (UINT64_C(1) << 62) /* no sum exceeds this */

/* What happens to an add above a limit. */
enum pfs_owner_action {
	PFS_OWNER_REFUSE, /* it is refused */
	PFS_OWNER_CALL,   /* the owner's callback is called, and may ask to try again */
	PFS_OWNER_REPORT  /* it is granted, and counted in `over` */
};

/*
 * pfs_owner_register - register an owner by its name, below another one or at the top (NULL).
 *
 * Returns   the owner, the same for the same name and parent; NULL: the name is empty, longer than
 *           47 bytes or contains '/', the tree is deeper than 16, or there is no room for a record
 *           (trace_owners_max of the books; counted as lost). All calls accept NULL for an owner,
 *           and then count and refuse nothing.
 * Progress  blocking.
 */
struct pfs_owner *pfs_owner_register(struct pfs_books *books, struct pfs_owner *parent,
				     const char *name);

/*
 * pfs_owner_limit - limit the bytes of an owner and all owners below it. Initially there is no
 * limit, and the action is PFS_OWNER_REFUSE. Bytes that are already counted stay, even above the
 * limit.
 *
 * `UPDATE memory_trace SET LIMIT_BYTES = ...` does the same from outside; the last change wins.
 *
 * Progress  wait-free.
 * Order     none: a concurrent add may use the old limit or the new one.
 */
void pfs_owner_limit(struct pfs_owner *owner, uint64_t limit_bytes, enum pfs_owner_action action);

/* The callback of an add that is over a limit of PFS_OWNER_CALL. The adding thread calls it, with
 * nothing reserved. It may end guards and add. True: try again, at most three times. */
typedef bool (*pfs_owner_caller)(void *context, struct pfs_owner *over, uint64_t bytes);

/* pfs_owner_on_limit - set the callback, before the first add at or below the owner. */
void pfs_owner_on_limit(struct pfs_owner *owner, pfs_owner_caller call, void *context);

/*
 * pfs_owner_add - add bytes to the owner, until the guard ends.
 *
 * Returns   true: the bytes are counted. False: nothing is counted. Either a limit refused the add
 *           (counted at the owner with that limit; the guard is empty), or the guard already holds
 *           an add (counted as bad).
 * Progress  wait-free; lock-free if a peak rises: a CAS fails only if another add raised the same
 *           peak, and is repeated only while this add's sum is higher. A callback may block.
 * Order     acquire [Z1]: after the subtractions whose room it uses.
 * Cost      a CAS of the guard, one locked addition to the owner's own bytes, two at each level,
 *           and a CAS at each level whose peak rises.
 * Source    Linux mm/page_counter.c.
 */
bool pfs_owner_add(struct pfs_owner *owner, uint64_t bytes, struct pfs_owner_guard *guard);

/*
 * pfs_owner_end - subtract the guard's bytes. The guard may then be used for another add.
 *
 * Returns   false: the guard holds nothing, and nothing is subtracted. Counted as bad if it held
 *           something before or is a copy; not after an add that was refused.
 * Progress  wait-free.
 * Order     release [Z2].
 */
bool pfs_owner_end(struct pfs_owner_guard *guard);

/* pfs_owner_resize - change the guard's bytes. False: they are unchanged, because a limit refused
 * the growth or the guard holds nothing. Shrinking is never refused. Progress and order as
 * pfs_owner_add. */
bool pfs_owner_resize(struct pfs_owner_guard *guard, uint64_t bytes);

/* pfs_owner_move - move the guard's bytes to another owner. Limits of owners above both do not
 * apply, because their sums do not change. During the call both owners count the bytes, so that no
 * reader sees too little. False: the bytes stay where they were. Progress and order as
 * pfs_owner_add. */
bool pfs_owner_move(struct pfs_owner_guard *guard, struct pfs_owner *owner);

/* pfs_owner_hand - move an add from one guard to another, for guards in memory that moves. False:
 * the first holds nothing, or the second holds something. Wait-free. */
bool pfs_owner_hand(struct pfs_owner_guard *from, struct pfs_owner_guard *to);

/* The state of an owner; each sum is of some moment of the call. pfs_owner_read is wait-free. */
struct pfs_owner_sums {
	uint64_t own_bytes, sum_bytes, high_bytes;
	uint64_t limit_bytes;   /* or PFS_OWNER_NO_LIMIT */
	uint64_t refused, over; /* adds that its limit refused; adds that it only reported */
	uint64_t bad;           /* uses of a guard that were refused */
};
void pfs_owner_read(const struct pfs_owner *owner, struct pfs_owner_sums *sums);

#ifdef __cplusplus
}
#endif
#endif
