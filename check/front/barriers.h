/*
 * barriers.h - replacements of pthread's barriers in the checked program.
 *
 * The threads that meet at a barrier are known before an execution: searches learn them. While they
 * are as many as the barrier lets through, each round consists of all of them, so nobody can tell in
 * which order they arrived. Then an arrival is a step that depends on no other arrival, and which
 * thread is told PTHREAD_BARRIER_SERIAL_THREAD is a choice among those that look at the result
 * (result.h). Of an incomplete round nothing is seen, except that its threads wait.
 *
 * A thread that is not known ends its execution as failed, and the search starts again with it
 * among the known ones. So a search that ends has seen no execution with another thread. If more
 * threads than the barrier lets through use it, who is in which round matters: then each order of
 * arrival is executed. So it is in searches that do not look at classes, such as those that count
 * preemptions: the last to arrive goes on at once.
 */
#ifndef PFS_CHECK_BARRIERS_H
#define PFS_CHECK_BARRIERS_H

#include <pthread.h>

struct pfs_barrier; /* in the bytes of a pthread_barrier_t */

int pfs_barrier_init(struct pfs_barrier *self, const pthread_barrierattr_t *attributes,
		     unsigned total);
int pfs_barrier_destroy(struct pfs_barrier *self);
int pfs_barrier_wait(struct pfs_barrier *self);

#endif
