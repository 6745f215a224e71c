/*
 * timed_sched.c - which virtual thread runs next: the heap of clocks, and the PUs' queues.
 *
 * A PU has one thread that runs and a queue. Threads stay on their PU: there is no balancing.
 */
#include "sim/timed/timed_engine.h"

/* Replaces the root's key: the hole sinks to the bottom, then the key rises, which it rarely does,
 * so that each level needs one comparison. Sentinels replace missing children. */
static void replace_root(struct pfs_timed *self, uint64_t key)
{
	uint64_t *heap = self->heap;
	uint32_t count = self->heap_count, at = 0, child = 1;
	while (child < count) {
		child += heap[child + 1] < heap[child];
		heap[at] = heap[child];
		at = child;
		child = 2 * at + 1;
	}
	while (at > 0 && heap[(at - 1) / 2] > key) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = key;
}

static void remove_root(struct pfs_timed *self)
{
	uint64_t last = self->heap[--self->heap_count];
	self->heap[self->heap_count] = PFS_TIMED_NEVER;
	if (self->heap_count != 0)
		replace_root(self, last);
}

void pfs_timed_push(struct pfs_timed *self, uint64_t key)
{
	uint32_t at = self->heap_count++;
	for (; at > 0 && self->heap[(at - 1) / 2] > key; at = (at - 1) / 2)
		self->heap[at] = self->heap[(at - 1) / 2];
	self->heap[at] = key;
	self->heap[self->heap_count] = PFS_TIMED_NEVER;
	self->heap[self->heap_count + 1] = PFS_TIMED_NEVER;
}

static uint64_t vary(struct pfs_timed *self, uint64_t mean)
{
	/* +- an eighth: threads of different PUs do not switch in step */
	return mean - mean / 8 + (mean / 4 * pfs_timed_random(self) >> 32);
}

static void start_slice(struct pfs_timed *self, struct pfs_timed_pu *pu, uint64_t now)
{
	struct pfs_timed_thread *thread = &self->threads[pu->current];
	uint64_t slice = vary(self, self->prices.slice / PFS_TIMED_PS) * PFS_TIMED_PS;
	pu->slice_end = now + slice;
	thread->alarm = pu->first != PFS_TIMED_NOBODY ? pu->slice_end : PFS_TIMED_NEVER;
	if (thread->debt != 0 && thread->alarm > thread->interrupted)
		thread->alarm = thread->interrupted;
}

static void enqueue(struct pfs_timed *self, struct pfs_timed_thread *thread)
{
	struct pfs_timed_pu *pu = &self->pus[thread->pu];
	uint16_t id = (uint16_t)pfs_timed_id(self, thread);
	thread->state = PFS_TIMED_QUEUED;
	thread->next = PFS_TIMED_NOBODY;
	if (pu->first == PFS_TIMED_NOBODY)
		pu->first = id;
	else
		self->threads[pu->last].next = id;
	pu->last = id;
	if (pu->current != PFS_TIMED_NOBODY && self->threads[pu->current].alarm > pu->slice_end)
		self->threads[pu->current].alarm = pu->slice_end;
}

/* The thread takes its PU, which is free. */
static void occupy(struct pfs_timed *self, struct pfs_timed_thread *thread, uint64_t now)
{
	struct pfs_timed_pu *pu = &self->pus[thread->pu];
	pu->current = (uint16_t)pfs_timed_id(self, thread);
	thread->state = PFS_TIMED_RUNS;
	thread->clock = now;
	start_slice(self, pu, now);
}

/* Its PU becomes free now: the next in the queue takes it. */
static void run_next(struct pfs_timed *self, struct pfs_timed_pu *pu, uint64_t now)
{
	pu->current = PFS_TIMED_NOBODY;
	if (pu->first == PFS_TIMED_NOBODY)
		return;
	struct pfs_timed_thread *next = &self->threads[pu->first];
	pu->first = next->next;
	occupy(self, next, now + self->prices.context_switch);
	pfs_timed_push(self, pfs_timed_key(next->clock, pfs_timed_id(self, next)));
}

/* The thread at the root woke: it takes its PU or joins the queue. */
static void admit_root(struct pfs_timed *self, struct pfs_timed_thread *thread)
{
	struct pfs_timed_pu *pu = &self->pus[thread->pu];
	if (pu->current == PFS_TIMED_NOBODY) {
		occupy(self, thread, thread->clock);
		return;
	}
	remove_root(self);
	enqueue(self, thread);
}

static void leave_run(struct pfs_timed *self, struct pfs_vthread *from)
{
	self->machine->run.running = NULL;
	pfs_fiber_switch(&from->fiber, &self->machine->run.caller);
}

static void tick(struct pfs_timed *self, uint64_t clock)
{
	struct pfs_vthread *running = self->machine->run.running;
	self->machine->run.running = NULL; /* the callback's accesses cost nothing */
	while (clock >= self->next_tick) {
		uint64_t now = self->next_tick / PFS_TIMED_PS;
		self->next_tick += self->plan.tick_ns * PFS_TIMED_PS;
		self->plan.tick(self->plan.context, now);
	}
	self->machine->run.running = running;
}

