/*
 * stack.h - the call stack of an allocation: walked where walking was shown to be right, otherwise
 * unwound by libgcc, which neither locks nor allocates (glibc 2.35 and later).
 *
 * A step from one return address to the next follows the function's unwind table (frames.h): its
 * frame has a fixed size, or begins where the frame pointer says. The table is a property of the
 * code around the address, and is also what the unwinder uses. The first stack through an address
 * is unwound, and each step is compared with it. From then on, a stack whose addresses are all
 * known is walked.
 *
 * An address whose table does not lead to the next one makes the stack be unwound each time. One of
 * every PFS_STACK_AGAIN stacks of a thread is unwound anyway. An address found wrong then is never
 * walked again.
 *
 * The stack that a thread walked last is taken again while every word that was read is unchanged:
 * nothing of a stack is assumed to be constant.
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

#define PFS_STACK_AGAIN 1024u
#define PFS_STACK_WORDS 256u /* of a stack that is taken again */

/* The stack that a thread captured last, with a hash to find equal ones. All zero at first. */
struct pfs_stack {
	uint64_t hash;
	bool is_walked; /* and not unwound */
	uint32_t takes;
	/* How it was walked: from where, after how many forgets, and what was read. */
	struct pfs_stack_from from;
	bool has_used_frame; /* from.frame was needed */
	uint32_t forgets;
	uint32_t word_count;              /* more than there are: the stack is not taken again */
	uint32_t places[PFS_STACK_WORDS]; /* bytes above from.slot */
	uint64_t words[PFS_STACK_WORDS];
	struct pfs_box_stack record;
};

/*
 * pfs_stack_take - capture the calling thread's stack from the caller on, with its hash.
 * Returns   true: it is the one that was captured before. It is in the same files, unless one was
 *           unmapped.
 * Progress  wait-free.
 */
bool pfs_stack_take(struct pfs_stack *stack, const struct pfs_stack_from *from);

/* pfs_stack_learn - learn where the stack ends, once in a thread. It may allocate, so not from
 * inside pfs_gate. Does nothing if the C library or the loader is the caller: pthread_getattr_np
 * allocates while it holds a lock that is taken here, and the allocator may start its own thread
 * then, for which the loader allocates. */
void pfs_stack_learn(const void *caller);

/* A file was unmapped, and another may come to its addresses: forget all that was learned. */
void pfs_stack_forget(void);

#endif
