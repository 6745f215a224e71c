/*
 * dpor_views.c - dpor.h's search with views: classes are executions, not orders of loads and
 * stores.
 *
 * What a load or store does is an option: "read message m", "put it after m". So two operations on
 * one location that are executed next to each other may be swapped, and the execution is the same -
 * reads-from, modification order, and all that follows from them: views, clocks, the order of seq
 * operations - unless
 *	the second reads the first, or
 *	both write and writes only append.
 * A load changes nothing but its own thread. A store after m leaves "after m" to another one, which
 * then comes before it. All other steps (notes, unmap, mutexes, await, barriers) are related as in
 * depends.h. `Comes before` below, and the clocks of steps, are the union of these relations and
 * program order; executions that agree on them are one class.
 *
 * Rivals: an option may be impossible because of a step of another thread that does not come before
 * it: of two read-modify-writes that read m, the second; of operations whose seq order would have a
 * cycle, the last. What has become impossible stays so, and each part of a possible execution is
 * possible. So for steps that may be swapped the order never matters, only whether all are there.
 *
 * Sleep: an option stays asleep over a step of another thread if it could also have gone before
 * that step. Its message may then be one further from the newest (pfs_dpor_views_asleep). An option
 * that the step made possible, to read it, is awake.
 *
 * Races: when n has been executed, a step j < n of another thread, not before n by way of a third,
 * is a race if j comes before n, or if n writes what j could read. At a new node, an option that is
 * not asleep and has rivals races with each of them that does not come before it: all nodes of the
 * cycles that it would close. Then some first step of all that comes before n, and not after j, is
 * tried in j's place. This depends on the class alone. (Orders of conflicts, as in dpor.c, are not
 * the same in all executions of a class, and the one that shows the race may be asleep. For the
 * same reason steps that are merely between j and n do not count as first steps.)
 *
 * Why nothing is lost. Claim C: when node E is done, every v that is possible from E, and that has
 * no first step asleep at E, is part of an execution that was begun from E, with v first, as a
 * class. Claim D: let v be impossible from E, but possible from E without some steps K that were
 * executed before, none of which comes before v; and let no first step of v be asleep at E. Then
 * some step of v is found to race with one of K. Both by induction: assume them for the nodes after
 * E.
 *	C: If a first step of v was tried at E, take the earliest such: after it no first step of
 *	the rest is asleep. If not, take the option p that was tried first. Let e be the first step
 *	of v that cannot be swapped with p, or that is directly followed by p's thread's step in v;
 *	let u be what comes before e, together with e; if there is no e, u is v. If u is possible
 *	after p it was executed there (C). Then either it was all of v, or p races with e and a
 *	first step of v was tried, because the first steps tried are among those of what comes
 *	before e. If u is impossible after p, it is possible without p: by D, p races with a step of
 *	u, and again a first step of v was tried.
 *	D: If a first step of v is impossible at E, all its rivals are examined here, one of K among
 *	them. If one was tried at E, take the earliest, and continue after it. If not, take p and u
 *	as above. If u is possible after p, then as in C a first step of v was tried. If not, it is
 *	possible without K and p: after p some step races with one of K, as claimed, or with p, and
 *	then a first step of v was tried at E.
 * A read-modify-write of m does not stop a store that is put after m: the store goes after the
 * read-modify-write. If e waits, it may never be executed: then everything is tried where its word
 * was written, and also if an execution ends asleep (pfs_dpor_views_wait). An await is a load that
 * lacks some options: what it could return it can return later too, apart from barriers and rivals.
 * A yield that can go on always can.
 *
 * Sources: P. Godefroid, LNCS 1032, 1996 (sleep sets); Aronis, Jonsson, Lang, Sagonas, TACAS 2018
 * (races that only an observer makes); Abdulla, Atig, Jonsson, Ngo, OOPSLA 2018 (reads-from under
 * release and acquire, what a load could read by going later).
 */
#include "check/machine/model.h"
#include "check/search/dpor_node.h"

/* Is it part of the execution that step i came before step n, of another thread? */
static bool comes_before(const struct pfs_dpor *self, uint32_t i, const struct pfs_dpor_node *n)
{
	const struct pfs_effect *a = &self->nodes[i].did, *b = &n->did;
	if (!pfs_effects_meet(a, b))
		return pfs_effects_depend(a, b);
	if (b->ran.kind != PFS_SIM_STORE && b->source == i)
		return true;
	return self->append_only && a->wrote && b->wrote;
}

/* Could step j read what n wrote? */
static bool is_news(const struct pfs_effect *j, const struct pfs_effect *n)
{
	return pfs_effects_meet(j, n) && n->wrote && j->ran.kind != PFS_SIM_STORE;
}

