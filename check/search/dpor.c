#include "check/search/dpor.h"

#include <stdlib.h>
#include <string.h>

#include "check/search/dpor_node.h"
#include "check/machine/grow.h"
#include "check/machine/actors.h"

/* ---- the other order of a race ---- */

/*
 * The step `last`, number n, must go before step j. The steps that do not come after j may go
 * first, then last: which actors can begin that? base: what last comes after in any order.
 */
static uint32_t initials_of(const struct pfs_dpor *self, uint32_t j, uint32_t n,
			    const struct pfs_dpor_node *last, const uint16_t *base)
{
	uint32_t initials[PFS_DPOR_ACTORS_MAX], count = 0, actors = 0;
	const struct pfs_dpor_node *turned = &self->nodes[j];
	bool last_is_first = true;
	for (uint32_t k = j + 1; k < n; k++) {
		const struct pfs_dpor_node *step = &self->nodes[k];
		if (pfs_dpor_is_known(step->clock, turned))
			continue;
		if (pfs_dpor_is_initial(self, initials, count, step)) {
			initials[count++] = k;
			actors |= pfs_dpor_bit(step->actor);
		}
		if (step->actor == last->actor || pfs_dpor_is_known(base, step) ||
		    pfs_dpor_depend(step, last))
			last_is_first = false;
	}
	return last_is_first ? actors | pfs_dpor_bit(last->actor) : actors;
}

static void try_other_order(struct pfs_dpor *self, uint32_t j, uint32_t n,
			    const struct pfs_dpor_node *last, const uint16_t *base)
{
	struct pfs_dpor_node *node = &self->nodes[j];
	uint32_t actors = initials_of(self, j, n, last, base);
	pfs_dpor_try_one(self, node, actors, pfs_dpor_bit(last->actor));
}

/* Could a waiting operation have gone on while its word had this value? */
static bool could_go_on(const struct pfs_sim_operation *waiting, uint64_t value)
{
	return waiting->kind == PFS_SIM_LOCK ? value == 0 : pfs_model_may_return(waiting, value);
}

/* Find the latest write before which `last` could have gone on; its other order shows the earlier
 * ones. A yield writes nothing, but orders what was news to it. holds: it can go on at n. */
static void find_race_of_waiting(struct pfs_dpor *self, uint32_t n, bool holds,
				 const struct pfs_dpor_node *last, const uint16_t *base)
{
	for (uint32_t j = n; j-- > 0;) {
		const struct pfs_dpor_node *step = &self->nodes[j];
		if (step->actor == last->actor || pfs_dpor_is_known(base, step) ||
		    !pfs_dpor_depend(step, last))
			continue;
		bool wrote = step->did.wrote;
		if (wrote)
			holds = could_go_on(&last->did.ran, step->held);
		if (holds)
			try_other_order(self, j, n, last, base);
		if (holds && wrote)
			return;
	}
}

static void find_races_of_barrier(struct pfs_dpor *self, uint32_t n,
				  const struct pfs_dpor_node *last, const uint16_t *base)
{
	for (uint32_t j = 0; j < n; j++) {
		const struct pfs_dpor_node *step = &self->nodes[j];
		if (step->did.thread != last->did.thread && !pfs_dpor_is_known(base, step) &&
		    pfs_dpor_depend(step, last))
			self->nodes[j].backtrack |= self->nodes[j].enabled;
	}
}

/* ---- what was executed ---- */

static void find_races(struct pfs_dpor *self, const struct pfs_machine *machine, uint32_t n)
{
	struct pfs_dpor_node *step = &self->nodes[n];
	uint16_t base[PFS_DPOR_ACTORS_MAX];
	step->index = pfs_dpor_base(self, machine, n, step, base);
	pfs_dpor_mark(self, n);
	pfs_wake_note(&self->wake, &step->did);
	memcpy(step->clock, base, sizeof(base));
	if (machine->model->keeps_old) {
		pfs_dpor_views_races(self, n, base);
		return;
	}
	bool waits = pfs_dpor_waits(self, &step->did);
	if (waits)
		find_race_of_waiting(self, n, true, step, base);
	else if (step->did.barrier)
		find_races_of_barrier(self, n, step, base);
	struct pfs_dpor_walk walk;
	pfs_dpor_walk_begin(&walk, self, n, step->actor);
	for (uint32_t j; (j = pfs_dpor_walk_next(&walk, self, step->clock)) != PFS_STEP_NONE;) {
		const struct pfs_dpor_node *before = &self->nodes[j];
		if (!pfs_dpor_depend(before, step))
			continue;
		if (!waits && !step->did.barrier && pfs_dpor_needs_not(self, j, n) &&
		    !pfs_wake_keep(&self->wake, j, n, base))
			try_other_order(self, j, n, step, base);
		pfs_dpor_merge(step->clock, before->clock);
	}
	step->clock[step->actor] = step->index;
}

