/*
 * mutex.h - the lock for adding a page, and the locks of set-up and reclaim.
 *
 * No hot path takes one. A seam: the deterministic machine in sim/ brings its own.
 */
#ifndef PFS_MUTEX_H
#define PFS_MUTEX_H

#include <stdbool.h>

#ifdef PFS_SIM
#include "sim/machine/mutex_backend.h"
#else
#include <pthread.h>

struct pfs_mutex {
	pthread_mutex_t native;
};

static inline void pfs_mutex_init(struct pfs_mutex *self)
{
	(void)pthread_mutex_init(&self->native, NULL);
}

static inline void pfs_mutex_fini(struct pfs_mutex *self)
{
	(void)pthread_mutex_destroy(&self->native);
}

static inline void pfs_mutex_lock(struct pfs_mutex *self)
{
	(void)pthread_mutex_lock(&self->native);
}

static inline bool pfs_mutex_try_lock(struct pfs_mutex *self)
{
	return pthread_mutex_trylock(&self->native) == 0;
}

static inline void pfs_mutex_unlock(struct pfs_mutex *self)
{
	(void)pthread_mutex_unlock(&self->native);
}

/* Waits where the lock is asked for, just after it was got, and on both sides of its end. */
#ifdef PFS_DELAYS
#include "delays.h"
#define pfs_mutex_lock(self) (PFS_DELAYS_HERE(), (pfs_mutex_lock)(self), PFS_DELAYS_HERE())
#define pfs_mutex_try_lock(self) (PFS_DELAYS_HERE(), (pfs_mutex_try_lock)(self))
#define pfs_mutex_unlock(self) (PFS_DELAYS_HERE(), (pfs_mutex_unlock)(self), PFS_DELAYS_HERE())
#endif
#endif
#endif
