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

extern char __libc_single_threaded __attribute__((weak)); /* NOLINT: glibc's name */

static inline bool pfs_is_alone(void)
{
	return &__libc_single_threaded != 0 && __libc_single_threaded != 0;
}

#endif
