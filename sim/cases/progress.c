#include "sim/cases/progress.h"

#include <stdio.h>
#include <string.h>

#include "sim/cases/case_kind.h"
#include "sim/seams/probe.h"
#include "check/machine/trace.h"

/* May the thread wait forever? Only in allocate or in a pass, for the growth lock, or a lock that
 * is taken to make a page: that of its mapping, or that of the kept pages. The oracle does not
 * check passes, so `doing` is NULL in one. */
static bool may_wait(const struct pfs_progress *self, const struct pfs_case_thread *thread,
		     const struct pfs_sim_operation *pending)
{
	struct pfs_case *own = self->own;
	char name[PFS_NAME_BYTES];
	bool beside = (own->kind->traits & PFS_CASE_BESIDE) != 0 && thread->id != self->filler;
	if (pending->kind != PFS_SIM_LOCK || beside ||
	    !pfs_probe_name(own->container, pending->address, name, sizeof(name)) ||
	    (strcmp(name, "growth") != 0 && strcmp(name, "mapping") != 0 &&
	     strcmp(name, "keeping") != 0))
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
		    (id == self->filler && !self->filling) ||
		    may_wait(self, &own->threads[id], &thread->pending))
			continue;
		const char *doing = own->threads[id].doing;
		(void)snprintf(machine->run.message, sizeof(machine->run.message),
			       "thread %u waits in %s for %s (%s:%d), and thread %u is parked "
			       "after its step %u",
			       id, doing != NULL ? doing : "another call", place->text,
			       pfs_trace_base_name(place->file), place->line, self->victim,
			       self->after);
		return;
	}
	self->waited++;
	machine->run.end = PFS_END_DONE;
}

/* ---- another thread fills the container ---- */

static uint32_t count_owned(const struct pfs_case *own)
{
	uint32_t owned = 0;
	for (uint32_t index = 0; index < PFS_CASE_RECORDS_MAX; index++)
		owned += own->owner[index] != 0;
	return owned;
}

/*
 * The filler was refused: every record must be in use, except those in the hands of the parked
 * thread's call: the one that it allocates or frees, or all of its batch. A pass has none, because
 * it then holds `growth` and the filler waits.
 */
static void check_full(const struct pfs_progress *self)
{
	const struct pfs_case *own = self->own;
	const struct pfs_case_thread *victim = &own->threads[self->victim];
	uint32_t records = own->config.page_max * own->config.page_records;
	uint32_t owned = count_owned(own);
	PFS_MACHINE_CHECK(
		owned + victim->in_hands >= records,
		"allocate answered full with %u of %u records in use; thread %u is parked in "
		"%s after its step %u",
		owned, records, self->victim, victim->doing != NULL ? victim->doing : "no call",
		self->after);
}

static void fill_body(void *opaque)
{
	struct pfs_progress *self = opaque;
	struct pfs_case_thread *thread = &self->own->threads[self->filler];
	void *records[PFS_CASE_RECORDS_MAX];
	uint32_t count = 0;
	pfs_machine_note(&self->filling, "fill"); /* parked here until the others end */
	for (;;) {
		struct pfs_claim claim = pfs_case_take(thread);
		if (claim.record == NULL)
			break;
		PFS_MACHINE_CHECK(count < PFS_CASE_RECORDS_MAX, "more records than there are");
		pfs_case_stamp(claim);
		pfs_case_publish(thread, claim);
		records[count++] = claim.record;
	}
	if (self->filling)
		check_full(self);
	self->filled += self->filling;
	while (count > 0) {
		pfs_case_check_stamp(records[--count]);
		pfs_case_give(thread, records[count]);
	}
}

static void spawn_filler(struct pfs_progress *self, struct pfs_machine *machine)
{
	struct pfs_case *own = self->own;
	struct pfs_case_thread *thread = &own->threads[own->thread_count];
	self->filler = own->thread_count;
	*thread = (struct pfs_case_thread){ .own = own, .id = self->filler };
	if (pfs_thread_attach(own->container, &thread->handle) != PFS_OK) {
		pfs_machine_fail("set-up: no handle");
		return;
	}
	(void)pfs_machine_spawn(machine, 0, fill_body, self);
	pfs_machine_stop_after(machine, self->filler, 0);
}

/* ---- the victim is parked, the others run, then the filler, then the victim ---- */

/* Runs until no thread can continue. True: each waiting thread may wait. */
static bool run_on(struct pfs_progress *self, struct pfs_machine *machine, uint32_t freed)
{
	struct pfs_round_robin turn;
	pfs_machine_stop_after(machine, freed, UINT32_MAX);
	pfs_round_robin_init(&turn);
	(void)pfs_machine_run(machine, &turn.scheduler);
	if (machine->run.end == PFS_END_DEADLOCK && self->filling)
		judge(self, machine);
	return machine->run.end == PFS_END_DONE;
}

static void settle(struct pfs_machine *machine, void *context)
{
	struct pfs_progress *self = context;
	if (machine->run.end != PFS_END_DONE && machine->run.end != PFS_END_DEADLOCK)
		return;
	const struct pfs_vthread *victim = machine->threads[self->victim];
	self->parked |= victim->state != PFS_VTHREAD_FINISHED;
	if (machine->run.end == PFS_END_DEADLOCK)
		judge(self, machine);
	if (machine->run.end != PFS_END_DONE)
		return;
	self->filling = self->fills;
	if (self->fills && !run_on(self, machine, self->filler))
		return;
	self->filling = false;
	(void)run_on(self, machine, self->victim);
}

static void setup(struct pfs_machine *machine, void *context)
{
	struct pfs_progress *self = context;
	self->filling = false;
	self->filler = UINT32_MAX;
	self->own->skips_finish = self->fills;
	self->inner.setup(machine, self->inner.context);
	if (machine->run.end != PFS_END_DONE)
		return;
	if (self->fills)
		spawn_filler(self, machine);
	if (self->victim < machine->thread_count)
		pfs_machine_stop_after(machine, self->victim, self->after);
}

static void finish(struct pfs_machine *machine, void *context)
{
	struct pfs_progress *self = context;
	struct pfs_case *own = self->own;
	if (self->fills)
		pfs_thread_detach(own->threads[self->filler].handle);
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
	*scenario = (struct pfs_scenario){ .name = inner->name,
					   .setup = setup,
					   .finish = finish,
					   .name_address = name_address,
					   .context = self,
					   .settle = settle };
}
