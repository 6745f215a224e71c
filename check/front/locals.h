/*
 * locals.h - the private data of a thread of the checked program: values of keys, and what must be
 * called when it ends. No other thread sees them, so they are no steps of the machine.
 */
#ifndef PFS_CHECK_LOCALS_H
#define PFS_CHECK_LOCALS_H

#include <pthread.h>

struct pfs_machine_snapshot;

/* Between executions: keys that constructors made stay. */
void pfs_locals_begin(void);
void pfs_locals_put(struct pfs_machine_snapshot *snapshot);

/* The thread ends: call the destructors of thread-local objects, the last one first; then those of
 * keys with a value, repeated while there are any, as often as POSIX says. */
void pfs_locals_end(void);

int pfs_key_create(pthread_key_t *key, void (*destroy)(void *));
int pfs_key_delete(pthread_key_t key);
void *pfs_key_get(pthread_key_t key);
int pfs_key_set(pthread_key_t key, const void *value);

/* __cxa_thread_atexit */
int pfs_locals_at_exit(void (*destroy)(void *), void *object, void *library);

#endif
