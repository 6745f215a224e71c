/*
 * case_hole.h - the scenario hole: a page comes while a search goes by.
 */
#ifndef PFS_SIM_CASE_HOLE_H
#define PFS_SIM_CASE_HOLE_H

#include "sim/case_kind.h"

void pfs_hole_configure(struct pfs_case *self, struct pfs_config *config);
void pfs_hole_fill(struct pfs_case *self);
void pfs_hole_take(void *opaque);

#endif
