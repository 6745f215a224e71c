/*
 * explore.h - every schedule of a small case, depth first, by running it again and again.
 *
 * Two ways to prune:
 *   sleep sets         execute all classes of schedules that differ in the order of two steps
 *                      which depend on each other (depends.h); schedules that only repeat a
 *                      class are cut short. Sound: every reachable state of a thread is met.
 *                      Source: P. Godefroid, LNCS 1032, 1996.
 *   a preemption bound execute every schedule that preempts a thread, which could go on and
 *                      does not yield, at most preemption_max times: a guarantee, though not
 *                      about everything. Most bugs need 1 or 2. Drains do not count.
 *
 * Threads that yield go on only when there is news of what they read (news.h), so a schedule in
 * which one spins alone is not visited.
 */
#ifndef PFS_SIM_EXPLORE_H
#define PFS_SIM_EXPLORE_H

#include "check/machine/machine.h"
#include "check/search/part.h"
#include "check/search/search.h"

#define PFS_EXPLORE_ACTORS_MAX 64u

struct pfs_explore_node;

struct pfs_explore {
	struct pfs_scheduler scheduler;
	uint32_t preemption_max; /* PFS_PREEMPTIONS_ANY: sleep sets instead */
	bool naive;              /* neither: every schedule; to check the others against */
	struct pfs_explore_node *nodes;
	uint32_t depth, room; /* choices on the current path */
	uint32_t root;        /* the choices below it belong to another part */
	uint32_t at;          /* next choice of the current execution */
	bool redundant;       /* the current execution only repeats a class */
	bool append_only;     /* views: no write is put before an existing one */
	bool no_memory;       /* the search is cut: not exhaustive */
	uint32_t left_out;    /* enum pfs_search_left: choices that were not tried */
	bool bounded;         /* preemption_max or append_only left schedules out */
};

void pfs_explore_init(struct pfs_explore *self, uint32_t preemption_max);
void pfs_explore_fini(struct pfs_explore *self);

/* Prepare the next execution; false: all were visited. Call before each but the first. */
bool pfs_explore_next(struct pfs_explore *self);

/* Begin with a part. false: no memory. */
bool pfs_explore_take(struct pfs_explore *self, const struct pfs_part *part);

/* After pfs_explore_next: what is left, in parts. false: there is only one part, or no memory. */
bool pfs_explore_split(const struct pfs_explore *self, struct pfs_parts *parts);

#endif
