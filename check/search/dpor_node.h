/*
 * dpor_node.h - what dpor.c and dpor_views.c share: a step, its clock, and its options.
 */
#ifndef PFS_SIM_DPOR_NODE_H
#define PFS_SIM_DPOR_NODE_H

#include <string.h>

#include "check/machine/actors.h"
#include "check/search/dpor.h"

/* One step, and what must be tried in its place. Bits are actors; with views an actor is a thread
 * here, and an option also has the thread's choice. Both are numbers of actor.h. */
struct pfs_dpor_node {
	uint64_t options; /* bits of options: enabled */
	uint64_t sleep;   /* options not to be tried: explored from here, or from a sibling */
	uint32_t enabled;
	uint32_t backtrack; /* to be tried from here with all its options, tried ones included */
	uint32_t option;    /* chosen */
	/* What was executed. */
	struct pfs_effect did;
	uint64_t held; /* by memory, before the step */
	uint32_t actor;
	struct pfs_wake *wake; /* branches that are still to be executed from here */
	uint32_t next_race;    /* views: of the step being examined, or PFS_STEP_NONE */
	uint16_t index;        /* of the actor's steps: 1, 2, ... */
	uint16_t clock[PFS_DPOR_ACTORS_MAX]; /* steps of each actor that come before, this one
					      * included */
};

/* The fields of an executed step that are read most often. */
struct pfs_dpor_mark {
	uint32_t before; /* its actor's previous step, or PFS_STEP_NONE */
	uint32_t stores; /* of its actor into the buffer, up to this one */
	uint16_t index;  /* as the node's */
	uint8_t actor;
	bool buffered;
};

static inline uint32_t pfs_dpor_bit(uint32_t actor)
{
	return UINT32_C(1) << actor;
}

static inline uint64_t pfs_dpor_option_bit(uint32_t option)
{
	return UINT64_C(1) << option;
}

static inline uint32_t pfs_dpor_actor_of(const struct pfs_dpor *self, uint32_t option)
{
	return pfs_actor_first_of(self->actors, option);
}

static inline uint32_t pfs_dpor_actors_of(const struct pfs_dpor *self, uint64_t options)
{
	uint32_t set = 0;
	for (uint64_t rest = options; rest != 0; rest >>= self->actors)
		set |= (uint32_t)(rest & (pfs_dpor_option_bit(self->actors) - 1));
	return set;
}

/* All options of a set of actors. */
static inline uint64_t pfs_dpor_options_of(const struct pfs_dpor *self, uint32_t set)
{
	uint64_t found = 0;
	for (uint32_t at = 0; at < PFS_DPOR_OPTIONS_MAX; at = pfs_actor_older(self->actors, at))
		found |= (uint64_t)set << at;
	return found;
}

/* Does the step come before what the clock has seen? */
static inline bool pfs_dpor_is_known(const uint16_t *clock, const struct pfs_dpor_node *step)
{
	return clock[step->actor] >= step->index;
}

static inline void pfs_dpor_merge(uint16_t *clock, const uint16_t *other)
{
	for (uint32_t actor = 0; actor < PFS_DPOR_ACTORS_MAX; actor++) {
		if (clock[actor] < other[actor])
			clock[actor] = other[actor];
	}
}

/*
 * Iterates, from the last to the first, over the steps before step n, of other actors, that a clock
 * does not know. Steps that the clock learns meanwhile are skipped: of each actor it knows the
 * first steps.
 */
struct pfs_dpor_walk {
	uint32_t next[PFS_DPOR_ACTORS_MAX]; /* of each actor */
	uint32_t actors, own;
};

/* Bring self->last up to the steps before step n. */
void pfs_dpor_chain(struct pfs_dpor *self, uint32_t n);
/* Step n, which ends its actor's chain. */
void pfs_dpor_mark(struct pfs_dpor *self, uint32_t n);

static inline void pfs_dpor_walk_begin(struct pfs_dpor_walk *walk, struct pfs_dpor *self,
				       uint32_t n, uint32_t own)
{
	pfs_dpor_chain(self, n);
	walk->actors = self->actors;
	walk->own = own;
	memcpy(walk->next, self->last, self->actors * sizeof(walk->next[0]));
}

