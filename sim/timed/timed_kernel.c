/*
 * timed_kernel.c - operations that end in system calls: mutexes, yield, barriers, memory.
 *
 * A mutex is glibc's: no spinning, a failed lock calls the kernel at once, an unlock wakes the
 * thread that has waited longest, and the first thread to lock it owns it. The kernel reads the
 * word again before the thread sleeps, and returns if the mutex was unlocked meanwhile. A thread
 * that has called once marks the mutex as waited for, and its unlock calls the kernel even if no
 * thread sleeps.
 */
#include "sim/timed/timed_engine.h"

static void sleep_on(struct pfs_timed *self, struct pfs_timed_thread *thread, const void *mutex)
{
	thread->mutex = mutex;
	thread->asked = thread->clock; /* the first to come is woken first */
	/* Otherwise two threads may run in lockstep, in a pattern that one nanosecond changes. */
	thread->clock += pfs_timed_vary(self, self->prices.futex_sleep);
	self->sleeping++;
	pfs_timed_block(self, thread, PFS_TIMED_SLEEPS);
}

#define WAITED_FOR 0x80000000u /* in the word of a mutex, with its holder */

static void lock(struct pfs_timed *self, struct pfs_timed_thread *thread,
		 const struct pfs_sim_operation *operation)
{
	uint32_t *held = operation->address, mark = 0;
	for (;;) {
		pfs_timed_own(self, thread, held, self->prices.rmw);
		if (*held == 0)
			break;
		mark = WAITED_FOR;
		*held |= mark;
		sleep_on(self, thread, held);
	}
	*held = (pfs_timed_id(self, thread) + 1) | mark;
}

/* The thread that has slept longest on the mutex, or NULL. */
static struct pfs_timed_thread *sleeper(struct pfs_timed *self, const void *mutex)
{
	struct pfs_timed_thread *found = NULL;
	for (uint32_t id = 0; self->sleeping != 0 && id < self->plan.thread_count; id++) {
		struct pfs_timed_thread *thread = &self->threads[id];
		if (thread->mutex == mutex && (found == NULL || thread->asked < found->asked))
			found = thread;
	}
	return found;
}

static void unlock(struct pfs_timed *self, struct pfs_timed_thread *thread,
		   const struct pfs_sim_operation *operation)
{
	uint32_t *held = operation->address;
	pfs_timed_own(self, thread, held, self->prices.rmw);
	bool waited_for = (*held & WAITED_FOR) != 0;
	*held = 0;
	struct pfs_timed_thread *next = waited_for ? sleeper(self, held) : NULL;
	if (next != NULL) {
		next->mutex = NULL;
		self->sleeping--;
	}
	uint64_t asleep_from = next != NULL ? next->clock : 0;
	if (next != NULL && thread->clock >= asleep_from) {
		pfs_timed_wake(self, next, thread->clock + self->prices.wake);
		thread->clock += self->prices.futex_wake;
		return;
	}
	if (next != NULL)
		pfs_timed_wake(self, next, asleep_from);
	if (waited_for)
		thread->clock += self->prices.yield; /* a system call that finds no other thread */
}

static void give_way(struct pfs_timed *self, struct pfs_timed_thread *thread)
{
	thread->clock += self->prices.yield;
	if (self->pus[thread->pu].first != PFS_TIMED_NOBODY)
		pfs_timed_block(self, thread, PFS_TIMED_QUEUED);
}

/* How long a CPU at least runs between two interrupts. */
#define RUNS_BETWEEN (100 * PFS_TIMED_PS)

/* A CPU takes an interrupt that was sent at `sent`. Returns when it has acknowledged it. */
static uint64_t interrupt(struct pfs_timed *self, struct pfs_timed_pu *pu, uint64_t sent)
{
	struct pfs_timed_thread *thread = &self->threads[pu->current];
	uint64_t begin = sent + self->prices.ipi;
	if (begin < pu->handled + RUNS_BETWEEN && pu->handled != 0)
		begin = pu->handled + RUNS_BETWEEN;
	pu->handled = begin + self->prices.interrupt;
	if (pu->handled <= thread->waits)
		return pu->handled; /* it waits for others itself: this costs nothing */
	if (thread->debt == 0)
		thread->interrupted = begin;
	thread->debt += self->prices.interrupt;
	if (thread->alarm > thread->interrupted)
		thread->alarm = thread->interrupted;
	return pu->handled;
}

/* All CPUs that run another thread are interrupted, each when the message reaches it. The caller
 * continues when the last has acknowledged, so endless calls cannot stop the others. */
