#include "sim/machine/actors.h"

uint32_t pfs_machine_actor_count(const struct pfs_machine *self)
{
	return self->model->buffers ? 2 * self->thread_count : self->thread_count;
}

uint32_t pfs_machine_actor_limit(const struct pfs_machine *self)
{
	uint32_t choices = 1;
	if (!self->model->keeps_old)
		return pfs_machine_actor_count(self);
	for (uint32_t id = 0; id < self->thread_count; id++) {
		const struct pfs_vthread *thread = self->threads[id];
		uint32_t own = 1;
		if (thread->state == PFS_VTHREAD_READY)
			own = self->model->choices(self, thread);
		choices = own > choices ? own : choices;
	}
	return choices * self->thread_count;
}

static bool can_step(const struct pfs_machine *self, const struct pfs_vthread *thread,
		     uint32_t choice)
{
	return thread->state == PFS_VTHREAD_READY && thread->steps < thread->stop_after &&
	       pfs_model_can(self, thread, choice);
}

bool pfs_machine_can_run(const struct pfs_machine *self, uint32_t number)
{
	struct pfs_actor actor = pfs_actor_of(self, number);
	if (actor.thread >= self->thread_count)
		return false;
	const struct pfs_vthread *thread = self->threads[actor.thread];
	return actor.kind == PFS_ACTOR_DRAIN ? thread->buffer_count != 0
					     : can_step(self, thread, actor.choice);
}

/* The newest that an await may return, if that is not the newest there is. */
static uint32_t older_of(const struct pfs_machine *self, uint32_t id)
{
	const struct pfs_vthread *thread = self->threads[id];
	uint32_t choices = self->model->choices(self, thread);
	for (uint32_t choice = 1; choice < choices; choice++) {
		if (can_step(self, thread, choice))
			return id + choice * self->thread_count;
	}
	return PFS_ACTOR_NONE;
}

bool pfs_machine_can_move(const struct pfs_machine *self, uint32_t actor)
{
	if (pfs_machine_can_run(self, actor))
		return true;
	return self->model->keeps_old && self->threads[actor]->state == PFS_VTHREAD_READY &&
	       self->threads[actor]->pending.kind == PFS_SIM_AWAIT &&
	       older_of(self, actor) != PFS_ACTOR_NONE;
}

uint32_t pfs_machine_perhaps_older(struct pfs_machine *self, uint32_t actor, uint64_t random)
{
	if (!self->model->keeps_old || actor == PFS_ACTOR_NONE)
		return actor;
	uint32_t id = pfs_actor_of(self, actor).thread;
	if (!pfs_machine_can_run(self, actor))
		return older_of(self, id);
	if (random % 4 != 0)
		return actor;
	uint32_t choices = self->model->choices(self, self->threads[id]);
	uint32_t older = actor + self->thread_count * (uint32_t)(random / 4 % choices);
	return pfs_machine_can_run(self, older) ? older : actor;
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

struct pfs_sim_operation pfs_machine_pending(const struct pfs_machine *self, uint32_t number)
{
	return pfs_actor_pending(self, pfs_actor_of(self, number));
}