/* PFS_STEP_NONE: the end. */
static inline uint32_t pfs_dpor_walk_next(struct pfs_dpor_walk *walk, const struct pfs_dpor *self,
					  const uint16_t *clock)
{
	uint32_t latest = PFS_STEP_NONE, latest_actor = 0;
	for (uint32_t actor = 0; actor < walk->actors; actor++) {
		uint32_t step = walk->next[actor];
		if (actor == walk->own || step == PFS_STEP_NONE ||
		    clock[actor] >= self->marks[step].index ||
		    (latest != PFS_STEP_NONE && step < latest))
			continue;
		latest = step;
		latest_actor = actor;
	}
	if (latest != PFS_STEP_NONE)
		walk->next[latest_actor] = self->marks[latest].before;
	return latest;
}

static inline bool pfs_dpor_depend(const struct pfs_dpor_node *a, const struct pfs_dpor_node *b)
{
	return pfs_effects_depend(&a->did, &b->did);
}

/* The step of an option at this moment, as if it had been executed. */
static inline struct pfs_dpor_node pfs_dpor_next_step(const struct pfs_machine *machine,
						      uint32_t option)
{
	uint32_t actors = pfs_machine_actor_count(machine);
	return (struct pfs_dpor_node){ .did = pfs_effect_pending(machine,
								 pfs_actor_of(machine, option)),
				       .actor = pfs_actor_first_of(actors, option) };
}

/* Does the step come after none of these? */
static inline bool pfs_dpor_is_initial(const struct pfs_dpor *self, const uint32_t *initials,
				       uint32_t count, const struct pfs_dpor_node *step)
{
	for (uint32_t i = 0; i < count; i++) {
		if (pfs_dpor_is_known(step->clock, &self->nodes[initials[i]]))
			return false;
	}
	return true;
}

/* Mark one of these actors for trying at the node, the preferred one if possible, unless one of
 * them is marked already, or sleeps. */
static inline void pfs_dpor_try_one(const struct pfs_dpor *self, struct pfs_dpor_node *node,
				    uint32_t actors, uint32_t preferred)
{
	uint32_t awake = pfs_dpor_actors_of(self, node->options & ~node->sleep);
	if ((actors & (node->backtrack | (node->enabled & ~awake))) != 0)
		return;
	actors &= node->enabled;
	if (actors == 0)
		node->backtrack |= node->enabled; /* cannot happen; if it does, trying all is
						   * correct */
	else if ((actors & preferred) != 0)
		node->backtrack |= preferred;
	else
		node->backtrack |= actors & (0u - actors);
}

/* With views an await is a load with fewer choices. */
static inline bool pfs_dpor_waits(const struct pfs_dpor *self, const struct pfs_effect *effect)
{
	return effect->ran.kind == PFS_SIM_LOCK ||
	       (effect->ran.kind == PFS_SIM_AWAIT && !self->views);
}

/* Could step n, a yield, go before step j, which was news to it? Only if there was other news. True
 * for steps that are no yields. */
bool pfs_dpor_needs_not(const struct pfs_dpor *self, uint32_t j, uint32_t n);

/* What the actor's step number n comes after in any order, into clock. Returns its index. */
uint16_t pfs_dpor_base(struct pfs_dpor *self, const struct pfs_machine *machine, uint32_t n,
		       const struct pfs_dpor_node *step, uint16_t *clock);

/* In dpor_views.c, which explains them. */

#define PFS_DPOR_RIVALS_MAX 256u

/* Node n is new, with these options and sleepers: the races of the options that are impossible
 * there. */
void pfs_dpor_views_rivals(struct pfs_dpor *self, const struct pfs_machine *machine, uint32_t n,
			   uint64_t options, uint64_t sleep);

/* The clock of step n holds what its thread did before, as base: add what else it comes after, and
 * find its races. */
void pfs_dpor_views_races(struct pfs_dpor *self, uint32_t n, const uint16_t *base);

/* A thread waits, at step n or when the execution ends there: the writes of its word before that
 * may have come later. */
void pfs_dpor_views_wait(struct pfs_dpor *self, uint32_t n, const struct pfs_dpor_node *step,
			 const uint16_t *base);

/* Parent ran, and option slept before it. Returns the options of the same thread that sleep after
 * it: their steps could also have been made before parent's step, which was explored. */
uint64_t pfs_dpor_views_asleep(const struct pfs_dpor *self, const struct pfs_machine *machine,
			       const struct pfs_dpor_node *parent, uint32_t option);

#endif
