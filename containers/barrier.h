/*
 * barrier.h - an asymmetric barrier: the kernel makes every running thread pass a full barrier.
 *
 * Let one thread store and later load, in program order kept by pfs_barrier_light. Let another
 * thread store, call pfs_barrier_heavy and load. Then at least one of the loads sees the other
 * thread's store, as if both had full barriers.
 *
 * ThreadSanitizer does not know this barrier. Code that relies on it must therefore carry its data
 * by release and acquire; the barrier only decides which of two threads notices the other.
 */
#ifndef PFS_BARRIER_H
#define PFS_BARRIER_H

#include <stdbool.h>

/* The compiler moves no memory access across it. */
#ifdef PFS_DELAYS
#include "delays.h"
#define pfs_barrier_light() PFS_DELAYS_HERE() /* a call that the compiler cannot see into */
#else
#define pfs_barrier_light() __asm__ volatile("" : : : "memory")
#endif

/* True if the kernel has the call (membarrier, private expedited). After the kernel has refused the
 * call once it stays false. Another thread may cause that at any time, so code that relies on the
 * barrier must check what pfs_barrier_heavy returned and use this call only to choose the cheaper
 * way. */
bool pfs_barrier_available(void);

/*
 * pfs_barrier_heavy - a full barrier in every thread of the process.
 *
 * Returns   true; false: there was no barrier. Sandboxes may forbid the call after the start
 *           (seccomp), and on machines with many CPUs the kernel may have no memory for it.
 * Errors    none: after ENOMEM it tries again, and then uses the slow call that needs no memory.
 * Progress  blocking: a system call that interrupts the CPUs that run this process.
 * Order     as at the head of this file, if it returns true.
 *
 * There is no substitute. Revoking access to a page makes other CPUs drop their translations, but
 * neither the kernel nor every processor promises a memory barrier with that (Arm, and x86-64 with
 * broadcast invalidation, do not interrupt). Running once on each CPU would be a barrier, but a
 * sandbox that forbids one call forbids the other, CPUs outside the cpuset cannot be visited, and
 * the caller, who holds the growth lock, would wait for busy CPUs. So callers must work without it:
 * see "Without the barrier" in magazine.h.
 */
bool pfs_barrier_heavy(void);

#endif
