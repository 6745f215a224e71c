/*
 * locks.h - replacements of pthread's reader-writer locks, semaphores and spin locks in the checked
 * program. Calls with a time limit get only the object.
 */
#ifndef PFS_CHECK_LOCKS_H
#define PFS_CHECK_LOCKS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

#include "check/machine/operation.h"

/* In the first bytes of the program's own object: a word of a pthread_rwlock_t, sem_t or
 * pthread_spinlock_t. Arguments that are not read are left out. */
struct pfs_rwlock;

int pfs_rwlock_init(uint32_t *word, const pthread_rwlockattr_t *attributes);
int pfs_rwlock_destroy(uint32_t *word);
int pfs_rwlock_rdlock(uint32_t *word);
int pfs_rwlock_wrlock(uint32_t *word);
int pfs_rwlock_tryrdlock(uint32_t *word);
int pfs_rwlock_trywrlock(uint32_t *word);
int pfs_rwlock_timedrdlock(uint32_t *word);
int pfs_rwlock_timedwrlock(uint32_t *word);
int pfs_rwlock_unlock(uint32_t *word);

/* A thread that holds the reader-writer lock for which this operation waits, or PFS_THREAD_NONE. */
uint32_t pfs_locks_holder(const struct pfs_sim_operation *waiting);

int pfs_sem_init(uint32_t *word, int shared, unsigned value);
int pfs_sem_destroy(uint32_t *word);
int pfs_sem_wait(uint32_t *word);
int pfs_sem_trywait(uint32_t *word);
int pfs_sem_timedwait(uint32_t *word);
int pfs_sem_post(uint32_t *word);
int pfs_sem_getvalue(uint32_t *word, int *value);

int pfs_spin_init(uint32_t *word);
int pfs_spin_destroy(uint32_t *word);
int pfs_spin_lock(uint32_t *word);
int pfs_spin_trylock(uint32_t *word);
int pfs_spin_unlock(uint32_t *word);

#endif
