/*
 * alone.h - has this process one thread, and did it never have another?
 *
 * Then no other thread holds a lock at a fork, and whoever does is the forking thread: it was
 * interrupted by a signal, and its handler forks. Handlers of fork would wait for ever. So they
 * take no lock. The child's memory is as whole as the parent's: where its handler may return, the
 * interrupted call goes on there, and releases the locks.
 *
 * glibc says it from 2.32 on, and does not say it again after the first pthread_create, also in
 * children. Its manual allows later versions to do so: then a fork of a process that is alone again
 * must also see to what threads have left behind (pfs_tick_child, pfs_reclaimer_in_child). With
 * other C libraries nobody is known to be alone, and a fork waits for all locks.
 */
#ifndef PFS_ALONE_H
#define PFS_ALONE_H

#include <stdbool.h>

#include "thread_signals.h"

extern char __libc_single_threaded __attribute__((weak)); /* NOLINT: glibc's name */

static inline bool pfs_is_alone(void)
{
	return &__libc_single_threaded != 0 && __libc_single_threaded != 0;
}

/* A fork of one that is alone, for handlers whose forks must not be nested: signals wait from
 * prepare to the last handler. */
struct pfs_alone_fork {
	bool is_on;
	sigset_t before;
};

/* In prepare: false if it is not alone, and then clears nothing, since another thread may fork. */
static inline bool pfs_alone_begin(struct pfs_alone_fork *self)
{
	sigset_t before;
	if (!pfs_is_alone())
		return false;
	pfs_thread_signals_block(&before);
	self->before = before;
	self->is_on = true;
	return true;
}

/* At the end of the handlers of parent and child. A handler that runs now may fork. */
static inline void pfs_alone_end(const struct pfs_alone_fork *self)
{
	sigset_t before = self->before;
	if (self->is_on)
		(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

#endif