/* An execution has ended, or only repeats a class: look at the races that were kept for this
 * moment. */
static void turn_races(struct pfs_dpor *self, const struct pfs_machine *machine)
{
	struct pfs_wake_trees *trees = &self->wake;
	for (uint32_t i = 0; i < trees->race_count; i++) {
		const struct pfs_wake_race *race = &trees->races[i];
		if (self->redundant || !pfs_wake_add(self, machine, race))
			try_other_order(self, race->j, race->n, &self->nodes[race->n], race->base);
	}
	trees->race_count = 0;
}

/* Threads that wait when the execution ends, or when only sleepers are left: they could have gone
 * first too, and no other execution need show it. */
static void find_races_of_blocked(struct pfs_dpor *self, struct pfs_machine *machine)
{
	for (uint32_t id = 0; id < machine->thread_count; id++) {
		const struct pfs_vthread *thread = machine->threads[id];
		uint16_t base[PFS_DPOR_ACTORS_MAX];
		if (thread->state == PFS_VTHREAD_FINISHED || thread->steps >= thread->stop_after)
			continue;
		struct pfs_dpor_node step = pfs_dpor_next_step(machine, id);
		(void)pfs_dpor_base(self, machine, self->at, &step, base);
		if (step.did.ran.kind != PFS_SIM_LOCK && step.did.ran.kind != PFS_SIM_AWAIT)
			continue;
		self->wake.is_strict = true;
		if (machine->model->keeps_old)
			pfs_dpor_views_wait(self, self->at, &step, base);
		else
			find_race_of_waiting(self, self->at, pfs_model_can(machine, thread, 0),
					     &step, base);
	}
}

/* ---- the scheduler ---- */

static uint64_t find_options(struct pfs_dpor *self, const struct pfs_machine *machine)
{
	uint64_t options = 0;
	uint32_t count = pfs_machine_actor_limit(machine);
	self->left_out |= count > PFS_DPOR_OPTIONS_MAX ? PFS_LEFT_CHOICES : 0;
	self->left_out |= machine->run.cut ? PFS_LEFT_READS : 0;
	for (uint32_t option = 0; option < count && option < PFS_DPOR_OPTIONS_MAX; option++) {
		struct pfs_actor actor = pfs_actor_of(machine, option);
		bool older = actor.choice != 0; /* than the newest message */
		if (!pfs_machine_can_run(machine, actor))
			continue;
		if (self->append_only && older && pfs_dpor_next_step(machine, option).did.wrote)
			self->bounded = true;
		else
			options |= pfs_dpor_option_bit(option);
	}
	return options;
}

static uint64_t sleepers(const struct pfs_dpor *self, const struct pfs_machine *machine)
{
	uint64_t sleep = 0;
	if (self->at == 0)
		return 0;
	const struct pfs_dpor_node *parent = &self->nodes[self->at - 1];
	for (uint64_t rest = parent->sleep; rest != 0; rest &= rest - 1) {
		uint32_t option = (uint32_t)__builtin_ctzll(rest);
		if (machine->model->keeps_old) {
			sleep |= pfs_dpor_views_asleep(self, machine, parent, option);
			continue;
		}
		if (pfs_dpor_actor_of(self, option) == parent->actor)
			continue;
		const struct pfs_effect next = pfs_effect_pending(machine,
								  pfs_actor_of(machine, option));
		if (!pfs_effects_depend(&parent->did, &next))
			sleep |= pfs_dpor_option_bit(option);
	}
	return sleep;
}

/* The last actor first: fewer switches in the first failing schedule. */
static uint32_t prefer(const struct pfs_machine *machine, uint64_t set)
{
	uint32_t last = pfs_actor_number(machine, machine->run.last_actor);
	if (last < PFS_DPOR_ACTORS_MAX && (set & pfs_dpor_option_bit(last)) != 0)
		return last;
	return (uint32_t)__builtin_ctzll(set);
}

static bool make_room(struct pfs_dpor *self)
{
	return self->depth <= UINT16_MAX &&
	       pfs_grow((void **)&self->nodes, &self->room, self->depth + 1,
			sizeof(*self->nodes)) &&
	       pfs_grow((void **)&self->marks, &self->mark_room, self->depth + 1,
			sizeof(*self->marks));
}