/* Runs the earliest thread. */
static void switch_to_root(struct pfs_timed *self, struct pfs_vthread *from)
{
	struct pfs_timed_thread *next;
	for (;;) {
		if (self->heap_count == 0) {
			if (self->alive != 0 && self->machine->run.end == PFS_END_DONE)
				pfs_machine_fail("deadlock: %u threads wait for ever for mutexes",
						 self->alive);
			leave_run(self, from);
			return;
		}
		next = &self->threads[self->heap[0] & ((1u << PFS_TIMED_ID_BITS) - 1)];
		uint64_t clock = self->heap[0] >> PFS_TIMED_ID_BITS;
		if (clock >= self->next_tick) {
			tick(self, clock);
			if (self->machine->run.end != PFS_END_DONE) {
				leave_run(self, from);
				return;
			}
		}
		if (next->state == PFS_TIMED_RUNS)
			break;
		admit_root(self, next);
	}
	self->machine->run.running = next->own;
	if (next->own != from)
		pfs_fiber_switch(&from->fiber, &next->own->fiber);
}

void pfs_timed_yield_root(struct pfs_timed *self, struct pfs_timed_thread *thread)
{
	replace_root(self, pfs_timed_key(thread->clock, pfs_timed_id(self, thread)));
	switch_to_root(self, thread->own);
}

void pfs_timed_park(struct pfs_timed *self, struct pfs_timed_thread *thread)
{
	remove_root(self);
	switch_to_root(self, thread->own);
}

void pfs_timed_block(struct pfs_timed *self, struct pfs_timed_thread *thread,
		     enum pfs_timed_state state)
{
	struct pfs_timed_pu *pu = &self->pus[thread->pu];
	uint64_t now = thread->clock;
	if (state == PFS_TIMED_WAKES) {
		thread->state = PFS_TIMED_WAKES; /* at its clock; the PU is free from asked on */
		now = thread->asked;
		replace_root(self, pfs_timed_key(thread->clock, pfs_timed_id(self, thread)));
	} else {
		remove_root(self);
		if (state == PFS_TIMED_QUEUED)
			enqueue(self, thread);
		else
			thread->state = (uint8_t)state;
	}
	run_next(self, pu, now);
	switch_to_root(self, thread->own);
}

void pfs_timed_wake(struct pfs_timed *self, struct pfs_timed_thread *thread, uint64_t when)
{
	thread->state = PFS_TIMED_WAKES;
	thread->clock = when;
	pfs_timed_push(self, pfs_timed_key(when, pfs_timed_id(self, thread)));
}

void pfs_timed_alarm(struct pfs_timed *self, struct pfs_timed_thread *thread)
{
	struct pfs_timed_pu *pu = &self->pus[thread->pu];
	if (thread->clock >= thread->interrupted) {
		thread->clock += thread->debt;
		thread->debt = 0;
	}
	if (pu->first == PFS_TIMED_NOBODY) {
		start_slice(self, pu, thread->clock);
	} else if (thread->clock >= pu->slice_end) {
		self->stats.preemptions++;
		pfs_timed_block(self, thread, PFS_TIMED_QUEUED);
	} else {
		thread->alarm = pu->slice_end;
		if (thread->debt != 0 && thread->alarm > thread->interrupted)
			thread->alarm = thread->interrupted;
	}
}

void pfs_timed_begin(struct pfs_timed *self)
{
	self->heap_count = 0;
	self->alive = self->plan.thread_count;
	for (uint32_t pu = 0; pu < self->plan.topology->pu_count; pu++) {
		self->pus[pu].current = self->pus[pu].first = PFS_TIMED_NOBODY;
		self->pus[pu].handled = 0;
	}
	self->heap[0] = self->heap[1] = self->heap[2] = PFS_TIMED_NEVER;
	for (uint32_t id = 0; id < self->plan.thread_count; id++) {
		struct pfs_timed_thread *thread = &self->threads[id];
		thread->clock = thread->drain = thread->debt = 0;
		thread->interrupted = thread->waits = 0;
		thread->alarm = PFS_TIMED_NEVER;
		thread->mutex = NULL;
		if (self->pus[thread->pu].current != PFS_TIMED_NOBODY) {
			enqueue(self, thread);
			continue;
		}
		occupy(self, thread, 0);
		pfs_timed_push(self, pfs_timed_key(0, id));
	}
}

void pfs_timed_finish(struct pfs_timed *self, struct pfs_timed_thread *thread)
{
	uint64_t end = thread->clock / PFS_TIMED_PS;
	thread->own->state = PFS_VTHREAD_FINISHED;
	self->alive--;
	if (end > self->stats.end_ns)
		self->stats.end_ns = end;
	pfs_timed_block(self, thread, PFS_TIMED_ENDED);
	__builtin_trap(); /* nobody switches to a finished thread */
}
