/*
 * mutexes.h - mutexes of pthread and C11 in the checked program: a word of the machine in the first
 * bytes of the program's own object.
 */
#ifndef PFS_CHECK_MUTEXES_H
#define PFS_CHECK_MUTEXES_H

#include <pthread.h>
#include <stdint.h>

#include "check/front/lives.h"

/* In place of the program's pthread_mutex_t: zero is a free one. */
struct pfs_user_mutex {
	uint32_t word;  /* the machine's: 0, or its thread and 1 */
	uint32_t count; /* of a recursive one */
	uint32_t unused[2];
	int32_t kind; /* where glibc's static initializers have it */
	struct pfs_life life;
};

int pfs_mtx_init(struct pfs_user_mutex *mutex, int type);
int pfs_mtx_trylock(struct pfs_user_mutex *mutex);
int pfs_mtx_timedlock(struct pfs_user_mutex *mutex);
int pfs_mutex_init(struct pfs_user_mutex *mutex, const pthread_mutexattr_t *attributes);
int pfs_mutex_destroy(struct pfs_user_mutex *mutex);
int pfs_mutex_lock(struct pfs_user_mutex *mutex);
int pfs_mutex_trylock(struct pfs_user_mutex *mutex);
int pfs_mutex_timedlock(struct pfs_user_mutex *mutex);
int pfs_mutex_unlock(struct pfs_user_mutex *mutex);

/* Unlock it, in a call at this place. */
void pfs_mutex_give(struct pfs_user_mutex *mutex, const struct pfs_sim_place *place);

#endif
