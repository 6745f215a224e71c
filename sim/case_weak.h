/*
 * case_weak.h - scenarios for orders that others do not need: the marks of the reclaim pass, the
 * last record.
 */
#ifndef PFS_SIM_CASE_WEAK_H
#define PFS_SIM_CASE_WEAK_H

#include "sim/case_kind.h"

/* marks: a page's mark changes while a search goes by. held: a pass holds records for a moment. */
void pfs_marks_configure(struct pfs_case *self, struct pfs_config *config);
void pfs_held_configure(struct pfs_case *self, struct pfs_config *config);
void pfs_marks_fill(struct pfs_case *self);
void pfs_marks_take(void *opaque);
void pfs_marks_take_and_pass(void *opaque);
void pfs_marks_pass(void *opaque);
void pfs_marks_finish(struct pfs_case *self);
void pfs_held_finish(struct pfs_case *self);

/* last: two threads want the only record. */
void pfs_last_configure(struct pfs_case *self, struct pfs_config *config);
void pfs_last_body(void *opaque);

#endif
