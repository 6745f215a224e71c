/*
 * dpor_views.c - dpor.h's search with views: executions, not orders of loads and stores.
 *
 * What a load or store does is an option: "read message m", "put it behind m". So two operations
 * on one location that are executed next to each other may be swapped, and it is the same
 * execution - reads-from, modification order, and all that follows from them: views, clocks -
 * unless
 *	the second reads the first,
 *	both are seq (the last seq write bounds what seq reads and writes may choose), or
 *	both write and writes only append.
 * A load changes nothing but its own thread. A store behind m leaves "behind m" to another, which
 * then comes before it; only of two read-modify-writes that read m the second is impossible.
 * All else (notes, unmap, mutexes, await, barriers) is related as depends.h says. `Comes before`
 * below, and the clocks of steps, are what these relations and program order say; executions
 * that agree on them are one class.
 *
 * Sleep: an option stays asleep over a step of another thread if it could as well have gone
 * before that step. Then its message may be one further from the newest (pfs_dpor_views_asleep).
 * What the step made possible, to read it, is awake.
 *
 * Races: when n has been executed, j < n of another thread, not before n by way of a third, is
 * one if j comes before n, or if n writes what j could read. Then some first step of all that
 * comes before n, and not after j, is tried in j's place. This looks at the class alone. (Orders
 * of conflicts, as in dpor.c, are not the same in all executions of a class, and that which
 * shows the race may be asleep. For the same reason steps that merely stand between j and n
 * do not count as first steps.)
 *
 * Why nothing is lost. Claim: after node E is done, every v that is possible from E, and that has
 * no first step asleep at E, is part of an execution that was begun from E; v first, as a class.
 * By induction. If a first step of v was tried at E, take the earliest such: behind it no first
 * step of the rest is asleep. If not, take the option p that was tried first. Either p and
 * v can be swapped: v is possible behind p. Or let e be the first step of v that either cannot
 * be swapped with p, or that p's thread's step in v comes directly behind. What comes before e is
 * possible behind p, then e, or where p forbids e an option that p made: not asleep; all of this is
 * shorter than v. So it was executed, p races with e, and a first step of v was tried: it is no
 * other than those of what comes before e. Where both are seq, e may read what was not there
 * before p; its writer counts then (try_sources). Where e waits, it may never be executed: all is
 * tried where its word was written, and also if an execution ends asleep (pfs_dpor_views_wait). An
 * await that is not seq is a load that lacks some options: what it could return it can return
 * later, too, but for a barrier. And a yield that can go on always can.
 *
 * Sources: P. Godefroid, LNCS 1032, 1996 (sleep sets); Aronis, Jonsson, Lang, Sagonas, TACAS 2018
 * (races that only an observer makes); Abdulla, Atig, Jonsson, Ngo, OOPSLA 2018 (reads-from under
 * release and acquire, what a load could read by going later).
 */
#include "sim/dpor_node.h"

/* Is it part of the execution that step i came before step n, of another thread? */
static bool comes_before(const struct pfs_dpor *self, uint32_t i, const struct pfs_dpor_node *n)
{
	const struct pfs_effect *a = &self->nodes[i].did, *b = &n->did;
	if (!pfs_effects_meet(a, b))
		return pfs_effects_depend(a, b);
	if (b->ran.kind != PFS_SIM_STORE && b->source == i)
		return true;
	if (!a->wrote && !b->wrote)
		return false;
	return pfs_effects_are_seq(a, b) || (self->append_only && a->wrote && b->wrote);
}

/* Could step j do something else if n had been there? A compare-and-swap might write, as seq. */
static bool is_news(const struct pfs_effect *j, const struct pfs_effect *n)
{
	if (!pfs_effects_meet(j, n))
		return false;
	if (n->wrote)
		return j->ran.kind != PFS_SIM_STORE;
	return j->ran.kind == PFS_SIM_CAS && j->ran.order == PFS_SIM_SEQ &&
	       n->ran.order == PFS_SIM_SEQ;
}

/* What the clock knows between j and n, and is not after j, may go before j; then n. */
static void try_before(struct pfs_dpor *self, uint32_t j, uint32_t n, const uint16_t *clock)
{
	uint32_t initials[PFS_DPOR_ACTORS_MAX], count = 0, actors = 0;
	struct pfs_dpor_node *node = &self->nodes[j];
	for (uint32_t k = j + 1; k < n; k++) {
		const struct pfs_dpor_node *step = &self->nodes[k];
		if (!pfs_dpor_is_known(clock, step) || pfs_dpor_is_known(step->clock, node) ||
		    !pfs_dpor_is_initial(self, initials, count, step))
			continue;
		initials[count++] = k; /* one of a thread */
		actors |= pfs_dpor_bit(step->actor);
	}
	if (count == 0)
		actors = pfs_dpor_bit(self->nodes[n].actor);
	pfs_dpor_try_one(self, node, actors, 0);
}

