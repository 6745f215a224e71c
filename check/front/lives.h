/*
 * lives.h - the lives of pthread's objects: used before they are initialized or after they are
 * destroyed, or initialized twice.
 *
 * The state is in the program's own object. Zero, as static initializers write, is alive for
 * objects that have such initializers, and not yet for the others.
 */
#ifndef PFS_CHECK_LIVES_H
#define PFS_CHECK_LIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "check/machine/operation.h"

enum { PFS_LIFE_STATIC = 0, PFS_LIFE_BEGUN = 0x1AFE1AFE, PFS_LIFE_ENDED = 0x0DEAD0FF };

struct pfs_life {
	const struct pfs_sim_place *by; /* began or ended it */
	uint32_t state;
};

/* What an object is, for messages. */
struct pfs_life_kind {
	const char *name;
	bool has_initializer; /* static */
};

/* A call at `place` uses the object of this life; it must be alive. */
void pfs_life_use(const struct pfs_life *self, const void *object, const struct pfs_life_kind *kind,
		  const struct pfs_sim_place *place);

/* Before its memory is written: it must not be alive. Variables on a stack are not looked at: an
 * earlier variable that was there may have ended without a call. */
void pfs_life_begin(const struct pfs_life *self, const void *object,
		    const struct pfs_life_kind *kind, const struct pfs_sim_place *place);

/* It is alive from now on; it has ended. */
static inline struct pfs_life pfs_life_begun(const struct pfs_sim_place *place)
{
	return (struct pfs_life){ place, PFS_LIFE_BEGUN };
}
static inline struct pfs_life pfs_life_ended(const struct pfs_sim_place *place)
{
	return (struct pfs_life){ place, PFS_LIFE_ENDED };
}

#endif
