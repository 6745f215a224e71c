#include "base/now.h"
#include "check/search/fixpoint.h"

#include <string.h>
#include <time.h>

#include "base/random.h"
#include "check/machine/actors.h"
#include "check/machine/grow.h"
#include "check/machine/heap.h"
#include "check/machine/host.h"
#include "check/machine/model.h"
#include "check/search/search.h"
#include "check/search/states.h"

#define LESSONS 200000u /* steps */
#define STAYS 16u       /* one step in this many, at most, is another thread's */
#define CALM_MAX 200u
#define EARLY 50000u /* states: below it a wrong guess starts over at once; else at the end */
#define LOOKS 1024u  /* states between two looks at the clock */

/* A plain access of a thread: given-back pages are not hidden here, so their use is found by
 * this. */
static void on_plain(struct pfs_machine *machine, const struct pfs_plain *access)
{
	enum pfs_sim_memory_state state;
	if (!pfs_sim_memory_has(&machine->memory, access->address, &state) ||
	    state == PFS_SIM_MAPPED)
		return;
	pfs_machine_fail("thread %u accesses %p, without atomics, in a page that was %s",
			 machine->run.running->id, access->address,
			 state == PFS_SIM_GONE ? "given back" : "never mapped");
}

/* ---- which actor goes on ---- */

/* Is there a thread that has not finished? */
static bool somebody_waits(const struct pfs_machine *machine)
{
	for (uint32_t id = 0; id < machine->thread_count; id++) {
		if (machine->threads[id]->state == PFS_VTHREAD_READY)
			return true;
	}
	return false;
}

static uint64_t enabled_of(struct pfs_fixpoint *self, const struct pfs_machine *machine)
{
	bool too_many = false;
	uint64_t enabled = pfs_states_enabled(machine, &too_many);
	if (too_many)
		self->refusal = "so many threads and choices";
	return enabled;
}

/* The choices of one thread whose next step is a choice, or all actors. */
static uint64_t choices_of(const struct pfs_machine *machine, uint64_t enabled)
{
	uint32_t firsts = pfs_machine_actor_count(machine);
	for (uint32_t id = 0; id < machine->thread_count; id++) {
		uint64_t own = 0;
		if ((enabled >> id & 1) == 0 ||
		    machine->threads[id]->pending.kind != PFS_SIM_CHOOSE)
			continue;
		for (uint32_t actor = id; actor < PFS_STATES_ACTORS_MAX; actor += firsts)
			own |= enabled & UINT64_C(1) << actor;
		return own;
	}
	return enabled;
}

/* ---- preemptions ---- */

static bool is_bounded(const struct pfs_fixpoint *self)
{
	return self->options->preemption_max != PFS_PREEMPTIONS_ANY;
}

static const struct pfs_fixpoint_turn at_rest = { .running = PFS_THREAD_NONE };

/* Is a step of that actor a preemption of the thread that ran last? */
static bool preempts(const struct pfs_fixpoint *self, const struct pfs_machine *machine,
		     uint64_t enabled, uint32_t actor)
{
	struct pfs_actor who = pfs_actor_of(machine, actor);
	uint32_t running = self->turn.running;
	return who.kind != PFS_ACTOR_DRAIN && running != PFS_THREAD_NONE && running != who.thread &&
	       (self->turn.inside >> running & 1) != 0 && (enabled >> running & 1) != 0 &&
	       machine->threads[who.thread]->pending.kind != PFS_SIM_CHOOSE;
}

/* Those of these actors that the bound allows. */
static uint64_t allowed_of(const struct pfs_fixpoint *self, const struct pfs_machine *machine,
			   uint64_t enabled)
{
	uint64_t allowed = enabled;
	if (!is_bounded(self) || self->turn.used < self->options->preemption_max)
		return enabled;
	for (uint64_t rest = enabled; rest != 0; rest &= rest - 1) {
		if (preempts(self, machine, enabled, (uint32_t)__builtin_ctzll(rest)))
			allowed &= ~(rest & -rest);
	}
	return allowed;
}

