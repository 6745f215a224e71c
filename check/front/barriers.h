/*
 * barriers.h - replacements of pthread's barriers in the checked program.
 *
 * A search learns which threads use a barrier. If they are as many as the barrier lets through,
 * each round consists of all of them, and no thread can tell in which order they arrived. Then an
 * arrival is a step that depends on no other arrival. Which thread gets
 * PTHREAD_BARRIER_SERIAL_THREAD is a choice among those that look at the result (result.h).
 *
 * A thread that is not known ends its execution as failed, and the search starts again with it
 * among the known ones. So a search that ends has seen no execution with another thread. If more
 * threads use the barrier than it lets through, it matters which thread is in which round. Then
 * each order of arrival is executed, as it always is in searches without classes, such as those
 * that count preemptions: the last thread to arrive goes on at once.
 */
#ifndef PFS_CHECK_BARRIERS_H
#define PFS_CHECK_BARRIERS_H

#include <pthread.h>

struct pfs_barrier; /* in the bytes of a pthread_barrier_t */

int pfs_barrier_init(struct pfs_barrier *self, const pthread_barrierattr_t *attributes,
		     unsigned total);
int pfs_barrier_destroy(struct pfs_barrier *self);
int pfs_barrier_wait(struct pfs_barrier *self);

/* Before an execution; adds to the snapshot all that an execution changes here. */
struct pfs_machine_snapshot;
void pfs_barriers_begin(void);
void pfs_barriers_put(struct pfs_machine_snapshot *snapshot);

/* In the program's barrier, for an address that its threads wait for; NULL: for none. */
const void *pfs_barriers_object(const void *address);

#endif
