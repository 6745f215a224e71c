#include "check/search/calm.h"

#include <stdlib.h>

#include "check/machine/actors.h"
#include "check/machine/grow.h"

void pfs_calm_fini(struct pfs_calm *self)
{
	free(self->uses);
	pfs_table_fini(&self->places);
}

static bool is_hot(const struct pfs_calm_use *use)
{
	return use->shared && use->written;
}

/* Of the hot locations: loads of this thread are calm. */
static bool is_only_writer(const struct pfs_calm_use *use, uint32_t thread)
{
	return !use->written_by_many && use->writer == thread;
}

static struct pfs_calm_use *use_of(struct pfs_calm *self, const void *address, uint32_t thread)
{
	uint32_t count = self->places.count;
	uint32_t number = pfs_table_add(&self->places, (uintptr_t)address / 8);
	self->uses = pfs_widen(self->uses, &self->room, number + 1, sizeof(*self->uses));
	if (number == count)
		self->uses[number] = (struct pfs_calm_use){ .thread = thread,
							    .writer = PFS_THREAD_NONE };
	return &self->uses[number];
}

static bool changes(const struct pfs_step *step)
{
	uint8_t kind = step->operation.kind;
	return step->wrote || kind == PFS_SIM_NOTE || kind == PFS_SIM_LOCK ||
	       kind == PFS_SIM_TRY_LOCK || kind == PFS_SIM_UNLOCK;
}

void pfs_calm_note(struct pfs_calm *self, const struct pfs_step *step, bool buffered)
{
	uint8_t kind = step->operation.kind;
	if (kind == PFS_SIM_BARRIER) {
		self->wrong |= !self->barriers;
		self->barriers = true;
	}
	if (kind == PFS_SIM_UNMAP) {
		self->wrong |= !self->unmaps;
		self->unmaps = true;
	}
	if (kind == PFS_SIM_UNMAP || kind == PFS_SIM_BARRIER || kind == PFS_SIM_YIELD ||
	    kind == PFS_SIM_CHOOSE)
		return;
	struct pfs_calm_use *use = use_of(self, step->operation.address, step->thread);
	bool was_hot = is_hot(use);
	use->shared |= use->thread != step->thread;
	use->written |= changes(step) && !buffered;
	self->wrong |= is_hot(use) && !was_hot;
	if (!changes(step))
		return;
	if (use->writer == PFS_THREAD_NONE)
		use->writer = step->thread;
	self->wrong |= use->writer != step->thread && !use->written_by_many;
	use->written_by_many |= use->writer != step->thread;
}

static bool is_calm(const struct pfs_calm *self, const struct pfs_machine *machine, uint32_t actor)
{
	const struct pfs_actor who = pfs_actor_of(machine, actor);
	const struct pfs_sim_operation next = pfs_machine_pending(machine, who);
	enum pfs_sim_memory_state state;
	if (next.kind == PFS_SIM_YIELD)
		return machine->setup.free_yields;
	if (next.kind == PFS_SIM_BARRIER)
		return !machine->model->buffers;
	if (next.kind == PFS_SIM_UNMAP || next.kind == PFS_SIM_AWAIT || next.kind == PFS_SIM_CHOOSE)
		return false;
	if (self->unmaps && pfs_sim_memory_has(&machine->memory, next.address, &state))
		return false;
	if (machine->model->buffers && self->barriers &&
	    (next.kind == PFS_SIM_STORE || next.kind == PFS_SIM_DRAIN))
		return false;
	if (pfs_model_buffers(machine, &next))
		return true;
	uint32_t number = pfs_table_find(&self->places, (uintptr_t)next.address / 8);
	if (number == PFS_TABLE_NONE)
		return true;
	const struct pfs_calm_use *use = &self->uses[number];
	return !is_hot(use) || (next.kind == PFS_SIM_LOAD && is_only_writer(use, who.thread));
}

uint32_t pfs_calm_of(const struct pfs_calm *self, const struct pfs_machine *machine,
		     uint64_t enabled)
{
	for (; enabled != 0; enabled &= enabled - 1) {
		uint32_t actor = (uint32_t)__builtin_ctzll(enabled);
		if (is_calm(self, machine, actor))
			return actor;
	}
	return PFS_ACTOR_NONE;
}
