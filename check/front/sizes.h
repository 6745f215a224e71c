/*
 * sizes.h - the size of each atomic access: with store buffers or old values a place has one size,
 * and overlaps no other place.
 */
#ifndef PFS_CHECK_SIZES_H
#define PFS_CHECK_SIZES_H

#include <stddef.h>

#include "check/front/user.h"
#include "check/machine/operation.h"

/* The execution cannot be checked if these bytes were accessed with another size or offset. owner:
 * the thread on whose stack they are, or PFS_THREAD_NONE. */
void pfs_sizes_look(const struct pfs_sim_operation *operation, uint32_t owner);

/* These bytes are new: nothing is known of them. */
void pfs_sizes_forget(const void *first, size_t bytes);

/* The lowest place on each thread's stack whose size is known. A call of a function whose caller's
 * variables end at `frame`: those below are gone, and their places are new. */
extern uintptr_t pfs_sizes_lowest[PFS_USER_THREADS_MAX + 1];
void pfs_sizes_leave(uint32_t thread, uintptr_t frame);
static inline void pfs_sizes_enter(uint32_t thread, uintptr_t frame)
{
	if (thread < PFS_USER_THREADS_MAX && pfs_sizes_lowest[thread] < frame)
		pfs_sizes_leave(thread, frame);
}

#endif
