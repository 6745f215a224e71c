/*
 * mutex_backend.h - containers/mutex.h and containers/yield.h on the simulated machine.
 *
 * A thread whose next operation is lock cannot be chosen while another thread holds the mutex, so
 * waiting costs no steps and a deadlock is seen at once. A thread that yields is not chosen again
 * before there is news of something that it read, while another thread can go on:
 * check/machine/news.h.
 */
#ifndef PFS_SIM_MUTEX_BACKEND_H
#define PFS_SIM_MUTEX_BACKEND_H

#include <stdbool.h>

#include "check/machine/operation.h"

struct pfs_mutex {
	uint32_t held; /* 0, or 1 + the thread that holds it */
};

static inline void pfs_mutex_init(struct pfs_mutex *self)
{
	self->held = 0;
}

#define pfs_mutex_init_gated(self) pfs_mutex_init(self) /* there is no fork */

static inline void pfs_mutex_fini(struct pfs_mutex *self)
{
	(void)self;
}

#define PFS_SIM_MUTEX(kind, self) \
	pfs_sim_change((kind), &(self)->held, 4, 0, PFS_SIM_SEQ, PFS_SIM_PLACE(#self))
#define pfs_mutex_lock(self) ((void)PFS_SIM_MUTEX(PFS_SIM_LOCK, self))
#define pfs_mutex_try_lock(self) (PFS_SIM_MUTEX(PFS_SIM_TRY_LOCK, self) == 0)
#define pfs_mutex_unlock(self) ((void)PFS_SIM_MUTEX(PFS_SIM_UNLOCK, self))
#define pfs_mutex_lock_ungated(self) pfs_mutex_lock(self)
#define pfs_mutex_unlock_ungated(self) pfs_mutex_unlock(self)

#define pfs_yield() \
	((void)pfs_sim_change(PFS_SIM_YIELD, NULL, 0, 0, PFS_SIM_RELAXED, PFS_SIM_PLACE("yield")))

#endif
