#include "check/machine/actors.h"

/* Choices of the thread's next step. */
static uint32_t choices_of(const struct pfs_machine *self, const struct pfs_vthread *thread)
{
	if (thread->state != PFS_VTHREAD_READY)
		return 1;
	if (thread->pending.kind == PFS_SIM_CHOOSE)
		return (uint32_t)thread->pending.operand;
	return self->model->keeps_old ? self->model->choices(self, thread) : 1;
}

uint32_t pfs_machine_actor_limit(const struct pfs_machine *self)
{
	uint32_t choices = 1;
	for (uint32_t id = 0; id < self->thread_count; id++) {
		uint32_t own = choices_of(self, self->threads[id]);
		choices = own > choices ? own : choices;
	}
	return choices * pfs_machine_actor_count(self);
}

/* The newest value that an await may return, if that is not the newest value. */
static struct pfs_actor older_of(const struct pfs_machine *self, struct pfs_actor actor)
{
	uint32_t choices = self->model->choices(self, self->threads[actor.thread]);
	for (uint32_t choice = 1; choice < choices; choice++) {
		struct pfs_actor older = pfs_actor_with(actor, choice);
		if (pfs_machine_can_run(self, older))
			return older;
	}
	return PFS_NOBODY;
}

bool pfs_machine_can_move(const struct pfs_machine *self, struct pfs_actor actor)
{
	if (pfs_machine_can_run(self, actor))
		return true;
	return self->model->keeps_old && actor.kind == PFS_ACTOR_STEP &&
	       self->threads[actor.thread]->state == PFS_VTHREAD_READY &&
	       self->threads[actor.thread]->pending.kind == PFS_SIM_AWAIT &&
	       !pfs_actor_is_nobody(older_of(self, actor));
}

struct pfs_actor pfs_machine_perhaps_older(struct pfs_machine *self, struct pfs_actor actor,
					   uint64_t random)
{
	if (actor.kind != PFS_ACTOR_STEP)
		return actor;
	const struct pfs_sim_operation *next = &self->threads[actor.thread]->pending;
	if (next->kind == PFS_SIM_CHOOSE)
		return pfs_actor_with(actor, (uint32_t)(random / 4 % next->operand));
	if (!self->model->keeps_old)
		return actor;
	if (!pfs_machine_can_run(self, actor))
		return older_of(self, actor);
	if (random % 4 != 0)
		return actor;
	uint32_t choices = self->model->choices(self, self->threads[actor.thread]);
	struct pfs_actor older = pfs_actor_with(actor, (uint32_t)(random / 4 % choices));
	return pfs_machine_can_run(self, older) ? older : actor;
}

bool pfs_machine_any(const struct pfs_machine *self)
{
	uint32_t count = pfs_machine_actor_count(self);
	for (uint32_t number = 0; number < count; number++) {
		if (pfs_machine_can_move(self, pfs_actor_of(self, number)))
			return true;
	}
	return false;
}

struct pfs_actor pfs_machine_first_from(struct pfs_machine *self, uint32_t number)
{
	uint32_t count = pfs_machine_actor_count(self);
	for (uint32_t tried = 0; tried < count; tried++) {
		struct pfs_actor actor = pfs_actor_of(self, (number + tried) % count);
		if (pfs_machine_can_move(self, actor))
			return pfs_machine_perhaps_older(self, actor, 1);
	}
	return PFS_NOBODY;
}

struct pfs_actor pfs_machine_next_in_turn(struct pfs_machine *self)
{
	/* PFS_NOBODY has the largest number: the next one is 0. */
	return pfs_machine_first_from(self, pfs_actor_number(self, self->run.last_actor) + 1);
}
