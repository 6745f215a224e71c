/* snapshot_machine.c - which parts of a machine a snapshot keeps. */
#include "check/machine/heap.h"
#include "check/machine/model.h"
#include "check/machine/snapshot.h"

static void put_thread(struct pfs_machine_snapshot *self, struct pfs_vthread *thread)
{
	const struct pfs_fiber *fiber = &thread->fiber;
	pfs_snapshot_put(self, thread, sizeof(*thread));
	if (thread->buffer != NULL)
		pfs_snapshot_put(self, thread->buffer, PFS_BUFFER_MAX * sizeof(*thread->buffer));
	if (thread->state != PFS_VTHREAD_FINISHED)
		pfs_snapshot_put(
			self, fiber->stack_pointer,
			(size_t)(fiber->stack + fiber->stack_bytes - (char *)fiber->stack_pointer));
}

bool pfs_snapshot_fits(const struct pfs_machine *machine)
{
	const struct pfs_sim_memory *memory = &machine->memory;
	return memory->maps == machine->run.maps_at_start &&
	       memory->mapped == machine->run.mapped_at_start;
}

static void put_machine(struct pfs_machine_snapshot *self, struct pfs_machine *machine)
{
	const struct pfs_sim_memory *memory = &machine->memory;
	for (uint32_t id = 0; id < machine->thread_count; id++)
		put_thread(self, machine->threads[id]);
	pfs_snapshot_put(self, &machine->run.step_count, sizeof(machine->run.step_count));
	pfs_snapshot_put(self, &machine->run.last_actor, sizeof(machine->run.last_actor));
	pfs_snapshot_put(self, &machine->run.yielded, sizeof(machine->run.yielded));
	pfs_snapshot_put(self, memory->region, memory->used * PFS_SIM_OS_PAGE);
	pfs_heap_keep(self);
}

bool pfs_machine_snapshot_take(struct pfs_machine_snapshot *self, struct pfs_machine *machine)
{
	self->used = 0;
	self->no_memory = false;
	if (!pfs_snapshot_fits(machine))
		return false;
	put_machine(self, machine);
	return !self->no_memory;
}

bool pfs_snapshot_take_whole(struct pfs_machine_snapshot *self, struct pfs_machine *machine)
{
	self->used = 0;
	self->no_memory = false;
	self->pages = machine->memory.used;
	self->widenings = pfs_widenings;
	if (machine->memory.hidden != 0)
		return false;
	put_machine(self, machine);
	pfs_snapshot_put(self, &machine->hooks.check, sizeof(machine->hooks.check));
	pfs_snapshot_put(self, &machine->run.cut, sizeof(machine->run.cut));
	pfs_sim_memory_keep(&machine->memory, self);
	pfs_news_keep(machine, self);
	if (machine->run.watching || machine->model->keeps_old)
		pfs_clocks_keep(&machine->clocks, self);
	if (machine->run.watching)
		pfs_races_keep(&machine->races, self);
	if (machine->model->keep != NULL)
		machine->model->keep(machine, self);
	if (machine->setup.has_fences)
		pfs_fences_keep(&machine->fences, self);
	return !self->no_memory;
}

bool pfs_snapshot_restore_whole(const struct pfs_machine_snapshot *self,
				struct pfs_machine *machine)
{
	if (self->widenings != pfs_widenings)
		return false;
	pfs_sim_memory_return(&machine->memory, self->pages);
	pfs_snapshot_restore(self);
	machine->run.running = NULL;
	machine->run.is_known = false;
	machine->run.end = PFS_END_DONE;
	machine->run.message[0] = '\0';
	return true;
}

bool pfs_snapshot_is_possible(void)
{
	return pfs_fiber_is_bytes();
}
