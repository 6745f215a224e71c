/*
 * calm.h - steps for which no other order needs to be tried.
 *
 * These are steps on a location that only one thread uses, or that no thread writes, and loads by
 * the only writer. They are independent of all other steps: persistent sets of one step (P.
 * Godefroid, LNCS 1032, 1996). Which locations qualify is a guess from the executions so far. A
 * search that relies on it notes every step, and starts over if a guess was wrong.
 */
#ifndef PFS_SIM_CALM_H
#define PFS_SIM_CALM_H

#include "check/machine/machine.h"

struct pfs_calm {
	struct pfs_hash_table places;
	struct pfs_calm_use {
		uint32_t thread; /* the first that used it */
		uint32_t writer; /* the first that wrote; PFS_THREAD_NONE: none yet */
		bool shared, written;
		bool written_by_many;
	} * uses; /* by number in places */
	uint32_t room;
	bool barriers; /* there are some: buffered stores are not independent of them */
	bool unmaps;   /* there are some: no access to a page is independent of them */
	bool wrong;    /* a guess was wrong */
};

void pfs_calm_fini(struct pfs_calm *self);

/* After a step. */
void pfs_calm_note(struct pfs_calm *self, const struct pfs_step *step, bool buffered);

/* The first of these actors whose step is calm, or PFS_ACTOR_NONE. */
uint32_t pfs_calm_of(const struct pfs_calm *self, const struct pfs_machine *machine,
		     uint64_t enabled);

#endif
