/*
 * from.h - where the stack of a call begins, so that the profile can walk it.
 *
 * A function that begins with PFS_FROM_OF and returns to the program was called instead of malloc,
 * or by a tail call from malloc. Then malloc has no frame, the callee-saved registers are the
 * caller's, and so is the frame pointer. So each name that allocates or resizes, operator new
 * included, ends in a tail call to such a function.
 */
#ifndef PFS_PRELOAD_FROM_H
#define PFS_PRELOAD_FROM_H

#include "memory/profile/stack.h"

/* Where the stack begins, given the frame of the current function. */
static inline struct pfs_stack_from pfs_from_of(const void *frame, const void *returns_to,
						const void *caller)
{
	const uintptr_t *words = frame;
	if (returns_to != caller)
		return (struct pfs_stack_from){ caller, 0, 0 };
	return (struct pfs_stack_from){ caller, words[0], (uintptr_t)&words[1] };
}

#define PFS_FROM_OF(caller) \
	pfs_from_of(__builtin_frame_address(0), __builtin_return_address(0), caller)

/* Counts a block, or frees it and returns NULL if a limit refuses it. NULL stays NULL. */
void *pfs_count_from(void *block, size_t size_bytes, const struct pfs_stack_from *from);

#endif
