#include "sim/timed_engine.h"

#include "sim/model.h"

static void sift_down(struct pfs_timed *self, uint64_t key)
{
	uint32_t at = 0, count = self->heap_count;
	for (;;) {
		uint32_t child = 2 * at + 1;
		if (child >= count)
			break;
		if (child + 1 < count && self->heap[child + 1] < self->heap[child])
			child++;
		if (self->heap[child] >= key)
			break;
		self->heap[at] = self->heap[child];
		at = child;
	}
	self->heap[at] = key;
}

static void push(struct pfs_timed *self, uint64_t key)
{
	uint32_t at = self->heap_count++;
	for (; at > 0 && self->heap[(at - 1) / 2] > key; at = (at - 1) / 2)
		self->heap[at] = self->heap[(at - 1) / 2];
	self->heap[at] = key;
}

static uint32_t id_of(const struct pfs_timed *self, const struct pfs_timed_thread *thread)
{
	return (uint32_t)(thread - self->threads);
}

/* Go on with the earliest. */
static void switch_to_root(struct pfs_timed *self, struct pfs_timed_thread *from)
{
	struct pfs_machine *machine = self->machine;
	struct pfs_vthread *own = machine->threads[id_of(self, from)];
	if (self->heap_count == 0) {
		machine->running = NULL;
		pfs_fiber_switch(&own->fiber, &machine->caller);
		return;
	}
	uint64_t clock = self->heap[0] >> PFS_TIMED_ID_BITS;
	while (clock >= self->next_tick) {
		uint64_t now = self->next_tick / PFS_TIMED_PS;
		self->next_tick += self->plan.tick_ns * PFS_TIMED_PS;
		self->plan.tick(self->plan.context, now);
	}
	struct pfs_vthread *next =
		machine->threads[self->heap[0] & ((1u << PFS_TIMED_ID_BITS) - 1)];
	machine->running = next;
	if (next != own)
		pfs_fiber_switch(&own->fiber, &next->fiber);
}

/* Until no other thread is earlier. */
static void wait_turn(struct pfs_timed *self, struct pfs_timed_thread *thread)
{
	sift_down(self, pfs_timed_key(thread->clock, id_of(self, thread)));
	switch_to_root(self, thread);
}

static void leave(struct pfs_timed *self, struct pfs_timed_thread *thread)
{
	uint64_t last = self->heap[--self->heap_count];
	if (self->heap_count != 0)
		sift_down(self, last);
	switch_to_root(self, thread);
}

void pfs_timed_finish(struct pfs_timed *self, struct pfs_timed_thread *thread)
{
	struct pfs_machine *machine = self->machine;
	machine->running->state = PFS_VTHREAD_FINISHED;
	uint64_t end = thread->clock / PFS_TIMED_PS;
	if (end > self->stats.end_ns)
		self->stats.end_ns = end;
	for (uint32_t id = 0; self->heap_count == 1 && id < self->plan.thread_count; id++) {
		if (self->threads[id].blocked)
			pfs_machine_fail("deadlock: thread %u waits for ever for a mutex", id);
	}
	leave(self, thread);
	__builtin_trap(); /* nobody switches to a finished thread */
}

static void lock(struct pfs_timed *self, struct pfs_timed_thread *thread,
		 const struct pfs_sim_operation *operation)
{
	uint32_t *held = operation->address;
	while (*held != 0) {
		thread->blocked = true;
		leave(self, thread);
	}
	*held = id_of(self, thread) + 1;
}

static void unlock(struct pfs_timed *self, const struct pfs_timed_thread *thread,
		   const struct pfs_sim_operation *operation)
{
	*(uint32_t *)operation->address = 0;
	for (uint32_t id = 0; id < self->plan.thread_count; id++) {
		if (!self->threads[id].blocked)
			continue;
		self->threads[id].blocked = false;
		self->threads[id].clock = thread->clock + 1000;
		push(self, pfs_timed_key(self->threads[id].clock, id));
	}
}

uint64_t pfs_timed_execute(struct pfs_machine *machine, const struct pfs_sim_operation *operation)
{
	struct pfs_timed *self = machine->engine_context;
	struct pfs_timed_thread *thread = &self->threads[machine->running->id];
	machine->running->pending.place = operation->place;
	wait_turn(self, thread);
	self->stats.accesses++;
	self->stats.atomics++;
	thread->clock += 5 * PFS_TIMED_PS;
	if (operation->kind == PFS_SIM_LOCK) {
		lock(self, thread, operation);
		return 0;
	}
	if (operation->kind == PFS_SIM_UNLOCK) {
		unlock(self, thread, operation);
		return 0;
	}
	return pfs_model_at_once(machine->running, operation);
}

static struct pfs_timed_thread *caller(struct pfs_timed **self)
{
	struct pfs_machine *machine = pfs_machine_current();
	if (machine == NULL || machine->engine != pfs_timed_execute || machine->running == NULL)
		return NULL;
	*self = machine->engine_context;
	return &(*self)->threads[machine->running->id];
}

uint64_t pfs_timed_now_ns(void)
{
	struct pfs_timed *self;
	const struct pfs_timed_thread *thread = caller(&self);
	return thread != NULL ? thread->clock / PFS_TIMED_PS : 0;
}

void pfs_timed_work_ns(uint64_t ns)
{
	struct pfs_timed *self;
	struct pfs_timed_thread *thread = caller(&self);
	if (thread != NULL)
		thread->clock += ns * PFS_TIMED_PS;
}

void pfs_timed_sleep_ns(uint64_t ns)
{
	pfs_timed_work_ns(ns);
}