/* After a step. */
static void take_turn(struct pfs_fixpoint *self, const struct pfs_step *step)
{
	uint8_t kind = step->operation.kind;
	struct pfs_fixpoint_turn *turn = &self->turn;
	if (kind == PFS_SIM_YIELD && step->thread == turn->running)
		turn->running = PFS_THREAD_NONE;
	if (self->is_calm || kind == PFS_SIM_CHOOSE || kind == PFS_SIM_DRAIN ||
	    kind == PFS_SIM_YIELD)
		return;
	turn->running = step->thread;
	turn->inside |= UINT64_C(1) << step->thread;
}

/* When all threads are at a step: a thread whose next step is a choice is in no call. */
static void note_rest(struct pfs_fixpoint *self, const struct pfs_machine *machine)
{
	for (uint32_t id = 0; id < machine->thread_count; id++) {
		const struct pfs_vthread *thread = machine->threads[id];
		if (thread->state == PFS_VTHREAD_FINISHED || thread->pending.kind == PFS_SIM_CHOOSE)
			self->turn.inside &= ~(UINT64_C(1) << id);
	}
	if (self->turn.inside == 0 || !is_bounded(self))
		self->turn = at_rest;
}

/* Often the last actor again, so that few others come between the steps of a call. */
static uint32_t lesson(struct pfs_fixpoint *self, const struct pfs_machine *machine,
		       uint64_t enabled)
{
	uint32_t last = pfs_actor_number(machine, machine->run.last_actor);
	uint32_t stay = self->lessons / 1024 % STAYS;
	self->lessons++;
	if (last < PFS_STATES_ACTORS_MAX && (enabled >> last & 1) != 0 &&
	    pfs_random_below(&self->random, STAYS) < stay &&
	    machine->threads[machine->run.last_actor.thread]->pending.kind != PFS_SIM_CHOOSE)
		return last;
	return pfs_states_draw(&self->random, enabled);
}

/* ---- states ---- */

static bool is_at_bound(const struct pfs_fixpoint *self)
{
	const struct pfs_search_options *options = self->options;
	if (options->memory_max != 0 &&
	    pfs_fixpoint_store_bytes(&self->store) > options->memory_max)
		return true;
	return options->seconds_max > 0 && self->store.seen.count % LOOKS == 0 &&
	       pfs_now_seconds(CLOCK_MONOTONIC) > self->deadline;
}

static void push(struct pfs_fixpoint *self)
{
	size_t turn = sizeof(self->turn);
	char *room = pfs_fixpoint_store_room(&self->store,
					     turn + pfs_image_bytes_max(&self->image));
	if (room == NULL)
		return;
	memcpy(room, &self->turn, turn);
	pfs_fixpoint_store_push(&self->store, (uint32_t)(self->store.seen.count - 1),
				turn + pfs_image_encode(&self->image, room + turn));
}

/* The machine has reached a state. false: the search ends here. */
static bool arrive(struct pfs_fixpoint *self, struct pfs_machine *machine, uint64_t enabled)
{
	struct pfs_fixpoint_store *store = &self->store;
	if (!pfs_image_compare(&self->image)) {
		self->refusal = self->image.refusal;
		return false;
	}
	uint64_t state = pfs_image_hash(&self->image);
	if (is_bounded(self))
		state = pfs_states_mix_words(state, &self->turn, sizeof(self->turn));
	bool is_new = pfs_fixpoint_store_add(store, state, self->node, machine->run.schedule,
					     machine->run.step_count);
	self->known += !is_new;
	self->some_new |= is_new;
	if (!is_new)
		return !store->no_memory;
	if (enabled != 0)
		push(self);
	else if (somebody_waits(machine))
		return false;
	self->stopped |= is_at_bound(self);
	return !store->no_memory && !self->stopped;
}

static void put_back(struct pfs_fixpoint *self)
{
	pfs_image_restore(&self->image, self->state);
	self->turn = self->turn_there;
}