/* What the clock knows between j and n, and is not after j, may go before j; then n's actor. */
static void try_before(struct pfs_dpor *self, uint32_t j, uint32_t n, uint32_t actor,
		       const uint16_t *clock)
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
		actors = pfs_dpor_bit(actor);
	pfs_dpor_try_one(self, node, actors, 0);
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
	struct pfs_dpor_walk walk;
	pfs_dpor_walk_begin(&walk, self, n, step->actor);
	uint32_t first = PFS_STEP_NONE; /* of those that come directly before it */
	for (uint32_t j; (j = pfs_dpor_walk_next(&walk, self, step->clock)) != PFS_STEP_NONE;) {
		struct pfs_dpor_node *before = &self->nodes[j];
		if (!comes_before(self, j, step))
			continue;
		pfs_dpor_merge(step->clock, before->clock);
		before->next_race = first;
		first = j;
	}
	step->clock[step->actor] = step->index;
	for (uint32_t j = first; j != PFS_STEP_NONE; j = self->nodes[j].next_race) {
		if (pfs_dpor_needs_not(self, j, n))
			try_before(self, j, n, step->actor, step->clock);
	}
	pfs_dpor_walk_begin(&walk, self, n, step->actor);
	for (uint32_t j; (j = pfs_dpor_walk_next(&walk, self, step->clock)) != PFS_STEP_NONE;) {
		if (is_news(&self->nodes[j].did, &step->did))
			try_before(self, j, n, step->actor, step->clock);
	}
}

/* An option of a thread whose next step is n is impossible: what does it come after? */
static void try_before_rivals(struct pfs_dpor *self, const struct pfs_machine *machine, uint32_t n,
			      uint32_t option, const uint32_t *rivals, uint32_t count)
{
	struct pfs_dpor_node step = pfs_dpor_next_step(machine, option);
	const struct pfs_vthread *thread = machine->threads[step.actor];
	uint32_t source = machine->model->source(machine, thread,
						 pfs_actor_choice_of(self->actors, option));
	(void)pfs_dpor_base(self, machine, n, &step, step.clock);
	if (source != PFS_STEP_NONE)
		pfs_dpor_merge(step.clock, self->nodes[source].clock);
	for (uint32_t i = 0; i < count; i++) {
		const struct pfs_dpor_node *rival = &self->nodes[rivals[i]];
		if (rival->actor != step.actor && !pfs_dpor_is_known(step.clock, rival))
			try_before(self, rivals[i], n, step.actor, step.clock);
	}
}

void pfs_dpor_views_rivals(struct pfs_dpor *self, const struct pfs_machine *machine, uint32_t n,
			   uint64_t options, uint64_t sleep)
{
	uint32_t rivals[PFS_DPOR_RIVALS_MAX], count = pfs_machine_actor_limit(machine);
	for (uint32_t option = self->actors; option < count && option < PFS_DPOR_OPTIONS_MAX;
	     option++) {
		struct pfs_actor actor = pfs_actor_of(machine, option);
		const struct pfs_vthread *thread = machine->threads[actor.thread];
		if (((options | sleep) & pfs_dpor_option_bit(option)) != 0 ||
		    thread->state == PFS_VTHREAD_FINISHED || thread->steps >= thread->stop_after)
			continue;
		if (self->append_only && pfs_dpor_next_step(machine, option).did.wrote)
			continue;
		uint32_t found = machine->model->rivals(machine, thread, actor.choice, rivals,
							PFS_DPOR_RIVALS_MAX);
		self->left_out |= found == PFS_DPOR_RIVALS_MAX ? PFS_LEFT_RIVALS : 0;
		try_before_rivals(self, machine, n, option, rivals, found);
	}
}

/* Two writes after the same message. did: the first. The second was asleep, and would then be at k
 * = `option` after the first, at `moved` after the message, and so before the first. */
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
	uint32_t older = pfs_actor_choice_of(self->actors, option), moved = option;
	if (next.actor == parent->actor)
		return 0;
	if (!pfs_effects_meet(did, &next.did))
		return pfs_dpor_depend(parent, &next) ? 0 : pfs_dpor_option_bit(option);
	if (did->wrote && older >= did->older)
		moved = pfs_actor_older(self->actors, moved);
	if (moved >= PFS_DPOR_OPTIONS_MAX)
		return 0;
	next = pfs_dpor_next_step(machine, moved); /* a compare-and-swap: does it write? */
	if (!did->wrote && !next.did.wrote)
		return pfs_dpor_option_bit(option);
	if (!did->wrote || !next.did.wrote)
		return pfs_dpor_option_bit(moved);
	if (self->append_only)
		return 0;
	return older != did->older ? pfs_dpor_option_bit(moved)
				   : behind_same(did, &next.did, option, moved);
}
