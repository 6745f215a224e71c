#define _GNU_SOURCE
#include "check/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/machine/actors.h"
#include "check/machine/current.h"
#include "check/machine/grow.h"
#include "check/machine/model.h"
#include "check/machine/trace.h"

/* A thread stands at a loop that would go on now. Its execution without the last iteration is
 * another one. */
static bool is_repeated(const struct pfs_machine *self)
{
	for (uint32_t id = 0; id < self->thread_count; id++) {
		const struct pfs_vthread *thread = self->threads[id];
		if (thread->state != PFS_VTHREAD_FINISHED && thread->steps < thread->stop_after &&
		    thread->pending.kind == PFS_SIM_YIELD && thread->looks.news)
			return true;
	}
	return false;
}

/* Why the run ended: is a thread left? */
static enum pfs_machine_end end_of_run(struct pfs_machine *self)
{
	if (self->setup.loops_end && is_repeated(self))
		return PFS_END_KNOWN;
	for (uint32_t id = 0; id < self->thread_count; id++) {
		const struct pfs_vthread *thread = self->threads[id];
		if (thread->state != PFS_VTHREAD_FINISHED && thread->steps < thread->stop_after)
			return PFS_END_DEADLOCK;
	}
	return PFS_END_DONE;
}

/* The next actor, or PFS_NOBODY with self->run.end set. */
static struct pfs_actor pick(struct pfs_machine *self)
{
	if (self->hooks.check != NULL && self->run.end == PFS_END_DONE)
		self->hooks.check(self->hooks.check_context);
	if (self->run.end != PFS_END_DONE)
		return PFS_NOBODY;
	if (self->run.step_count >= self->setup.step_max ||
	    !pfs_grow((void **)&self->run.schedule, &self->run.step_room, self->run.step_count + 1,
		      sizeof(*self->run.schedule))) {
		self->run.end = PFS_END_STEPS;
		return PFS_NOBODY;
	}
	if (!self->setup.free_yields)
		pfs_news_nobody(self);
	struct pfs_actor actor = self->run.scheduler->choose(self->run.scheduler, self);
	if (self->run.end != PFS_END_DONE)
		return PFS_NOBODY; /* the scheduler's checks failed */
	if (pfs_actor_is_nobody(actor))
		self->run.end = self->run.is_known ? PFS_END_KNOWN : end_of_run(self);
	else
		self->run.schedule[self->run.step_count] = (uint16_t)pfs_actor_number(self, actor);
	return actor;
}

static void finish_step(struct pfs_machine *self, struct pfs_step *step)
{
	if (!self->setup.free_yields && !pfs_news_step(self, step))
		pfs_machine_fail("no memory for the steps of an execution");
	self->run.yielded = step->operation.kind == PFS_SIM_YIELD;
	if (self->setup.tracing)
		pfs_trace_add(self, step);
	self->run.last_actor = pfs_actor_step(step->thread);
	if (step->operation.kind == PFS_SIM_DRAIN)
		self->run.last_actor.kind = PFS_ACTOR_DRAIN;
	self->run.step_count++;
	if (self->run.scheduler->ran != NULL)
		self->run.scheduler->ran(self->run.scheduler, self, step);
}

/* from: the thread that has reached its next operation or has finished; NULL: the caller of run.
 * Returns when from must continue, or, for the caller, when a thread has left; false: no thread can
 * continue. */
static bool dispatch(struct pfs_machine *self, struct pfs_vthread *from)
{
	for (;;) {
		struct pfs_actor actor = pick(self);
		if (pfs_actor_is_nobody(actor)) {
			if (from != NULL)
				pfs_current_leave(self, from);
			return false;
		}
		struct pfs_vthread *next = self->threads[actor.thread];
		if (actor.kind == PFS_ACTOR_DRAIN) {
			struct pfs_step step = { 0 };
			self->model->drain(self, next, &step);
			finish_step(self, &step);
			continue;
		}
		self->run.choice = actor.choice;
		self->run.running = next;
		if (next != from)
			pfs_fiber_switch(from != NULL ? &from->fiber : &self->run.caller,
					 &next->fiber);
		return true;
	}
}

