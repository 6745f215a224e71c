/*
 * reclaimer.h - the background thread of the process; see reclaimer.c.
 */
#ifndef PFS_RECLAIMER_H
#define PFS_RECLAIMER_H

#include "container.h"

/*
 * pfs_reclaimer_start - from now on a pass of this container runs every period.
 * pfs_reclaimer_stop - end that; no pass runs when it returns.
 *
 * Returns   PFS_OK, or PFS_NO_MEMORY: nothing has changed.
 * Errors    as returned.
 * Progress  blocking: on a lock, and stop on a pass of this container.
 * Order     the caller's earlier work comes before the passes, and they come before stop's return.
 */
enum pfs_status pfs_reclaimer_start(struct pfs_container *self);
void pfs_reclaimer_stop(struct pfs_container *self);

/* In the child of a fork, which has no such thread: forget it. */
void pfs_reclaimer_forget(struct pfs_container *self);

/* For fork.c: the lock, which is taken last; and in the child, under it: no thread runs, no pass is
 * due. */
void pfs_reclaimer_lock(void);
void pfs_reclaimer_unlock(void);
void pfs_reclaimer_in_child(void);

#endif
