/*
 * locks.h - replacements of pthread's reader-writer locks, semaphores, spin locks and barriers in
 * the checked program. Calls with a time limit get only the object.
 */
#ifndef PFS_CHECK_LOCKS_H
#define PFS_CHECK_LOCKS_H

#include <pthread.h>
#include <semaphore.h>

int pfs_rwlock_init(pthread_rwlock_t *self, const pthread_rwlockattr_t *attributes);
int pfs_rwlock_destroy(pthread_rwlock_t *self);
int pfs_rwlock_rdlock(pthread_rwlock_t *self);
int pfs_rwlock_wrlock(pthread_rwlock_t *self);
int pfs_rwlock_tryrdlock(pthread_rwlock_t *self);
int pfs_rwlock_trywrlock(pthread_rwlock_t *self);
int pfs_rwlock_timedrdlock(pthread_rwlock_t *self);
int pfs_rwlock_timedwrlock(pthread_rwlock_t *self);
int pfs_rwlock_unlock(pthread_rwlock_t *self);

int pfs_sem_init(sem_t *self, int shared, unsigned value);
int pfs_sem_destroy(sem_t *self);
int pfs_sem_wait(sem_t *self);
int pfs_sem_trywait(sem_t *self);
int pfs_sem_timedwait(sem_t *self);
int pfs_sem_post(sem_t *self);
int pfs_sem_getvalue(sem_t *self, int *value);

int pfs_spin_init(pthread_spinlock_t *self, int shared);
int pfs_spin_destroy(pthread_spinlock_t *self);
int pfs_spin_lock(pthread_spinlock_t *self);
int pfs_spin_trylock(pthread_spinlock_t *self);
int pfs_spin_unlock(pthread_spinlock_t *self);

int pfs_barrier_init(pthread_barrier_t *self, const pthread_barrierattr_t *attributes,
		     unsigned total);
int pfs_barrier_destroy(pthread_barrier_t *self);
int pfs_barrier_wait(pthread_barrier_t *self);

#endif
