/*
 * stack.h - the call stack of an allocation: walked where walking was shown to be right, otherwise
 * unwound by libgcc, which neither locks nor allocates (glibc 2.35 and later).
 *
 * A step from one return address to the next uses the size of the function's frame, if its unwind
 * table says that this is fixed (frames.h), or the frame pointer, if the function keeps one. Both
 * are properties of the code around the address. The first stack through an address is unwound, and
 * both kinds of step are compared with the result. From then on, a stack whose addresses are all
 * known is walked.
 *
 * An address that neither kind of step continues from makes the stack be unwound each time, unless
 * it is near the stack's end: what follows an address at a given distance from the end is always
 * the same, and is remembered. One of every PFS_STACK_AGAIN stacks of a thread is unwound anyway.
 * An address found wrong then is never walked again.
 *
 * A walk reads only between the stack pointer and the end of the thread's own stack. Any other
 * stack (a coroutine's, a signal's) is left to the unwinder.
 */
#ifndef PFS_PROFILE_STACK_H
#define PFS_PROFILE_STACK_H

#include "memory/box/profile.h"

/* A call to be sampled. */
struct pfs_stack_from {
	const void *caller; /* return address into the program: the first frame */
	uintptr_t frame;    /* the frame pointer at the call */
	uintptr_t slot;     /* where that return address is stored; 0: slot and frame are unknown */
};

#define PFS_STACK_AGAIN 64u

/* A captured stack, with a hash to find equal ones. */
struct pfs_stack {
	uint64_t hash;
	uint32_t depth;
	uint32_t is_cut;
	uint64_t frames[PFS_STACK_FRAMES];
};

/*
 * pfs_stack_take - capture the calling thread's stack from the caller on, with its hash.
 * Progress  wait-free.
 */
void pfs_stack_take(struct pfs_stack *stack, const struct pfs_stack_from *from);

/* pfs_stack_learn - learn where the stack ends, once in a thread. It may allocate, so not from
 * inside pfs_gate. Does nothing if the C library is the caller: pthread_getattr_np allocates while
 * it holds a lock that is taken here. */
void pfs_stack_learn(const void *caller);

/* A file was unmapped, and another may come to its addresses: forget all that was learned. */
void pfs_stack_forget(void);

#endif