/* Wait at the operation until the scheduler chooses this thread. */
static void wait_turn(struct pfs_machine *self, struct pfs_vthread *thread,
		      const struct pfs_sim_operation *operation)
{
	thread->pending = *operation;
	if (operation->kind == PFS_SIM_YIELD && !self->setup.free_yields)
		pfs_news_arrive(self, thread);
	if (self->run.priming || self->setup.chooses_outside)
		pfs_current_leave(self, thread);
	else
		(void)dispatch(self, thread);
}

static void check_address(const struct pfs_machine *self, const struct pfs_sim_operation *operation)
{
	enum pfs_sim_memory_state state;
	if (!pfs_sim_memory_has(&self->memory, operation->address, &state) ||
	    state == PFS_SIM_MAPPED)
		return;
	pfs_machine_fail("thread %u accesses %s (%s:%d) in a page that was %s",
			 self->run.running != NULL ? self->run.running->id : 0,
			 operation->place->text, pfs_trace_base_name(operation->place->file),
			 operation->place->line,
			 state == PFS_SIM_GONE ? "given back" : "never mapped");
}

static void run_step(struct pfs_machine *self, struct pfs_vthread *thread, struct pfs_step *step)
{
	bool watching = self->run.watching;
	uint32_t epoch = watching ? pfs_clock_of(&self->clocks, thread->id)[thread->id] : 0;
	if (watching && step->operation.kind == PFS_SIM_UNMAP)
		pfs_races_unmap(self, &step->operation);
	if (step->operation.kind == PFS_SIM_CHOOSE) {
		step->seen = self->run.choice;
		return;
	}
	self->model->execute(self, thread, step, self->run.choice);
	if (watching &&
	    (step->operation.kind <= PFS_SIM_UNLOCK || step->operation.kind == PFS_SIM_AWAIT))
		pfs_races_atomic(self, step, epoch);
}

#define CLEARED_BYTES 1024u

/* Below the caller's frame. */
static __attribute__((noinline)) void clear_stack(void)
{
	char bytes[CLEARED_BYTES];
	memset(bytes, 0, sizeof(bytes));
	__asm__ volatile("" : : "r"(bytes) : "memory"); /* so that it is not optimized away */
}

uint64_t pfs_sim_execute(const struct pfs_sim_operation *operation)
{
	struct pfs_machine *self = pfs_current;
	struct pfs_vthread *thread = self != NULL ? self->run.running : NULL;
	if (thread != NULL && self->engine.execute != NULL && pfs_current_quiet == 0)
		return self->engine.around != NULL ? self->engine.around(self, operation)
						   : self->engine.execute(self, operation);
	if (thread == NULL || pfs_current_quiet != 0) {
		if (thread != NULL)
			check_address(self, operation);
		return pfs_model_at_once(thread, operation);
	}
	struct pfs_step step = { .operation = *operation };
	if (pfs_weaken_is_on(&self->weaken))
		pfs_weaken_apply(&self->weaken, &step.operation);
	wait_turn(self, thread, &step.operation);
	check_address(self, operation);
	step.thread = thread->id;
	thread->steps++;
	run_step(self, thread, &step);
	finish_step(self, &step);
	if (operation->kind == PFS_SIM_YIELD)
		thread->looks.from = self->run.step_count;
	if (self->setup.clears_stacks)
		clear_stack();
	return step.seen;
}

uint64_t pfs_sim_load(void *address, uint32_t size_bytes, enum pfs_sim_order order,
		      const struct pfs_sim_place *place)
{
	struct pfs_sim_operation operation = { address,        0,          0,
					       place,          size_bytes, PFS_SIM_LOAD,
					       (uint8_t)order, 0 };
	return pfs_sim_execute(&operation);
}

