#include "sim/progress.h"

#include <stdio.h>
#include <string.h>

#include "sim/case_kind.h"
#include "sim/probe.h"
#include "sim/trace.h"

/* May the thread wait for ever for what it waits for? Only for the growth lock, in allocate or
 * in a pass, which is no call of the oracle's. */
static bool may_wait(const struct pfs_progress *self, const struct pfs_case_thread *thread,
		     const struct pfs_sim_operation *pending)
{
	struct pfs_case *own = self->own;
	char name[PFS_NAME_BYTES];
	if (pending->kind != PFS_SIM_LOCK || (own->kind->traits & PFS_CASE_BESIDE) != 0 ||
	    !pfs_probe_name(own->container, pending->address, name, sizeof(name)) ||
	    strcmp(name, "growth") != 0)
		return false;
	return thread->doing == NULL || strcmp(thread->doing, "allocate") == 0;
}

static void judge(struct pfs_progress *self, struct pfs_machine *machine)
{
	struct pfs_case *own = self->own;
	for (uint32_t id = 0; id < machine->thread_count; id++) {
		const struct pfs_vthread *thread = machine->threads[id];
		const struct pfs_sim_place *place = thread->pending.place;
		if (thread->state == PFS_VTHREAD_FINISHED || id == self->victim ||
		    may_wait(self, &own->threads[id], &thread->pending))
			continue;
		const char *doing = own->threads[id].doing;
		(void)snprintf(machine->message, sizeof(machine->message),
			       "thread %u waits in %s for %s (%s:%d), and thread %u is parked "
			       "after its step %u", id, doing != NULL ? doing : "another call",
			       place->text, pfs_trace_base_name(place->file), place->line,
			       self->victim, self->after);
		return;
	}
	self->waited++;
	machine->end = PFS_END_DONE;
}

static void settle(struct pfs_machine *machine, void *context)
{
	struct pfs_progress *self = context;
	struct pfs_round_robin turn;
	if (machine->end != PFS_END_DONE && machine->end != PFS_END_DEADLOCK)
		return;
	const struct pfs_vthread *victim = machine->threads[self->victim];
	self->parked |= victim->state != PFS_VTHREAD_FINISHED;
	if (machine->end == PFS_END_DEADLOCK)
		judge(self, machine);
	if (machine->end != PFS_END_DONE)
		return;
	pfs_machine_stop_after(machine, self->victim, UINT32_MAX);
	pfs_round_robin_init(&turn);
	(void)pfs_machine_run(machine, &turn.scheduler);
}

static void setup(struct pfs_machine *machine, void *context)
{
	struct pfs_progress *self = context;
	self->inner.setup(machine, self->inner.context);
	if (self->victim < machine->thread_count)
		pfs_machine_stop_after(machine, self->victim, self->after);
}

static void finish(struct pfs_machine *machine, void *context)
{
	struct pfs_progress *self = context;
	self->inner.finish(machine, self->inner.context);
}

static bool name_address(void *context, const void *address, char *name, size_t name_bytes)
{
	struct pfs_progress *self = context;
	return self->inner.name_address(self->inner.context, address, name, name_bytes);
}

void pfs_progress_init(struct pfs_progress *self, struct pfs_case *own,
		       const struct pfs_scenario *inner, struct pfs_scenario *scenario)
{
	*self = (struct pfs_progress){ .own = own, .inner = *inner };
	*scenario = (struct pfs_scenario){ inner->name, setup, finish, name_address, self, settle };
}
