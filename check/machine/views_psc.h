/*
 * views_psc.h - RC11's order psc where a program has seq fences: of these and of seq operations.
 *
 * Without seq fences views_seq.h is all there is of it, at a fraction of the cost; with the first
 * one of an execution this takes its place. Nodes are seq operations and seq fences. Beside the
 * edges that views_seq.h names, in which a fence stands for whatever it happens before, or what
 * happens before it, a fence comes before another if it happens before it, or before an operation
 * whose location another has in a later state (eco: it read or wrote something later), which
 * happens before the other fence.
 *
 * What is executed last has edges out only to what is newer at its location, so here, too, only a
 * choice of an old message can close a cycle; now of any operation behind a fence, not of seq ones
 * alone. Such a choice is not offered, and the newest message is always possible. A fence changes
 * nothing for others: the order of fences is no more than psc.
 *
 * Operations are written down as they are executed, in programs that have fences at all, and the
 * graph is walked when an old message might be chosen. All nodes of a thread are ordered, so what
 * has been reached is a number for each thread.
 *
 * Source: O. Lahav, V. Vafeiadis, J. Kang, C.-K. Hur, D. Dreyer, PLDI 2017.
 */
#ifndef PFS_SIM_VIEWS_PSC_H
#define PFS_SIM_VIEWS_PSC_H

#include "check/machine/clocks.h"

struct pfs_views;

/* An operation that was executed, or a seq fence. Never changed. */
struct pfs_psc_event {
	const uint32_t *clock; /* of its thread, what it acquired included */
	uint32_t thread;
	uint32_t epoch;
	uint32_t before;        /* the thread's event before it, or PFS_PSC_NONE */
	uint32_t elsewhere;     /* the last such of another location */
	uint32_t location;      /* PFS_TABLE_NONE: a fence */
	uint32_t read, written; /* messages, or PFS_PSC_NONE */
	uint32_t step;
	bool seq;
};

#define PFS_PSC_NONE UINT32_MAX

struct pfs_psc {
	uint32_t threads;
	struct pfs_psc_event *events;
	uint32_t count, room;
	uint32_t *fences; /* events that are fences */
	uint32_t fence_count, fence_room;
	uint32_t *last; /* [threads] its last event */
	uint32_t last_room;
	uint32_t *reached, *done; /* of a walk: [threads] */
	uint32_t reached_room, done_room;
	uint32_t *least; /* of a walk, by location */
	uint32_t least_room;
	struct pfs_scratch arena;
};

/* An operation that might be executed: it reads, or writes behind, the message at position `at` of
 * its location. */
struct pfs_psc_choice {
	uint32_t thread, location, at;
	bool seq, reads, writes;
	const uint32_t *acquired; /* the clock, or NULL */
};

void pfs_psc_fini(struct pfs_psc *self);
void pfs_psc_begin(struct pfs_psc *self, uint32_t threads);
struct pfs_snapshot;
void pfs_psc_keep(struct pfs_psc *self, struct pfs_snapshot *snapshot);

/* The thread executed this; its epoch, clock and place among others are filled in. */
void pfs_psc_add(struct pfs_psc *self, const struct pfs_clocks *clocks,
		 const struct pfs_psc_event *event);

/* Does it close no cycle? */
bool pfs_psc_allows(const struct pfs_views *views, const struct pfs_clocks *clocks,
		    const struct pfs_psc_choice *choice);

/* If it does, the steps that may be part of one; returns how many, at most room. */
uint32_t pfs_psc_cycle(const struct pfs_views *views, const struct pfs_clocks *clocks,
		       const struct pfs_psc_choice *choice, uint32_t *steps, uint32_t room);

#endif
