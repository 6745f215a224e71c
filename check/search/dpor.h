/*
 * dpor.h - executes every class of schedules of a small case, by the races of what was executed.
 *
 * Source sets (source-DPOR) with sleep sets: a node tries another actor only if some execution
 * through it showed a race whose other order begins with that actor and with none that is tried
 * already. Two steps race if they depend on each other (depends.h) and nothing between orders them.
 * Source: Abdulla, Aronsson, Jonsson, Sagonas, POPL 2014; JACM 64(4), 2017.
 *
 * Beyond the paper:
 *   blocking operations  lock and await could go before an earlier write only if their condition
 *                        held there: the latest such write is their race. A barrier tries
 *                        everything wherever others had stores in their buffers.
 *   store buffers        the drain of a thread's stores is an actor of its own; store -> its
 *                        drain, and drains -> what needs an empty buffer, order without racing.
 *   notes with a time    (PFS_SIM_NOTE, operand PFS_NOTE_BEGIN or PFS_NOTE_END): all orders
 *                        that the clock can tell are tried.
 *   views                what a load reads, and where a store is put, are choices of a thread. A
 *                        race gives the other order to a thread, with all its choices. A choice
 *                        is part of an operation: each one sleeps, and is woken, by itself. A
 *                        class is an execution of RC11 (with the order of notes and of waiting
 *                        operations), not an order of its loads and stores; dpor_views.c proves
 *                        that nothing is lost. A barrier depends on everything.
 *   yields               wait for news (news.h). A yield could go before a write that was news
 *                        to it only if another one was too: those are its races. A yield that
 *                        went on because no other thread could comes after all executed steps.
 *   the bound on steps   an execution that reaches it is tried with all others at each of its
 *                        steps, as sleep sets would.
 * A case with too many actors is refused (refusal).
 */
#ifndef PFS_SIM_DPOR_H
#define PFS_SIM_DPOR_H

#include "check/machine/depends.h"
#include "check/search/part.h"
#include "check/search/rewind.h"
#include "check/search/wake.h"

#define PFS_DPOR_ACTORS_MAX 32u
#define PFS_DPOR_OPTIONS_MAX 64u

struct pfs_dpor_node;
struct pfs_dpor_mark;

struct pfs_dpor {
	struct pfs_scheduler scheduler;
	struct pfs_dpor_node *nodes;
	uint32_t actors;             /* on the machine; with views, threads */
	struct pfs_dpor_mark *marks; /* of steps, as executed */
	uint32_t mark_room;
	uint32_t chained;                   /* `last` is of the steps before this one */
	uint32_t last[PFS_DPOR_ACTORS_MAX]; /* by actor; PFS_STEP_NONE: none */
	uint32_t depth, room;               /* steps on the current path */
	uint32_t root;                      /* the steps below it belong to another part */
	uint32_t at;                        /* next step of the current execution */
	uint32_t fresh;                     /* steps before this one are those of the last
					     * execution */
	bool begun;                         /* there was an execution: its steps are known */
	bool views;                         /* on a machine with views */
	bool redundant;                     /* the current execution only repeats a class */
	bool append_only;                   /* views: no write is put before an existing one */
	bool no_memory;                     /* the search is cut: not exhaustive */
	uint32_t left_out;                  /* enum pfs_search_left: choices that were not tried */
	bool bounded;                       /* append_only left schedules out */
	const char *refusal;                /* not NULL: this search cannot handle this case */
	struct pfs_wake_trees wake;
	struct pfs_rewind *rewind; /* or NULL: each execution starts from the set-up */
};

void pfs_dpor_init(struct pfs_dpor *self);
void pfs_dpor_fini(struct pfs_dpor *self);

/* The next execution continues from a snapshot, not from its first step. */
void pfs_dpor_resume(struct pfs_dpor *self, uint32_t step);

/* Prepare the next execution; false: all were visited. Call before each but the first. */
bool pfs_dpor_next(struct pfs_dpor *self);

/* Begin with a part. false: no memory. */
bool pfs_dpor_take(struct pfs_dpor *self, const struct pfs_part *part);

/* After pfs_dpor_next: what is left, in parts. A part does not know what its siblings ask for
 * meanwhile, so there may be a few more executions. false: there is only one part, or no memory. */
bool pfs_dpor_split(const struct pfs_dpor *self, struct pfs_parts *parts);

/* At the end of a part: what it asks for above its root. */
void pfs_dpor_ask(const struct pfs_dpor *self, struct pfs_parts *parts);

#endif
