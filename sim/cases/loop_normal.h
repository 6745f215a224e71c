/*
 * loop_normal.h - how the words of a container's states are told where threads loop for ever, so
 * that the states are finitely many; see loop_normal.c.
 */
#ifndef PFS_SIM_LOOP_NORMAL_H
#define PFS_SIM_LOOP_NORMAL_H

#include "sim/cases/cases.h"
#include "check/search/image.h"

/* As pfs_scenario's normal; the context is the case. */
extern const struct pfs_normal pfs_loop_normal;

/* At the end of the set-up, at rest: all that only grows begins at a number that tells what it is,
 * and what decides nothing is left out. */
void pfs_loop_normal_begin(struct pfs_case *self);

#endif
