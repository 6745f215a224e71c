#include "check/search/states.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "check/machine/grow.h"
#include "check/machine/actors.h"
#include "check/search/search.h"

#define LESSONS 500u    /* executions */
#define BACK_MAX 10000u /* then an execution ends, so that bounds are checked */

/* A choice between several actors. */
struct pfs_states_node {
	uint64_t open; /* still to be tried */
	uint32_t chosen;
	bool kept; /* the snapshot is of this execution */
	struct pfs_machine_snapshot snapshot;
};

uint64_t pfs_states_mix(uint64_t one, uint64_t other)
{
	/* The finalizer of splitmix64 (S. Vigna), over both. */
	uint64_t x = one * UINT64_C(0x9E3779B97F4A7C15) + other + 1;
	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

/* ---- memory ---- */

static uint64_t bytes_at(uintptr_t place)
{
	uint64_t value;
	memcpy(&value, (const void *)(place * 8), sizeof(value)); /* aligned: within a page */
	return value;
}

static void note_plain(struct pfs_state_memory *self, uintptr_t place)
{
	uint32_t count = self->places.count;
	self->no_room |= count == PFS_STATE_PLAIN_MAX;
	if (self->no_room)
		return;
	uint32_t number = pfs_table_add(&self->places, place);
	struct pfs_state_plain *plain = &self->plain[number];
	if (number == count)
		*plain = (struct pfs_state_plain){ .place = place };
	if (plain->fresh)
		return;
	plain->fresh = true;
	self->fresh[self->fresh_count++] = number;
}

/* Before a plain write of the running thread. */
static void on_plain(struct pfs_machine *machine, const struct pfs_plain *access)
{
	struct pfs_states *self = machine->hooks.plain_context;
	uintptr_t last = ((uintptr_t)access->address + access->size_bytes - 1) / 8;
	if ((uintptr_t)access->address - (uintptr_t)machine->setup.oracle <
	    machine->setup.oracle_bytes)
		return;
	for (uintptr_t place = (uintptr_t)access->address / 8; place <= last; place++)
		note_plain(&self->memory, place);
}

/* When all threads are at a step: add what they wrote before it. */
static void settle_plain(struct pfs_state_memory *self)
{
	while (self->fresh_count != 0) {
		struct pfs_state_plain *plain = &self->plain[self->fresh[--self->fresh_count]];
		uint64_t known = pfs_states_mix(plain->place, bytes_at(plain->place));
		self->sum += known - plain->known;
		plain->known = known;
		plain->fresh = false;
	}
}

static void note_step(struct pfs_state_memory *self, const struct pfs_step *step, bool buffered)
{
	uintptr_t place = (uintptr_t)step->operation.address;
	if (step->operation.kind == PFS_SIM_UNMAP)
		self->sum += pfs_states_mix(place, UINT64_MAX);
	else if (step->wrote && !buffered)
		self->sum += pfs_states_mix(place, step->written) -
			     pfs_states_mix(place, step->seen);
}

/* ---- states ---- */

/* All that a thread will do follows from its stack, registers included, and from memory. */
static uint64_t stack_of(const struct pfs_fiber *fiber)
{
	const char *at = fiber->stack_pointer;
	size_t bytes = (size_t)(fiber->stack + fiber->stack_bytes - at);
	return pfs_states_mix_words(bytes, at, bytes);
}

static uint64_t thread_of(const struct pfs_vthread *thread)
{
	if (thread->state == PFS_VTHREAD_FINISHED)
		return thread->buffer_count;
	return pfs_states_mix(stack_of(&thread->fiber), thread->buffer_count);
}

static uint64_t state_of(struct pfs_states *self, struct pfs_machine *machine)
{
	settle_plain(&self->memory);
	uint64_t state = self->memory.sum;
	for (uint32_t id = 0; id < machine->thread_count; id++)
		state = pfs_states_mix(state, thread_of(machine->threads[id]));
	state = pfs_states_mix(state, self->scenario->known(machine, self->scenario->context));
	return state != 0 ? state : 1;
}

/* It is seen from now on. Without memory the search is cut here, and says so. */
static bool is_new(struct pfs_states *self, struct pfs_machine *machine)
{
	uint64_t state = state_of(self, machine);
	self->no_memory |= !pfs_seen_make_room(&self->seen) || self->memory.no_room;
	if (self->no_memory)
		return false;
	return pfs_seen_add(&self->seen, state);
}

/* ---- choices ---- */

uint64_t pfs_states_enabled(const struct pfs_machine *machine, bool *too_many)
{
	uint64_t enabled = 0;
	uint32_t count = pfs_machine_actor_limit(machine);
	*too_many |= count > PFS_STATES_ACTORS_MAX;
	for (uint32_t actor = 0; actor < count && actor < PFS_STATES_ACTORS_MAX; actor++)
		enabled |= (uint64_t)pfs_machine_can_run(machine, pfs_actor_of(machine, actor))
			   << actor;
	return enabled;
}

uint32_t pfs_states_draw(uint64_t *random, uint64_t enabled)
{
	uint32_t skipped = pfs_random_below(random, (uint32_t)__builtin_popcountll(enabled));
	while (skipped-- != 0)
		enabled &= enabled - 1;
	return (uint32_t)__builtin_ctzll(enabled);
}

static void keep(struct pfs_states *self, struct pfs_machine *machine, struct pfs_states_node *node)
{
	struct pfs_state_memory *memory = &self->memory;
	node->kept = pfs_machine_snapshot_take(&node->snapshot, machine);
	if (!node->kept)
		return;
	pfs_snapshot_put(&node->snapshot, &memory->sum, sizeof(memory->sum));
	pfs_snapshot_put(&node->snapshot, memory->plain,
			 memory->places.count * sizeof(*memory->plain));
	self->scenario->keep(&node->snapshot, self->scenario->context);
	node->kept = !node->snapshot.no_memory;
}

/* Places that were first written after the snapshot are removed from the sum: they have their old
 * values again. */
static void restore(struct pfs_states *self, const struct pfs_states_node *node)
{
	struct pfs_state_memory *memory = &self->memory;
	for (uint32_t i = 0; i < memory->places.count; i++)
		memory->plain[i].known = 0;
	pfs_snapshot_restore(&node->snapshot);
	memory->fresh_count = 0;
}

static bool add_node(struct pfs_states *self, uint64_t enabled)
{
	uint32_t room = self->node_room;
	if (!pfs_grow((void **)&self->nodes, &self->node_room, self->depth + 1,
		      sizeof(*self->nodes)))
		return false;
	if (self->node_room != room)
		memset(&self->nodes[room], 0, (self->node_room - room) * sizeof(*self->nodes));
	struct pfs_states_node *node = &self->nodes[self->depth++];
	node->chosen = (uint32_t)__builtin_ctzll(enabled);
	node->open = enabled & (enabled - 1);
	return true;
}

/* The next branch of a node that has one. */
static uint32_t advance(struct pfs_states_node *node)
{
	node->chosen = (uint32_t)__builtin_ctzll(node->open);
	node->open &= node->open - 1;
	return node->chosen;
}

static void drop_done(struct pfs_states *self)
{
	while (self->depth != 0 && self->nodes[self->depth - 1].open == 0)
		self->depth--;
}

/* The rest is known. Back to the last choice that has a branch left, or the execution ends. */
static uint32_t go_back(struct pfs_states *self, struct pfs_machine *machine)
{
	self->known++;
	self->scenario->leave(machine, self->scenario->context);
	if (machine->run.end != PFS_END_DONE)
		return PFS_ACTOR_NONE;
	drop_done(self);
	struct pfs_states_node *last = self->depth != 0 ? &self->nodes[self->depth - 1] : NULL;
	bool may = !self->calm.wrong && !self->yields && pfs_snapshot_fits(machine);
	if (!may || last == NULL || !last->kept || ++self->back == BACK_MAX) {
		machine->run.is_known = true;
		return PFS_ACTOR_NONE;
	}
	restore(self, last);
	self->at = self->depth;
	return advance(last);
}

static uint32_t choose_new(struct pfs_states *self, struct pfs_machine *machine, uint64_t enabled)
{
	if (!is_new(self, machine))
		return go_back(self, machine);
	if (!add_node(self, enabled)) {
		self->no_memory = true;
		return (uint32_t)__builtin_ctzll(enabled);
	}
	keep(self, machine, &self->nodes[self->depth - 1]);
	return self->nodes[self->at++].chosen;
}

/* Calm steps are no choices. */
static uint32_t choose_number(struct pfs_states *self, struct pfs_machine *machine)
{
	uint64_t enabled = pfs_states_enabled(machine, &self->cut);
	if (enabled == 0)
		return PFS_ACTOR_NONE;
	if (self->lessons < LESSONS) /* there is something to be learned */
		return pfs_states_draw(&self->random, enabled);
	uint32_t calm = pfs_calm_of(&self->calm, machine, enabled);
	if (calm != PFS_ACTOR_NONE)
		return calm;
	if (self->at == self->depth)
		return choose_new(self, machine, enabled);
	struct pfs_states_node *node = &self->nodes[self->at++];
	settle_plain(&self->memory);
	if (node->open != 0)
		keep(self, machine, node);
	return node->chosen;
}

static struct pfs_actor choose(struct pfs_scheduler *scheduler, struct pfs_machine *machine)
{
	uint32_t chosen = choose_number((struct pfs_states *)scheduler, machine);
	return chosen != PFS_ACTOR_NONE ? pfs_actor_of(machine, chosen) : PFS_NOBODY;
}

static void ran(struct pfs_scheduler *scheduler, struct pfs_machine *machine,
		const struct pfs_step *step)
{
	struct pfs_states *self = (struct pfs_states *)scheduler;
	bool buffered = pfs_model_buffers(machine, &step->operation);
	note_step(&self->memory, step, buffered);
	pfs_calm_note(&self->calm, step, buffered);
	self->yields |= step->operation.kind == PFS_SIM_YIELD;
}

void pfs_states_init(struct pfs_states *self, const struct pfs_scenario *scenario, uint64_t seed)
{
	struct pfs_state_memory *memory = &self->memory;
	memset(self, 0, sizeof(*self));
	self->scheduler = (struct pfs_scheduler){ .choose = choose, .ran = ran };
	self->scenario = scenario;
	self->random = seed * 2 + 1;
	memory->plain = calloc(PFS_STATE_PLAIN_MAX, sizeof(*memory->plain));
	memory->fresh = calloc(PFS_STATE_PLAIN_MAX, sizeof(*memory->fresh));
	memory->no_room = memory->plain == NULL || memory->fresh == NULL;
}

void pfs_states_fini(struct pfs_states *self)
{
	for (uint32_t i = 0; i < self->node_room; i++)
		pfs_snapshot_fini(&self->nodes[i].snapshot);
	free(self->nodes);
	pfs_seen_fini(&self->seen);
	free(self->memory.plain);
	free(self->memory.fresh);
	pfs_calm_fini(&self->calm);
	pfs_table_fini(&self->memory.places);
}

void pfs_states_begin(struct pfs_states *self, struct pfs_machine *machine)
{
	self->at = 0;
	self->back = 0;
	for (uint32_t i = 0; i < self->depth; i++)
		self->nodes[i].kept = false;
	self->memory.sum = 0;
	self->memory.fresh_count = 0;
	pfs_table_clear(&self->memory.places);
	for (uint32_t id = 0; id < machine->made_count; id++)
		pfs_fiber_wipe(&machine->threads[id]->fiber);
	machine->hooks.plain = on_plain;
	machine->hooks.plain_context = self;
	machine->setup.chooses_outside = machine->setup.only_writes = true;
}

static void begin_anew(struct pfs_states *self)
{
	self->calm.wrong = false;
	self->depth = 0;
	self->known = 0;
	pfs_seen_clear(&self->seen);
}

bool pfs_states_next(struct pfs_states *self)
{
	if (self->yields)
		return false;
	if (self->lessons < LESSONS || self->calm.wrong) {
		self->lessons += self->lessons < LESSONS;
		begin_anew(self);
		return true;
	}
	drop_done(self);
	if (self->depth == 0)
		return false;
	(void)advance(&self->nodes[self->depth - 1]);
	return true;
}
