/*
 * reclaimer.h - the background thread of the process, and what a container and a fork say to it;
 * see reclaimer.c.
 */
#ifndef PFS_RECLAIMER_H
#define PFS_RECLAIMER_H

#include "container.h"

/*
 * pfs_reclaimer_start - from now on a pass of this container runs every period.
 * pfs_reclaimer_stop - no longer, and none runs when it returns.
 *
 * Returns   PFS_OK, or PFS_NO_MEMORY: nothing has changed.
 * Errors    as returned.
 * Progress  blocking: on a lock, and stop on a pass of this container.
 * Order     what the caller did is before the passes, and they are before stop's return.
 */
enum pfs_status pfs_reclaimer_start(struct pfs_container *self);
void pfs_reclaimer_stop(struct pfs_container *self);

/* In the child of a fork, which has no such thread: forget it. */
void pfs_reclaimer_forget(struct pfs_container *self);

/* By fork.c: the lock, last of all; and in the child, under it: no thread runs, none is due. */
void pfs_reclaimer_lock(void);
void pfs_reclaimer_unlock(void);
void pfs_reclaimer_in_child(void);

#endif
