/*
 * actor.h - the actor that makes a step: a thread, or its store buffer, with a choice.
 *
 * Searches keep sets of actors as bits, and a schedule is saved as numbers, so each actor has a
 * number. Only this file and actors.h know the numbering: thread t has number t; with store
 * buffers, that of thread t has thread_count + t. These are the first actors, whose choice is 0.
 * Choice k of an actor has the number of its first actor plus k times the number of first actors.
 */
#ifndef PFS_SIM_ACTOR_H
#define PFS_SIM_ACTOR_H

#include <stdbool.h>
#include <stdint.h>

enum pfs_actor_kind {
	PFS_ACTOR_NOBODY,
	PFS_ACTOR_STEP, /* the thread makes its pending operation */
	PFS_ACTOR_DRAIN /* its oldest buffered store reaches memory */
};

struct pfs_actor {
	uint32_t thread;
	uint16_t kind;   /* enum pfs_actor_kind */
	uint16_t choice; /* of a step: 0 is the newest value */
};

#define PFS_NOBODY ((struct pfs_actor){ 0, PFS_ACTOR_NOBODY, 0 })
#define PFS_THREAD_NONE UINT32_MAX
#define PFS_ACTOR_NONE UINT32_MAX /* the number of PFS_NOBODY */

static inline bool pfs_actor_is_nobody(struct pfs_actor self)
{
	return self.kind == PFS_ACTOR_NOBODY;
}

/* Thread t makes its step, with the newest value. */
static inline struct pfs_actor pfs_actor_step(uint32_t thread)
{
	return (struct pfs_actor){ thread, PFS_ACTOR_STEP, 0 };
}

static inline struct pfs_actor pfs_actor_with(struct pfs_actor self, uint32_t choice)
{
	self.choice = (uint16_t)choice;
	return self;
}

/* The number of the first actor; firsts: how many first actors there are. */
static inline uint32_t pfs_actor_first_of(uint32_t firsts, uint32_t number)
{
	return number < firsts ? number : number % firsts;
}

static inline uint32_t pfs_actor_choice_of(uint32_t firsts, uint32_t number)
{
	return number < firsts ? 0 : number / firsts;
}

/* The same actor with the next older choice. */
static inline uint32_t pfs_actor_older(uint32_t firsts, uint32_t number)
{
	return number + firsts;
}

#endif
