/*
 * actors.h - which actors can make the next step, for schedulers and searches.
 */
#ifndef PFS_SIM_ACTORS_H
#define PFS_SIM_ACTORS_H

#include "check/machine/model.h"

/* The number of first actors (actor.h), whatever they choose. */
static inline uint32_t pfs_machine_actor_count(const struct pfs_machine *self)
{
	return self->model->buffers ? 2 * self->thread_count : self->thread_count;
}

/* For searches that try all choices: no actor with this number or a larger one can run. */
uint32_t pfs_machine_actor_limit(const struct pfs_machine *self);

/* The actor with that number, which need not be able to run; and the number of an actor. */
static inline struct pfs_actor pfs_actor_of(const struct pfs_machine *machine, uint32_t number)
{
	uint32_t threads = machine->thread_count, firsts = pfs_machine_actor_count(machine);
	if (number < threads || firsts == 0)
		return pfs_actor_step(number);
	uint32_t first = pfs_actor_first_of(firsts, number);
	struct pfs_actor actor = pfs_actor_step(first);
	if (first >= threads)
		actor = (struct pfs_actor){ first - threads, PFS_ACTOR_DRAIN, 0 };
	return pfs_actor_with(actor, pfs_actor_choice_of(firsts, number));
}

static inline uint32_t pfs_actor_number(const struct pfs_machine *machine, struct pfs_actor actor)
{
	if (pfs_actor_is_nobody(actor))
		return PFS_ACTOR_NONE;
	uint32_t first = actor.thread;
	if (actor.kind == PFS_ACTOR_DRAIN)
		first += machine->thread_count;
	return first + actor.choice * pfs_machine_actor_count(machine);
}

/* Its next operation. */
static inline struct pfs_sim_operation pfs_machine_pending(const struct pfs_machine *self,
							   struct pfs_actor actor)
{
	const struct pfs_vthread *thread = self->threads[actor.thread];
	return actor.kind == PFS_ACTOR_DRAIN ? self->model->oldest(thread) : thread->pending;
}

static inline bool pfs_machine_can_run(const struct pfs_machine *self, struct pfs_actor actor)
{
	if (actor.thread >= self->thread_count)
		return false;
	const struct pfs_vthread *thread = self->threads[actor.thread];
	if (actor.kind == PFS_ACTOR_DRAIN)
		return thread->buffer_count != 0 && actor.choice == 0;
	return thread->state == PFS_VTHREAD_READY && thread->steps < thread->stop_after &&
	       pfs_model_can(self, thread, actor.choice);
}

/* With any of its choices. The actor may be one that can only read an old value: an await.
 * pfs_machine_perhaps_older says with which choice. */
bool pfs_machine_can_move(const struct pfs_machine *self, struct pfs_actor actor);
bool pfs_machine_any(const struct pfs_machine *self);

/* For random schedules: an actor of the same thread. With a model that keeps old values, sometimes
 * one that reads, or writes after, an old value. */
struct pfs_actor pfs_machine_perhaps_older(struct pfs_machine *self, struct pfs_actor actor,
					   uint64_t random);

/* The first actor that can move, from a number on, cyclically; or PFS_NOBODY. */
struct pfs_actor pfs_machine_first_from(struct pfs_machine *self, uint32_t number);
/* From the one after the last actor on. */
struct pfs_actor pfs_machine_next_in_turn(struct pfs_machine *self);

#endif