void pfs_sim_store(void *address, uint32_t size_bytes, uint64_t value, enum pfs_sim_order order,
		   const struct pfs_sim_place *place)
{
	struct pfs_sim_operation operation = { address,       value,          0, place, size_bytes,
					       PFS_SIM_STORE, (uint8_t)order, 0 };
	(void)pfs_sim_execute(&operation);
}

bool pfs_sim_cas(void *address, uint32_t size_bytes, void *seen, uint64_t value,
		 enum pfs_sim_order order, const struct pfs_sim_place *place)
{
	struct pfs_sim_operation operation = { address,     value,          0, place, size_bytes,
					       PFS_SIM_CAS, (uint8_t)order, 0 };
	memcpy(&operation.expected, seen, size_bytes); /* little endian */
	uint64_t found = pfs_sim_execute(&operation);
	if (found == operation.expected)
		return true;
	memcpy(seen, &found, size_bytes);
	return false;
}

uint64_t pfs_sim_change(enum pfs_sim_kind kind, void *address, uint32_t size_bytes,
			uint64_t operand, enum pfs_sim_order order,
			const struct pfs_sim_place *place)
{
	struct pfs_sim_operation operation = { address,       operand,        0, place, size_bytes,
					       (uint8_t)kind, (uint8_t)order, 0 };
	return pfs_sim_execute(&operation);
}

/* The caller's fence, one in each other thread, and the caller's again: one step of the caller
 * each, so that steps of others may come between. If stores are not delayed, one step is enough. */
void pfs_machine_barrier(void)
{
	const struct pfs_machine *machine = pfs_current;
	uint32_t own = machine->run.running != NULL ? machine->run.running->id : 0;
	bool parts = machine->run.running != NULL && machine->engine.execute == NULL &&
		     (machine->model->buffers || machine->model->keeps_old);
	(void)pfs_sim_change(PFS_SIM_BARRIER, NULL, 0, own, PFS_SIM_SEQ, PFS_SIM_PLACE("barrier"));
	for (uint32_t id = 0; parts && id < machine->thread_count; id++) {
		if (id != own)
			(void)pfs_sim_change(PFS_SIM_BARRIER, NULL, 0, id, PFS_SIM_SEQ,
					     PFS_SIM_PLACE("interrupt"));
	}
	if (parts)
		(void)pfs_sim_change(PFS_SIM_BARRIER, NULL, 0, own, PFS_SIM_SEQ,
				     PFS_SIM_PLACE("acknowledged"));
}

void pfs_machine_fence(enum pfs_sim_order order, const struct pfs_sim_place *place)
{
	struct pfs_machine *self = pfs_current;
	if (self == NULL || self->run.running == NULL || pfs_sim_is_quiet())
		return;
	if (order == PFS_SIM_SEQ) {
		struct pfs_sim_operation operation = { .place = place,
						       .kind = PFS_SIM_FENCE,
						       .order = PFS_SIM_SEQ };
		(void)pfs_sim_execute(&operation);
	}
	pfs_fences_act(self, self->run.running->id, order);
}

void pfs_machine_note(void *cell, const char *text)
{
	static const struct pfs_sim_place place = { "check", "note", "note", 0 };
	struct pfs_sim_operation operation = { cell, 0, 0, &place, 1, PFS_SIM_NOTE, PFS_SIM_RELAXED,
					       0 };
	(void)text;
	(void)pfs_sim_execute(&operation);
}

uint32_t pfs_machine_choose(uint32_t count)
{
	static const struct pfs_sim_place place = { "check", "choose", "choose", 0 };
	struct pfs_sim_operation operation = {
		.operand = count, .place = &place, .kind = PFS_SIM_CHOOSE, .order = PFS_SIM_RELAXED
	};
	struct pfs_machine *self = pfs_current;
	if (self != NULL && self->setup.clears_stacks)
		clear_stack();
	return (uint32_t)pfs_sim_execute(&operation);
}

