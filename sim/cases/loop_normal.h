/*
 * loop_normal.h - normal forms of a container's words, with which threads that loop forever have
 * finitely many states; see loop_normal.c.
 */
#ifndef PFS_SIM_LOOP_NORMAL_H
#define PFS_SIM_LOOP_NORMAL_H

#include "sim/cases/cases.h"
#include "check/search/image.h"

/* As pfs_scenario's normal; the context is the case. */
extern const struct pfs_normal pfs_loop_normal;

/* At the end of the set-up, at rest: give each number that only grows an initial value that
 * identifies it, and leave out what decides nothing. */
void pfs_loop_normal_begin(struct pfs_case *self);

#endif
