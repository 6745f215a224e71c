/*
 * stack.h - from where a call came: by frame pointers where these were shown to be right, else by
 * the unwinder of libgcc, which neither locks nor allocates (glibc 2.35 and later).
 *
 * It is shown for each return address, for the code around it either keeps a frame pointer or does
 * not. The first stack through an address is found by the unwinder, and the frame pointers are held
 * against it, step by step; from then on a stack all of whose addresses are known is walked. The
 * last ones, in the system's library, seldom have frame pointers: what follows an address at one
 * distance from the stack's end is always the same, and is kept. Of PFS_STACK_AGAIN stacks of a
 * thread one is unwound all the same: an address that is found wrong then is never walked again.
 *
 * A walk reads only between the stack pointer and the end of the thread's own stack. A stack that
 * is not that (a coroutine's, a signal's) is the unwinder's.
 */
#ifndef PFS_PROFILE_STACK_H
#define PFS_PROFILE_STACK_H

#include "memory/box/profile.h"

/* A call to be sampled. */
struct pfs_stack_from {
	const void *caller; /* return address into the program: the first frame */
	uintptr_t frame;    /* the frame pointer then; 0: not known */
};

#define PFS_STACK_AGAIN 64u

/* A stack that was taken, and how equal ones are found. */
struct pfs_stack {
	uint64_t hash;
	uint32_t depth;
	uint32_t is_cut;
	uint64_t frames[PFS_STACK_FRAMES];
};

/* pfs_stack_take - the stack of the calling thread from the caller on, and its hash.
 * Progress  wait-free but for the first call of a thread, which asks for the stack's place. */
void pfs_stack_take(struct pfs_stack *stack, const struct pfs_stack_from *from);

/* pfs_stack_learn - where the stack ends: once in a thread, not from inside pfs_gate. It may
 * allocate. */
void pfs_stack_learn(void);

/* Files went, and others may come to their addresses: nothing is shown any more. */
void pfs_stack_forget(void);

/* How many stacks were taken so, since the beginning. */
struct pfs_stack_counts {
	uint64_t walked, unwound;
};
struct pfs_stack_counts pfs_stack_counts(void);

#endif
