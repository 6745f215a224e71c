/*
 * fiber.h - a stack and the registers of a virtual thread; many on one OS thread.
 *
 * On x86-64 a switch of our own (15 instructions, about 4 ns), elsewhere or with PFS_SIM_UCONTEXT
 * ucontext (about 220 ns). Floating-point control words are not switched.
 */
#ifndef PFS_SIM_FIBER_H
#define PFS_SIM_FIBER_H

#include <stdbool.h>
#include <stddef.h>

#if !defined(__x86_64__) && !defined(PFS_SIM_UCONTEXT)
#define PFS_SIM_UCONTEXT
#endif
#ifdef PFS_SIM_UCONTEXT
#include <ucontext.h>
#endif

struct pfs_fiber {
	void *stack_pointer; /* while it does not run */
	char *stack;         /* lowest byte; NULL: the OS thread's own stack */
	size_t stack_bytes;
	void *fake_stack; /* AddressSanitizer's */
	void (*entry)(void *argument);
	void *argument;
#ifdef PFS_SIM_UCONTEXT
	ucontext_t context;
#endif
};

/*
 * pfs_fiber_init - give a fiber its stack, with a guard page below.
 *
 * Returns   0, or -1: no memory. Call once; pfs_fiber_set may be called repeatedly.
 */
int pfs_fiber_init(struct pfs_fiber *self);
/* Before the first init: the size of stacks and of the inaccessible guard below them. */
void pfs_fiber_stacks(size_t stack, size_t guard);
bool pfs_fiber_ran_over(const struct pfs_fiber *self, const void *address);
void pfs_fiber_fini(struct pfs_fiber *self);

/* The next switch to self calls entry(argument), which must never return. colour moves the top of
 * the stack, so that the hot lines of many fibers do not share a cache set. */
void pfs_fiber_set(struct pfs_fiber *self, void (*entry)(void *argument), void *argument,
		   unsigned colour);

/* Zero what earlier uses left on the stack of a fiber that will not be resumed, to the usual
 * depth. */
/* Does a fiber consist only of the bytes of its stack, from the stack pointer on, and of its
 * struct? Not with a sanitizer, which keeps marks elsewhere. */
bool pfs_fiber_is_bytes(void);

void pfs_fiber_wipe(struct pfs_fiber *self);

/* Leave from, continue where to was left. from may be a fiber that is never resumed. */
void pfs_fiber_switch(struct pfs_fiber *from, struct pfs_fiber *to);

#endif
