/*
 * mutex.h - the lock for adding a page, and the locks of set-up and reclaim.
 *
 * No hot path takes one. The deterministic machine in sim/ replaces it.
 */
#ifndef PFS_MUTEX_H
#define PFS_MUTEX_H

#include <stdbool.h>

#ifdef PFS_SIM
#include "check/machine/mutex_backend.h"
#else
#include <pthread.h>

struct pfs_mutex {
	pthread_mutex_t native;
	bool is_gated; /* init only */
};

/*
 * The gate of fork.h: a thread that holds or waits for a gated lock is inside, and fork waits until
 * no thread is. So fork takes one lock, however many containers there are. Weak: a program without
 * gated locks need not link gate.c.
 */
__attribute__((weak)) void pfs_fork_gate_enter(void);
__attribute__((weak)) void pfs_fork_gate_leave(void);

static inline void pfs_mutex_init(struct pfs_mutex *self)
{
	(void)pthread_mutex_init(&self->native, NULL);
	self->is_gated = false;
}

static inline void pfs_mutex_init_gated(struct pfs_mutex *self)
{
	pfs_mutex_init(self);
	self->is_gated = true;
}

static inline void pfs_mutex_fini(struct pfs_mutex *self)
{
	(void)pthread_mutex_destroy(&self->native);
}

static inline void pfs_mutex_lock(struct pfs_mutex *self)
{
	if (self->is_gated)
		pfs_fork_gate_enter();
	(void)pthread_mutex_lock(&self->native);
}

static inline bool pfs_mutex_try_lock(struct pfs_mutex *self)
{
	if (self->is_gated)
		pfs_fork_gate_enter();
	bool is_locked = pthread_mutex_trylock(&self->native) == 0;
	if (self->is_gated && !is_locked)
		pfs_fork_gate_leave();
	return is_locked;
}

static inline void pfs_mutex_unlock(struct pfs_mutex *self)
{
	(void)pthread_mutex_unlock(&self->native);
	if (self->is_gated)
		pfs_fork_gate_leave();
}

/* For a lock that is known to be ungated. The test would cost 7 ns of 36 in mutex_list. */
static inline void pfs_mutex_lock_ungated(struct pfs_mutex *self)
{
	(void)pthread_mutex_lock(&self->native);
}

static inline void pfs_mutex_unlock_ungated(struct pfs_mutex *self)
{
	(void)pthread_mutex_unlock(&self->native);
}

/* Waits before the lock is requested, after it was acquired, and before and after its release. */
#ifdef PFS_DELAYS
#include "delays.h"
#define pfs_mutex_lock(self) (PFS_DELAYS_HERE(), (pfs_mutex_lock)(self), PFS_DELAYS_HERE())
#define pfs_mutex_try_lock(self) (PFS_DELAYS_HERE(), (pfs_mutex_try_lock)(self))
#define pfs_mutex_unlock(self) (PFS_DELAYS_HERE(), (pfs_mutex_unlock)(self), PFS_DELAYS_HERE())
#define pfs_mutex_lock_ungated(self) pfs_mutex_lock(self)
#define pfs_mutex_unlock_ungated(self) pfs_mutex_unlock(self)
#endif
#endif
#endif
