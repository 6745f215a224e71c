/*
 * depends.h - does the order of two steps matter?
 *
 * Both exhaustive searches, dpor.h and explore.h, reduce by this relation; a class of schedules is
 * one order of the related steps. With views dpor.h reduces further if both steps choose what they
 * read (dpor_views.c).
 *
 * Steps of different actors depend on each other in these cases:
 *	bytes          they touch the same bytes, and one writes memory that others see. A
 *	               compare-and-swap that fails is a load; so is, with sc and tso and without
 *	               data races, an operation that writes what it read. Unmap writes all that it
 *	               gives back.
 *	a yield        waits for news of what its thread has read (news.h), and the other writes
 *	               some of that. A yield that went on because no other thread could comes
 *	               after all steps.
 *	a barrier      its part that interrupts a thread. tso: and what fills or empties that
 *	               thread's buffer; views: and all steps of that thread, whose choices it ends,
 *	               all parts of other barriers, and seq fences. Seq fences do not depend on
 *	               each other: their order follows from what is read (views_psc.h).
 *	notes          touch their cell, as a store. Of two notes with a time, one begins and the
 *	               other ends: the clock tells no more.
 *	a drain        tso: and a note that begins, unless setup.drains_end is false. A free that
 *	               is buffered ends when it is drained.
 *
 * A store into its thread's buffer touches no memory. A thread and the drain of its own buffer do
 * not depend on each other: the thread sees its store in one place or in the other.
 */
#ifndef PFS_SIM_DEPENDS_H
#define PFS_SIM_DEPENDS_H

#include "check/machine/machine.h"

#define PFS_NOTE_BEGIN 1u
#define PFS_NOTE_END 2u

/* A step, as it was executed or as it would be executed now. */
struct pfs_effect {
	struct pfs_sim_operation ran;
	uint32_t thread;
	uint32_t source;        /* views: the step that wrote what was read */
	uint32_t older;         /* views: the choice */
	uint64_t written;       /* of a step that was executed */
	struct pfs_looks looks; /* of a yield */
	bool wrote;             /* into memory that others see */
	bool buffered;          /* a store into its own buffer; never a seq one */
	bool barrier;           /* tso: waits until its thread's buffer is empty */
	bool fence;             /* views: a barrier, or a seq fence */
	bool ends;              /* a drain that may end a call */
};

/* Of a step that was executed. */
void pfs_effect_of(const struct pfs_machine *machine, const struct pfs_step *step,
		   struct pfs_effect *effect);

/* Of the actor's pending operation, if it were executed now: a compare-and-swap succeeds or fails
 * by the value that it would see. */
struct pfs_effect pfs_effect_pending(const struct pfs_machine *machine, struct pfs_actor actor);

/* Does it fill its thread's buffer, or empty it? */
static inline bool pfs_effect_moves_buffer(const struct pfs_effect *self)
{
	return self->buffered || self->ran.kind == PFS_SIM_DRAIN;
}

/* Does the write let the yield of another thread go on? With views only a guess: the write may come
 * before what was read in modification order. at: the write's step. */
bool pfs_effect_is_news(const struct pfs_effect *write, uint32_t at, const struct pfs_effect *yield,
			bool views);

/* Of different actors. */
bool pfs_effects_depend(const struct pfs_effect *a, const struct pfs_effect *b);

/* An atomic operation that chooses what it reads, or where it writes. */
bool pfs_effect_chooses(const struct pfs_effect *self);

/* Views: both choose, at one location. */
bool pfs_effects_meet(const struct pfs_effect *a, const struct pfs_effect *b);

#endif
