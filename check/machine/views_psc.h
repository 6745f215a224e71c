/*
 * views_psc.h - RC11's order psc of seq operations and seq fences.
 *
 * Without seq fences views_seq.h computes all of psc, at a fraction of the cost; from the first seq
 * fence of an execution on this file replaces it. Nodes are seq operations and seq fences. The
 * edges are those of views_seq.h, in which a fence stands for what it happens before, or what
 * happens before it. In addition a fence comes before another fence if it happens before it; or if
 * it happens before an operation A, A precedes an operation B in eco (B read or wrote something
 * later at the location), and B happens before the other fence.
 *
 * A step that is executed last has edges out only to what is newer at its location. So, as there,
 * only a choice of an old message can close a cycle; but now of any operation after a fence, not
 * only of seq ones. Such a choice is not offered, and the newest message is always possible. A
 * fence changes nothing for other threads: the order of fences is no more than psc.
 *
 * In programs with fences, operations are recorded as they are executed, and the graph is searched
 * when an old message might be chosen. All nodes of a thread are ordered, so the set of reached
 * nodes is a number for each thread.
 *
 * Source: O. Lahav, V. Vafeiadis, J. Kang, C.-K. Hur, D. Dreyer, PLDI 2017.
 */
#ifndef PFS_SIM_VIEWS_PSC_H
#define PFS_SIM_VIEWS_PSC_H

#include "check/machine/clocks.h"

struct pfs_views;

/* An operation that was executed, or a seq fence. Never changed. */
struct pfs_psc_event {
	const uint32_t *clock; /* of its thread, after its acquire */
	uint32_t thread;
	uint32_t epoch;
	uint32_t before;        /* the thread's previous event, or PFS_PSC_NONE */
	uint32_t elsewhere;     /* the last one at another location */
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

/* An operation that might be executed: it reads, or writes after, the message at position `at` of
 * its location. */
struct pfs_psc_choice {
	uint32_t thread, location, at;
	bool seq, reads, writes;
	const uint32_t *acquired; /* the clock, or NULL */
};

void pfs_psc_fini(struct pfs_psc *self);
void pfs_psc_begin(struct pfs_psc *self, uint32_t threads);
struct pfs_machine_snapshot;
void pfs_psc_keep(struct pfs_psc *self, struct pfs_machine_snapshot *snapshot);

/* The thread executed this; its epoch, clock and place among others are filled in. */
void pfs_psc_add(struct pfs_psc *self, const struct pfs_clocks *clocks,
		 const struct pfs_psc_event *event);

/* True if it closes no cycle. */
bool pfs_psc_allows(const struct pfs_views *views, const struct pfs_clocks *clocks,
		    const struct pfs_psc_choice *choice);

/* If it does, the steps that may be part of one; returns how many, at most room. */
uint32_t pfs_psc_cycle(const struct pfs_views *views, const struct pfs_clocks *clocks,
		       const struct pfs_psc_choice *choice, uint32_t *steps, uint32_t room);

#endif