static void interrupt_others(struct pfs_timed *self, struct pfs_timed_thread *thread)
{
	uint64_t last = 0;
	for (uint32_t at = 0; at < self->plan.topology->pu_count; at++) {
		if (self->pus[at].current == PFS_TIMED_NOBODY || at == thread->pu)
			continue;
		thread->clock += self->prices.barrier_cpu;
		uint64_t acknowledged = interrupt(self, &self->pus[at], thread->clock);
		last = acknowledged > last ? acknowledged : last;
	}
	if (last > thread->clock)
		thread->clock = last;
	thread->waits = thread->clock;
}

/* Polls as a spin loop does: the value is in the line, so each look is an access. */
static uint64_t await(struct pfs_timed *self, struct pfs_timed_thread *thread,
		      const struct pfs_sim_operation *operation)
{
	pfs_machine_predicate *holds = (pfs_machine_predicate *)(uintptr_t)operation->expected;
	struct pfs_sim_operation look = *operation;
	look.kind = PFS_SIM_LOAD;
	for (;;) {
		uint64_t seen = pfs_timed_execute(self->machine, &look);
		if (holds(seen, operation->operand))
			return seen;
		thread->clock += 20 * PFS_TIMED_PS; /* a pause instruction or two */
	}
}

uint64_t pfs_timed_kernel(struct pfs_timed *self, struct pfs_timed_thread *thread,
			  const struct pfs_sim_operation *operation)
{
	switch (operation->kind) {
	case PFS_SIM_LOCK: lock(self, thread, operation); break;
	case PFS_SIM_UNLOCK: unlock(self, thread, operation); break;
	case PFS_SIM_YIELD: give_way(self, thread); break;
	case PFS_SIM_AWAIT: return await(self, thread, operation);
	case PFS_SIM_BARRIER:
		pfs_timed_wait_turn(self, thread);
		thread->clock += self->prices.barrier;
		interrupt_others(self, thread);
		break;
	case PFS_SIM_UNMAP:
		pfs_timed_wait_turn(self, thread);
		thread->clock += self->prices.unmap;
		interrupt_others(self, thread);
		break;
	default: break; /* a note costs nothing */
	}
	return 0;
}

void pfs_timed_mapped(void *context, uint32_t os_page_count)
{
	struct pfs_timed *self = context;
	const struct pfs_vthread *running = self->machine->run.running;
	if (running != NULL)
		self->threads[running->id].clock += self->prices.map +
						    os_page_count * self->prices.fault;
}

static struct pfs_timed_thread *caller(struct pfs_timed **self)
{
	struct pfs_machine *machine = pfs_machine_current();
	if (machine == NULL || machine->engine.execute != pfs_timed_execute ||
	    machine->run.running == NULL)
		return NULL;
	*self = machine->engine.context;
	return &(*self)->threads[machine->run.running->id];
}

uint64_t pfs_timed_now_ns(void)
{
	struct pfs_timed *self;
	const struct pfs_timed_thread *thread = caller(&self);
	return thread != NULL ? thread->clock / PFS_TIMED_PS : 0;
}

/* In pieces if others wait for the PU, so that each gets its time slices. */
void pfs_timed_work_ns(uint64_t ns)
{
	struct pfs_timed *self;
	struct pfs_timed_thread *thread = caller(&self);
	if (thread == NULL)
		return;
	const struct pfs_timed_pu *pu = &self->pus[thread->pu];
	uint64_t left = ns * PFS_TIMED_PS;
	while (pu->threads > 1 && left > 0) {
		uint64_t room = pu->slice_end > thread->clock ? pu->slice_end - thread->clock : 0;
		uint64_t piece = left < room ? left : room;
		thread->clock += piece;
		left -= piece;
		if (left == 0)
			break;
		thread->alarm = 0;
		pfs_timed_wait_turn(self, thread);
	}
	thread->clock += left;
}

void pfs_timed_turn(void)
{
	struct pfs_timed *self;
	struct pfs_timed_thread *thread = caller(&self);
	if (thread != NULL)
		pfs_timed_wait_turn(self, thread);
}

void pfs_timed_sleep_ns(uint64_t ns)
{
	struct pfs_timed *self;
	struct pfs_timed_thread *thread = caller(&self);
	if (thread == NULL)
		return;
	thread->clock += self->prices.futex_sleep;
	thread->asked = thread->clock;
	thread->clock += ns * PFS_TIMED_PS + self->prices.wake;
	pfs_timed_block(self, thread, PFS_TIMED_WAKES);
}
