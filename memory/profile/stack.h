/*
 * stack.h - from where a call came: walked where that was shown to be right, else by the unwinder
 * of libgcc, which neither locks nor allocates (glibc 2.35 and later).
 *
 * A step from a return address to the next is made by the size of the function's frame, where its
 * unwind table says that this is always the same (frames.h), or by the frame pointer, where the
 * function keeps one. Both are properties of the code around the address. The first stack through
 * an address is unwound, and each step of both kinds is held against it; from then on a stack all
 * of whose addresses are known is walked. What neither leads on from is unwound each time, but for
 * a stack's end: what follows an address at one distance from there is always the same, and is
 * kept. Of PFS_STACK_AGAIN stacks of a thread one is unwound all the same: an address that is found
 * wrong then is never walked again.
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
	uintptr_t frame;    /* the frame pointer then */
	uintptr_t slot;     /* where the caller stands on the stack; 0: both are not known */
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
 * allocate. Not while the library of C is who calls: pthread_getattr_np allocates with a lock held
 * that is asked for here. */
void pfs_stack_learn(const void *caller);

/* Files went, and others may come to their addresses: nothing is shown any more. */
void pfs_stack_forget(void);

/* How many stacks were taken so, since the beginning. */
struct pfs_stack_counts {
	uint64_t walked, unwound;
};
struct pfs_stack_counts pfs_stack_counts(void);

#endif
