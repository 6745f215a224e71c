/*
 * locks.h - the outer locks, in the order in which they are taken; a fork takes all of them. The
 * inner ones follow: `growing` of each bin, the registry, each bin and the extents, base, the
 * guarded blocks, and the metadata's regions.
 */
#ifndef PFS_MALLOC_LOCKS_H
#define PFS_MALLOC_LOCKS_H

#include <pthread.h>

enum pfs_lock_number {
	PFS_LOCK_CTL,      /* statistics of mallctl's epoch */
	PFS_LOCK_EXPLICIT, /* explicit caches */
	PFS_LOCKS
};
extern pthread_mutex_t pfs_locks[PFS_LOCKS] __attribute__((visibility("hidden")));

static inline void pfs_lock(enum pfs_lock_number number)
{
	(void)pthread_mutex_lock(&pfs_locks[number]);
}

static inline void pfs_unlock(enum pfs_lock_number number)
{
	(void)pthread_mutex_unlock(&pfs_locks[number]);
}

#endif