/* Restore the next state to continue from. false: there is none. */
static bool take_next(struct pfs_fixpoint *self, struct pfs_machine *machine)
{
	self->state = pfs_fixpoint_store_pop(&self->store, &self->node);
	if (self->state == NULL)
		return false;
	memcpy(&self->turn_there, self->state, sizeof(self->turn));
	self->state += sizeof(self->turn);
	put_back(self);
	uint64_t enabled = enabled_of(self, machine);
	self->enabled = allowed_of(self, machine, enabled);
	self->left_out |= self->enabled != enabled;
	self->open = choices_of(machine, self->enabled);
	self->partly = self->open != self->enabled;
	self->some_new = false;
	return true;
}

/* All that one thread may choose led to known states: try the other threads too. */
static void try_others(struct pfs_fixpoint *self, struct pfs_machine *machine)
{
	if (self->open != 0 || !self->partly || self->some_new)
		return;
	self->partly = false;
	put_back(self);
	self->open = self->enabled & ~choices_of(machine, self->enabled);
}

/* The next step, from the current state or from the next one. */
static uint32_t go_on(struct pfs_fixpoint *self, struct pfs_machine *machine)
{
	try_others(self, machine);
	if (self->open != 0) {
		put_back(self);
	} else if (!take_next(self, machine)) {
		self->is_over = true;
		machine->run.is_known = true;
		return PFS_ACTOR_NONE;
	}
	machine->run.step_count = 0;
	self->calm_steps = 0;
	uint32_t actor = (uint32_t)__builtin_ctzll(self->open);
	self->open &= self->open - 1;
	self->turn.used += preempts(self, machine, enabled_of(self, machine), actor);
	return actor;
}

static bool begin(struct pfs_fixpoint *self, struct pfs_machine *machine)
{
	self->begun = true;
	self->node = PFS_FIXPOINT_NONE;
	self->state = NULL;
	self->open = 0;
	self->partly = self->left_out = false;
	self->turn = at_rest;
	if (pfs_image_begin(&self->image, machine, self->scenario))
		return true;
	self->refusal = self->image.refusal;
	return false;
}

static uint32_t choose_number(struct pfs_fixpoint *self, struct pfs_machine *machine)
{
	uint64_t enabled = enabled_of(self, machine);
	bool first = !self->begun;
	if (self->learns)
		machine->run.step_count = 0; /* no bound on steps */
	if (self->learns && self->lessons < LESSONS && enabled != 0)
		return lesson(self, machine, enabled);
	if (self->learns ||
	    (first ? !begin(self, machine) : self->calm.wrong && self->store.seen.count < EARLY)) {
		machine->run.is_known = true;
		return PFS_ACTOR_NONE;
	}
	if (!first)
		pfs_image_settle(&self->image, machine->run.last_actor.thread);
	note_rest(self, machine);
	uint32_t calm = enabled != 0 ? pfs_calm_of(&self->calm, machine, enabled) : PFS_ACTOR_NONE;
	self->is_calm = calm != PFS_ACTOR_NONE && self->calm_steps < CALM_MAX && !self->unmapped;
	if (self->is_calm) {
		self->calm_steps++;
		return calm;
	}
	bool waits = enabled == 0 && somebody_waits(machine);
	if (!arrive(self, machine, enabled)) {
		machine->run.is_known = !waits;
		return PFS_ACTOR_NONE;
	}
	return go_on(self, machine);
}

static struct pfs_actor choose(struct pfs_scheduler *scheduler, struct pfs_machine *machine)
{
	uint32_t chosen = choose_number((struct pfs_fixpoint *)scheduler, machine);
	return chosen != PFS_ACTOR_NONE ? pfs_actor_of(machine, chosen) : PFS_NOBODY;
}

static void ran(struct pfs_scheduler *scheduler, struct pfs_machine *machine,
		const struct pfs_step *step)
{
	struct pfs_fixpoint *self = (struct pfs_fixpoint *)scheduler;
	self->steps++;
	self->unmapped = step->operation.kind == PFS_SIM_UNMAP;
	take_turn(self, step);
	pfs_calm_note(&self->calm, step, pfs_model_buffers(machine, &step->operation));
}

