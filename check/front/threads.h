/*
 * threads.h - pthread of the checked program, on the machine.
 *
 * A condition variable wakes the longest waiting thread: the orders in which threads come to wait
 * are explored, other orders of waking are not. A wait may end spuriously, as a weak
 * compare-and-swap may fail (pfs_user_fails).
 */
#ifndef PFS_CHECK_THREADS_H
#define PFS_CHECK_THREADS_H

#include <pthread.h>
#include <stdint.h>
#include <threads.h>

/* After the set-up of an execution: the machine's threads, those for pthread_create included. */
void pfs_threads_add_slots(void);

int pfs_thread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*start)(void *),
		      void *argument);
int pfs_thread_join(pthread_t id, void **result);
int pfs_user_thread_detach(pthread_t id);
pthread_t pfs_thread_self(void);
int pfs_thread_yield(void);
void pfs_thread_check_yield(void); /* pfs_check_yield */

/* In place of the program's pthread_cond_t. Arguments that are not read are left out. */
struct pfs_user_mutex;
struct pfs_user_condition;

/* The functions of C11's threads.h that return other values; a mtx_t is a pthread_mutex_t, and so
 * on. */
int pfs_thrd_create(pthread_t *id, thrd_start_t start, void *argument);
int pfs_thrd_join(pthread_t id, int *result);
int pfs_cnd_timedwait(struct pfs_user_condition *condition, struct pfs_user_mutex *mutex);

int pfs_cond_init(struct pfs_user_condition *condition);
int pfs_cond_destroy(struct pfs_user_condition *condition);
int pfs_cond_wait(struct pfs_user_condition *condition, struct pfs_user_mutex *mutex);
int pfs_cond_timedwait(struct pfs_user_condition *condition, struct pfs_user_mutex *mutex);
int pfs_cond_signal(struct pfs_user_condition *condition);
int pfs_cond_broadcast(struct pfs_user_condition *condition);

int pfs_once(pthread_once_t *once, void (*routine)(void));
int pfs_guard_acquire(uint64_t *guard);
void pfs_guard_release(uint64_t *guard);
void pfs_guard_abort(uint64_t *guard);

#endif
