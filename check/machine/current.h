/*
 * current.h - the machine of this OS thread, for the code that executes its steps.
 */
#ifndef PFS_SIM_CURRENT_H
#define PFS_SIM_CURRENT_H

#include "check/machine/machine.h"

/* Set between create and destroy. */
extern _Thread_local struct pfs_machine *pfs_current;

/* Nesting depth of quiet parts; see operation.h. */
extern _Thread_local unsigned pfs_current_quiet;

/* Continue where pfs_machine_run was called. Returns only if the thread is chosen again. */
void pfs_current_leave(struct pfs_machine *self, struct pfs_vthread *from);

/* machine.c: what the fiber of a thread runs. */
void pfs_machine_body(void *thread);

/* The execution ends here, in the fiber of a thread or of a call aside. After the text of a
 * failure: failed. */
void pfs_machine_end_here(struct pfs_machine *self, enum pfs_machine_end end);
void pfs_machine_failed(struct pfs_machine *self);

#endif
