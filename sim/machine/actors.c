/*
 * actors.c - who can make the next step, for schedulers.
 */
#include "sim/machine/machine.h"
#include "sim/machine/model.h"

uint32_t pfs_machine_actor_count(const struct pfs_machine *self)
{
	return self->model == PFS_MACHINE_TSO ? 2 * self->thread_count : self->thread_count;
}

uint32_t pfs_machine_actor_limit(const struct pfs_machine *self)
{
	uint32_t choices = 1;
	if (self->model != PFS_MACHINE_VIEWS)
		return pfs_machine_actor_count(self);
	for (uint32_t id = 0; id < self->thread_count; id++) {
		const struct pfs_vthread *thread = self->threads[id];
		uint32_t own = 1;
		if (thread->state == PFS_VTHREAD_READY)
			own = pfs_views_choices(self, thread);
		choices = own > choices ? own : choices;
	}
	return choices * self->thread_count;
}

/* The newest that an await may return, if that is not the newest there is. */
static uint32_t older_of(const struct pfs_machine *self, uint32_t actor)
{
	uint32_t limit = pfs_views_choices(self, self->threads[actor]) * self->thread_count;
	for (uint32_t older = actor; older < limit; older += self->thread_count) {
		if (pfs_machine_can_run(self, older))
			return older;
	}
	return PFS_ACTOR_NONE;
}

bool pfs_machine_can_move(const struct pfs_machine *self, uint32_t actor)
{
	if (pfs_machine_can_run(self, actor))
		return true;
	return self->model == PFS_MACHINE_VIEWS &&
	       self->threads[actor]->state == PFS_VTHREAD_READY &&
	       self->threads[actor]->pending.kind == PFS_SIM_AWAIT &&
	       older_of(self, actor) != PFS_ACTOR_NONE;
}

uint32_t pfs_machine_perhaps_older(struct pfs_machine *self, uint32_t actor, uint64_t random)
{
	if (self->model != PFS_MACHINE_VIEWS || actor == PFS_ACTOR_NONE)
		return actor;
	if (!pfs_machine_can_run(self, actor))
		return older_of(self, actor);
	if (random % 4 != 0)
		return actor;
	const struct pfs_vthread *thread = self->threads[actor % self->thread_count];
	uint32_t choices = pfs_views_choices(self, thread);
	uint32_t older = actor + self->thread_count * (uint32_t)(random / 4 % choices);
	return pfs_machine_can_run(self, older) ? older : actor;
}

bool pfs_machine_can_run(const struct pfs_machine *self, uint32_t actor)
{
	uint32_t choice = 0;
	if (self->model == PFS_MACHINE_VIEWS && self->thread_count != 0) {
		choice = actor / self->thread_count;
		actor %= self->thread_count;
	}
	if (actor >= self->thread_count) {
		uint32_t owner = actor - self->thread_count;
		return owner < self->thread_count && self->model == PFS_MACHINE_TSO &&
		       self->threads[owner]->buffer_count != 0;
	}
	const struct pfs_vthread *thread = self->threads[actor];
	return thread->state == PFS_VTHREAD_READY && thread->steps < thread->stop_after &&
	       pfs_model_is_ready(self, thread) &&
	       (self->model != PFS_MACHINE_VIEWS || pfs_views_can(self, thread, choice));
}

bool pfs_machine_any(const struct pfs_machine *self)
{
	uint32_t count = pfs_machine_actor_count(self);
	for (uint32_t actor = 0; actor < count; actor++) {
		if (pfs_machine_can_move(self, actor))
			return true;
	}
	return false;
}

struct pfs_sim_operation pfs_machine_pending(const struct pfs_machine *self, uint32_t actor)
{
	if (self->model == PFS_MACHINE_VIEWS)
		actor %= self->thread_count;
	if (actor < self->thread_count)
		return self->threads[actor]->pending;
	return pfs_model_oldest(self->threads[actor - self->thread_count]);
}
