/*
 * loop_normal.h - normal forms of a container's words, which make the states of threads that loop
 * for ever finitely many; see loop_normal.c.
 */
#ifndef PFS_SIM_LOOP_NORMAL_H
#define PFS_SIM_LOOP_NORMAL_H

#include "sim/cases/cases.h"
#include "check/search/image.h"

/* As pfs_scenario's normal; the context is the case. */
extern const struct pfs_normal pfs_loop_normal;

/* At the end of the set-up, at rest: start everything that only grows at a number that identifies
 * it, and leave out what decides nothing. */
void pfs_loop_normal_begin(struct pfs_case *self);

#endif
