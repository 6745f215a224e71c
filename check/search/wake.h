/*
 * wake.h - wakeup trees: which steps must follow where dpor.h tries another actor.
 *
 * A race asks for some actor to be tried in place of a step. If the search then continues freely it
 * may end with nothing but sleepers, because the steps that would have woken them come too late:
 * the execution only repeats a class. The steps that showed the race do wake them all. So they are
 * kept at the node, as a branch of its tree, and made there first; and what begins like a branch,
 * or could, goes into that branch. Then each class is executed once.
 *
 * What is left out because a sleeper could begin with it too is found after that sleeper, and kept
 * there as a branch. So all that is asked for must be kept from the first execution on, and no
 * branch may be lost: parts of a search (part.h) could have no trees. This holds for loads, stores,
 * read-modify-writes that write, and notes, without buffers and old values. From the first other
 * step on, and if there is no room, dpor.h continues without new branches, and leaves out only what
 * begins with an actor that it tries.
 *
 * Source: Abdulla, Aronsson, Jonsson, Sagonas, POPL 2014; JACM 64(4), 2017 (optimal DPOR).
 */
#ifndef PFS_SIM_WAKE_H
#define PFS_SIM_WAKE_H

#include "check/machine/depends.h"

#define PFS_WAKE_STEPS_MAX (1u << 18) /* in all trees; further branches are not kept */

struct pfs_dpor;
struct pfs_dpor_node;

/* A step in a tree: an actor, what it does, and what may follow it. */
struct pfs_wake {
	struct pfs_wake *behind; /* the first step after it, of the oldest branch */
	struct pfs_wake *next;   /* the first step of the next branch */
	struct pfs_effect does;
	uint32_t actor;
};

/* Steps that must be made before step j, in their order. */
struct pfs_wake_item {
	const struct pfs_effect *does;
	const uint16_t *clock; /* what comes before it, itself included; of the last, without */
	uint32_t actor;
	uint16_t index;
	bool gone; /* it is in the tree already */
};

/* Step n could go before step j. */
struct pfs_wake_race {
	uint32_t j, n;
	uint16_t base[32]; /* what n comes after in any order */
};

struct pfs_wake_trees {
	bool is_on;
	bool is_strict; /* no more branches: wake.c does not know enough of some step */
	bool is_lost;   /* a branch could not be followed: the search is not exhaustive */
	struct pfs_wake *unused;
	uint32_t used;           /* steps in trees */
	struct pfs_wake *follow; /* what comes after the current step */
	struct pfs_wake_item *items;
	uint32_t count, room;
	struct pfs_wake_race *races; /* of the execution so far */
	uint32_t race_count, race_room;
};

void pfs_wake_fini(struct pfs_wake_trees *self);

/* Drop a tree. */
void pfs_wake_drop(struct pfs_wake_trees *self, struct pfs_wake *first);

/* Keep a race until the execution has ended, because all of it that does not come after j must go
 * first. false: handle it at once instead. */
bool pfs_wake_keep(struct pfs_wake_trees *self, uint32_t j, uint32_t n, const uint16_t *base);

/* At the end: a branch for it, unless it is covered. false: not decided here. */
bool pfs_wake_add(struct pfs_dpor *self, const struct pfs_machine *machine,
		  const struct pfs_wake_race *race);

/* A step was executed. */
void pfs_wake_note(struct pfs_wake_trees *self, const struct pfs_effect *step);

/* The first of these options that a branch of the node begins with; the branch is followed.
 * PFS_ACTOR_NONE: there is no branch left. */
uint32_t pfs_wake_choose(struct pfs_wake_trees *self, struct pfs_dpor_node *node, uint64_t open);

/* The node is new: the branches that it has from above. */
void pfs_wake_arrive(struct pfs_wake_trees *self, struct pfs_dpor_node *node);

#endif