static struct pfs_actor choose_new(struct pfs_dpor *self, struct pfs_machine *machine)
{
	uint64_t options = find_options(self, machine);
	if (self->redundant)
		return options != 0 ? pfs_actor_of(machine, prefer(machine, options)) : PFS_NOBODY;
	uint64_t sleep = sleepers(self, machine);
	if (self->views)
		pfs_dpor_views_rivals(self, machine, self->at, options, sleep);
	if ((options & ~sleep) == 0)
		find_races_of_blocked(self, machine);
	self->redundant = options != 0 && (options & ~sleep) == 0;
	self->wake.is_strict |= self->wake.is_on && self->redundant;
	if ((options & ~sleep) == 0)
		turn_races(self, machine);
	if (options == 0)
		return PFS_NOBODY;
	self->no_memory |= !self->redundant && !make_room(self);
	if (self->redundant || self->no_memory) {
		self->redundant = true;
		return pfs_actor_of(machine, prefer(machine, options));
	}
	struct pfs_dpor_node *node = &self->nodes[self->depth++];
	node->options = options;
	node->sleep = sleep;
	node->enabled = pfs_dpor_actors_of(self, options);
	node->backtrack = 0;
	node->wake = NULL;
	/* The remaining fields describe the executed step, and are set after it. */
	pfs_wake_arrive(&self->wake, node);
	node->option = pfs_wake_choose(&self->wake, node, options & ~sleep);
	if (node->option == PFS_ACTOR_NONE)
		node->option = prefer(machine, options & ~sleep);
	node->actor = pfs_dpor_actor_of(self, node->option);
	node->backtrack |= pfs_dpor_bit(node->actor);
	self->at++;
	return pfs_actor_of(machine, node->option);
}

static struct pfs_actor choose(struct pfs_scheduler *scheduler, struct pfs_machine *machine)
{
	struct pfs_dpor *self = (struct pfs_dpor *)scheduler;
	if (pfs_machine_actor_count(machine) > PFS_DPOR_ACTORS_MAX)
		self->refusal = "more than 32 actors";
	/* A case that is refused still runs to its end, because what it made must be destroyed. */
	if (self->refusal != NULL)
		return pfs_machine_next_in_turn(machine);
	if (self->rewind != NULL && !self->redundant)
		pfs_rewind_pass(self->rewind, machine, self->at == self->fresh);
	self->actors = pfs_machine_actor_count(machine);
	self->views = machine->model->keeps_old;
	if (self->at >= self->depth || self->redundant)
		return choose_new(self, machine);
	struct pfs_dpor_node *node = &self->nodes[self->at++];
	/* For a part that was taken it is not yet known. */
	node->actor = pfs_dpor_actor_of(self, node->option);
	return pfs_actor_of(machine, node->option);
}

/* The bound on steps cuts this execution: what it did not execute may race with all of it. */
static void try_everything(struct pfs_dpor *self)
{
	for (uint32_t j = 0; j < self->at; j++)
		self->nodes[j].backtrack |= self->nodes[j].enabled;
}

static void ran(struct pfs_scheduler *scheduler, struct pfs_machine *machine,
		const struct pfs_step *step)
{
	struct pfs_dpor *self = (struct pfs_dpor *)scheduler;
	if (self->redundant || self->refusal != NULL || self->at == 0)
		return;
	struct pfs_dpor_node *node = &self->nodes[self->at - 1];
	/* Also for a repeated step: malloc may have returned other addresses. */
	pfs_effect_of(machine, step, &node->did);
	self->begun = true;
	if (self->at - 1 < self->fresh)
		return;
	node->held = step->seen;
	find_races(self, machine, self->at - 1);
	if (machine->run.step_count >= machine->setup.step_max)
		try_everything(self);
}

void pfs_dpor_init(struct pfs_dpor *self)
{
	memset(self, 0, sizeof(*self));
	self->scheduler = (struct pfs_scheduler){ .choose = choose, .ran = ran };
}

void pfs_dpor_fini(struct pfs_dpor *self)
{
	while (self->depth != 0)
		pfs_wake_drop(&self->wake, self->nodes[--self->depth].wake);
	pfs_wake_fini(&self->wake);
	free(self->nodes);
	free(self->marks);
	self->nodes = NULL;
	self->marks = NULL;
}

void pfs_dpor_resume(struct pfs_dpor *self, uint32_t step)
{
	self->at = step;
}

bool pfs_dpor_next(struct pfs_dpor *self)
{
	self->wake.race_count = 0;
	self->at = 0;
	self->redundant = false;
	for (; self->depth > self->root; self->depth--) {
		struct pfs_dpor_node *node = &self->nodes[self->depth - 1];
		/* Explored: its siblings need not begin with it. */
		node->sleep |= pfs_dpor_option_bit(node->option);
		uint64_t open = node->options & ~node->sleep &
				pfs_dpor_options_of(self, node->backtrack);
		uint32_t woken = pfs_wake_choose(&self->wake, node, open);
		if (open == 0)
			continue;
		node->option = woken != PFS_ACTOR_NONE ? woken : (uint32_t)__builtin_ctzll(open);
		node->actor = pfs_dpor_actor_of(self, node->option);
		self->fresh = self->begun ? self->depth - 1 : 0;
		if (self->chained > self->fresh)
			self->chained = 0;
		return true;
	}
	return false;
}