/* Both are seq: before j, step n could read what is too old for it behind j. */
static void try_sources(struct pfs_dpor *self, uint32_t j, uint32_t n)
{
	const struct pfs_dpor_node *node = &self->nodes[j], *last = &self->nodes[n];
	uint16_t clock[PFS_DPOR_ACTORS_MAX];
	if (last->did.ran.kind == PFS_SIM_STORE)
		return;
	for (uint32_t k = j + 1; k < n; k++) {
		const struct pfs_dpor_node *step = &self->nodes[k];
		if (!step->did.wrote || !pfs_effects_meet(&step->did, &last->did) ||
		    pfs_dpor_is_known(step->clock, node) || pfs_dpor_is_known(last->clock, step))
			continue;
		memcpy(clock, last->clock, sizeof(clock));
		pfs_dpor_merge(clock, step->clock);
		try_before(self, j, n, clock);
	}
}

void pfs_dpor_views_wait(struct pfs_dpor *self, uint32_t n, const struct pfs_dpor_node *step,
			 const uint16_t *base)
{
	for (uint32_t j = 0; j < n; j++) {
		struct pfs_dpor_node *before = &self->nodes[j];
		if (before->actor != step->actor && (before->did.wrote || before->did.fence) &&
		    !pfs_dpor_is_known(base, before) && pfs_dpor_depend(before, step))
			before->backtrack |= before->enabled;
	}
}

void pfs_dpor_views_races(struct pfs_dpor *self, uint32_t n, const uint16_t *base)
{
	struct pfs_dpor_node *step = &self->nodes[n];
	if (pfs_dpor_waits(self, &step->did))
		pfs_dpor_views_wait(self, n, step, base);
	for (uint32_t j = n; j-- > 0;) {
		struct pfs_dpor_node *before = &self->nodes[j];
		before->races = before->actor != step->actor &&
				!pfs_dpor_is_known(step->clock, before) &&
				comes_before(self, j, step);
		if (before->races)
			pfs_dpor_merge(step->clock, before->clock);
	}
	step->clock[step->actor] = step->index;
	for (uint32_t j = n; j-- > 0;) {
		const struct pfs_dpor_node *before = &self->nodes[j];
		if ((before->races && pfs_dpor_needs_not(self, j, n)) ||
		    (!pfs_dpor_is_known(step->clock, before) &&
		     is_news(&before->did, &step->did)))
			try_before(self, j, n, step->clock);
		if (before->races && pfs_effects_meet(&before->did, &step->did) &&
		    pfs_effects_are_seq(&before->did, &step->did))
			try_sources(self, j, n);
	}
}

/* Two writes behind the same message. did: the first; asleep was the second, and would now stand
 * at k = `option` behind the first, at `moved` behind the message, and so before the first. */
static uint64_t behind_same(const struct pfs_effect *did, const struct pfs_effect *next,
			    uint32_t option, uint32_t moved)
{
	bool did_read = did->ran.kind != PFS_SIM_STORE;
	if (next->ran.kind != PFS_SIM_STORE)
		return did_read ? 0 : pfs_dpor_option_bit(moved); /* it reads the message */
	if (did_read)
		return pfs_dpor_option_bit(option); /* the first would be put before it */
	return pfs_dpor_option_bit(option) | pfs_dpor_option_bit(moved);
}

uint64_t pfs_dpor_views_asleep(const struct pfs_dpor *self, const struct pfs_machine *machine,
			       const struct pfs_dpor_node *parent, uint32_t option)
{
	struct pfs_dpor_node next = pfs_dpor_next_step(machine, option);
	const struct pfs_effect *did = &parent->did;
	uint32_t older = option / self->actors, moved = option;
	if (next.actor == parent->actor)
		return 0;
	if (!pfs_effects_meet(did, &next.did))
		return pfs_dpor_depend(parent, &next) ? 0 : pfs_dpor_option_bit(option);
	if (did->wrote && older >= did->older)
		moved += self->actors;
	if (moved >= PFS_DPOR_OPTIONS_MAX)
		return 0;
	next = pfs_dpor_next_step(machine, moved); /* a compare-and-swap: does it write? */
	if (!did->wrote && !next.did.wrote)
		return pfs_dpor_option_bit(option);
	if (pfs_effects_are_seq(did, &next.did))
		return 0;
	if (!did->wrote || !next.did.wrote)
		return pfs_dpor_option_bit(moved);
	if (self->append_only)
		return 0;
	return older != did->older ? pfs_dpor_option_bit(moved)
				   : behind_same(did, &next.did, option, moved);
}