/* ---- the whole ---- */

static const char *refusal_of(const struct pfs_machine *machine,
			      const struct pfs_scenario *scenario)
{
	if (machine->model->keeps_old)
		return "old values (--memory views)";
	if (machine->setup.watch)
		return "data races; add --no-races";
	if (scenario->keep == NULL)
		return "checks that do not say what they remember";
	if (!pfs_plain_is_seen() || !pfs_fiber_is_bytes())
		return "a sanitizer's build, whose stacks are more than bytes";
	if (!pfs_heap_begin())
		return "a machine without addresses for a heap";
	return NULL;
}

bool pfs_fixpoint_begin(struct pfs_fixpoint *self, struct pfs_machine *machine,
			const struct pfs_scenario *scenario,
			const struct pfs_search_options *options)
{
	memset(self, 0, sizeof(*self));
	self->scheduler = (struct pfs_scheduler){ .choose = choose, .ran = ran };
	self->scenario = scenario;
	self->options = options;
	self->random = options->seed * 2 + 1;
	self->learns = true;
	self->deadline = pfs_now_seconds(CLOCK_MONOTONIC) + options->seconds_max;
	self->refusal = refusal_of(machine, scenario);
	if (self->refusal == NULL && !pfs_fixpoint_store_begin(&self->store))
		self->refusal = "a machine without addresses for its states";
	machine->hooks.plain = on_plain;
	machine->setup.chooses_outside = machine->setup.clears_stacks = true;
	return self->refusal == NULL;
}

void pfs_fixpoint_end(struct pfs_fixpoint *self, struct pfs_machine *machine)
{
	machine->hooks.plain = pfs_races_plain;
	machine->setup.chooses_outside = machine->setup.clears_stacks = false;
	pfs_heap_end();
	pfs_image_fini(&self->image);
	pfs_fixpoint_store_fini(&self->store);
	pfs_calm_fini(&self->calm);
}

void pfs_fixpoint_execution(struct pfs_machine *machine)
{
	pfs_heap_reset();
	for (uint32_t id = 0; id < machine->made_count; id++)
		pfs_fiber_wipe(&machine->threads[id]->fiber);
}

bool pfs_fixpoint_next(struct pfs_fixpoint *self)
{
	bool again = self->learns || self->calm.wrong;
	if (!again || self->stopped || self->refusal != NULL)
		return false;
	self->learns = false;
	self->calm.wrong = false;
	self->begun = self->is_over = false;
	pfs_image_fini(&self->image);
	memset(&self->image, 0, sizeof(self->image));
	pfs_fixpoint_store_clear(&self->store);
	return true;
}

void pfs_fixpoint_tell(const struct pfs_fixpoint *self, struct pfs_search_result *result)
{
	const struct pfs_fixpoint_store *store = &self->store;
	result->states = store->seen.count;
	result->frontier = store->frontier;
	result->memory_bytes = store->most_bytes;
	result->redundant = self->known;
	result->steps = self->steps;
	result->depth = store->seen.count != 0 ? store->nodes[store->seen.count - 1].depth : 0;
	result->complete = self->is_over && !self->calm.wrong && !store->no_memory &&
			   self->refusal == NULL;
	result->stopped = self->stopped;
	result->bounded = self->left_out;
	result->refusal = self->refusal;
}

bool pfs_fixpoint_path(const struct pfs_fixpoint *self, struct pfs_machine *machine)
{
	uint32_t last = machine->run.step_count;
	if (!self->begun || self->node == PFS_FIXPOINT_NONE)
		return true;
	uint32_t before = pfs_fixpoint_store_steps(&self->store, self->node);
	if (!pfs_grow((void **)&machine->run.schedule, &machine->run.step_room, before + last,
		      sizeof(*machine->run.schedule)))
		return false;
	memmove(machine->run.schedule + before, machine->run.schedule,
		last * sizeof(*machine->run.schedule));
	pfs_fixpoint_store_path(&self->store, self->node, machine->run.schedule);
	machine->run.step_count = before + last;
	return true;
}
