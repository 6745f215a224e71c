/*
 * actors.h - who makes a step: a thread, of some kind, with some choice.
 *
 * Searches keep sets of actors, and schedules are saved as numbers: thread t is actor t, what
 * else it could do are t + thread_count, t + 2 * thread_count, ... Only this file knows that: with
 * store buffers actor t + thread_count moves the oldest buffered store of thread t to memory; with
 * old values actor t + thread_count * k lets thread t read, or write behind, the message that is k
 * older than the newest.
 */
#ifndef PFS_SIM_ACTORS_H
#define PFS_SIM_ACTORS_H

#include "sim/machine/model.h"

enum pfs_actor_kind {
	PFS_ACTOR_STEP, /* the thread makes its pending operation */
	PFS_ACTOR_DRAIN /* its oldest buffered store reaches memory */
};

struct pfs_actor {
	uint32_t thread;
	uint16_t kind;   /* enum pfs_actor_kind */
	uint16_t choice; /* of a step: 0 is the newest value */
};

/* The actor of that number, which may be none that can run. */
static inline struct pfs_actor pfs_actor_of(const struct pfs_machine *machine, uint32_t number)
{
	uint32_t count = machine->thread_count;
	if (number < count || count == 0)
		return (struct pfs_actor){ number, PFS_ACTOR_STEP, 0 };
	uint32_t turn = number / count, thread = number % count;
	if (turn == 1 && machine->model->buffers)
		return (struct pfs_actor){ thread, PFS_ACTOR_DRAIN, 0 };
	return (struct pfs_actor){ thread, PFS_ACTOR_STEP, (uint16_t)turn };
}

static inline uint32_t pfs_actor_number(const struct pfs_machine *machine, struct pfs_actor actor)
{
	uint32_t turn = actor.kind == PFS_ACTOR_DRAIN ? 1 : actor.choice;
	return actor.thread + turn * machine->thread_count;
}

/* The same actor, whatever it chooses. */
static inline uint32_t pfs_actor_any_choice(const struct pfs_machine *machine, uint32_t number)
{
	struct pfs_actor actor = pfs_actor_of(machine, number);
	actor.choice = 0;
	return pfs_actor_number(machine, actor);
}

/* What it will do next. */
static inline struct pfs_sim_operation pfs_actor_pending(const struct pfs_machine *machine,
							 struct pfs_actor actor)
{
	const struct pfs_vthread *thread = machine->threads[actor.thread];
	return actor.kind == PFS_ACTOR_DRAIN ? machine->model->oldest(thread) : thread->pending;
}

#endif