uint64_t pfs_machine_await(void *word, uint32_t size_bytes, enum pfs_sim_order order,
			   pfs_machine_predicate *predicate, uint64_t argument)
{
	static const struct pfs_sim_place place = { "check", "await", "await", 0 };
	struct pfs_sim_operation operation = {
		word,           argument,   (uint64_t)(uintptr_t)predicate,
		&place,         size_bytes, PFS_SIM_AWAIT,
		(uint8_t)order, 0
	};
	return pfs_sim_execute(&operation);
}

void pfs_machine_body(void *opaque)
{
	struct pfs_vthread *thread = opaque;
	struct pfs_machine *self = thread->machine;
	thread->body(thread->argument);
	thread->state = PFS_VTHREAD_FINISHED;
	if (self->run.priming || self->setup.chooses_outside)
		pfs_current_leave(self, thread);
	else
		(void)dispatch(self, thread);
	__builtin_trap(); /* no scheduler chooses a finished thread */
}

/* Every new thread runs to its first operation, in the order of their ids. */
static void prime(struct pfs_machine *self)
{
	self->run.priming = true;
	for (; self->run.primed_count < self->thread_count && self->run.end == PFS_END_DONE;
	     self->run.primed_count++) {
		struct pfs_vthread *thread = self->threads[self->run.primed_count];
		self->run.running = thread;
		pfs_fiber_switch(&self->run.caller, &thread->fiber);
	}
	self->run.priming = false;
	self->run.running = NULL;
}

static void run_aside(void *opaque)
{
	struct pfs_machine *self = opaque;
	self->aside.call(self->aside.argument);
	pfs_fiber_switch(&self->aside.fiber, &self->run.caller);
	__builtin_trap(); /* the next call starts from the beginning */
}

void pfs_machine_aside(struct pfs_machine *self, void (*call)(void *argument), void *argument)
{
	self->aside.call = call;
	self->aside.argument = argument;
	self->aside.is_on = true;
	pfs_fiber_set(&self->aside.fiber, run_aside, self, 0);
	pfs_fiber_switch(&self->run.caller, &self->aside.fiber);
	self->aside.is_on = false;
}

/* Everything before this run happens before all that it does. */
static void begin_clocks(struct pfs_machine *self)
{
	self->run.watching = self->setup.watch && self->engine.execute == NULL &&
			     self->thread_count <= PFS_RACES_THREADS_MAX;
	if (self->run.watching || self->model->keeps_old)
		pfs_clocks_begin(&self->clocks, self->thread_count);
	if (self->run.watching)
		pfs_races_clear(&self->races);
	if (self->model->begin != NULL)
		self->model->begin(self);
	if (self->setup.has_fences)
		pfs_fences_begin(&self->fences, self->thread_count);
}

enum pfs_machine_end pfs_machine_run(struct pfs_machine *self, struct pfs_scheduler *scheduler)
{
	self->run.scheduler = scheduler;
	if (self->run.end == PFS_END_DEADLOCK)
		self->run.end = PFS_END_DONE;
	self->run.cut = false;
	begin_clocks(self);
	self->run.maps_at_start = self->memory.maps;
	self->run.mapped_at_start = self->memory.mapped;
	prime(self);
	return pfs_machine_resume(self, scheduler);
}

enum pfs_machine_end pfs_machine_resume(struct pfs_machine *self, struct pfs_scheduler *scheduler)
{
	self->run.scheduler = scheduler;
	bool goes_on = self->run.end == PFS_END_DONE && dispatch(self, NULL);
	while (goes_on && self->setup.chooses_outside)
		goes_on = dispatch(self, NULL);
	self->run.running = NULL;
	return self->run.end;
}

void pfs_machine_stop_after(struct pfs_machine *self, uint32_t thread, uint32_t steps)
{
	self->threads[thread]->stop_after = steps;
}
