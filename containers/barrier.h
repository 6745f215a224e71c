/*
 * barrier.h - a barrier that one thread pays for all: the kernel makes every running thread
 * of the process pass a full memory barrier.
 *
 * Between a thread's store and its later load (in program order, kept by pfs_barrier_light)
 * and another thread's store, pfs_barrier_heavy and load: at least one of the loads sees the
 * other thread's store, as if both had full barriers.
 *
 * ThreadSanitizer does not know it. What relies on it must therefore carry its data by
 * release and acquire; the barrier only decides which of two threads notices the other.
 */
#ifndef PFS_BARRIER_H
#define PFS_BARRIER_H

#include <stdbool.h>

/* Keeps the compiler from moving memory accesses across. */
#ifdef PFS_DELAYS
#include "delays.h"
#define pfs_barrier_light() PFS_DELAYS_HERE() /* a call that the compiler does not see into */
#else
#define pfs_barrier_light() __asm__ volatile("" : : : "memory")
#endif

/* Has the kernel the call (membarrier, private expedited)? Once the answer is no, for it was
 * refused, it stays no. Another thread may make it so at any time: so whoever relies on the
 * barrier asks what pfs_barrier_heavy returned, and this only to choose what is cheaper. */
bool pfs_barrier_available(void);

/*
 * pfs_barrier_heavy - a full barrier in every thread of the process.
 *
 * Returns   true; or false: there was none. Sandboxes may forbid the call after the start
 *           (seccomp), and the kernel may have no memory for it on machines of many CPUs.
 * Errors    none: ENOMEM is tried again, then by the slow call that needs no memory.
 * Progress  blocking: a system call that interrupts the CPUs that run this process.
 * Order     as at the head of this file, if it returns true.
 *
 * Nothing takes its place. Revoking a page's access makes the other CPUs drop what they know of
 * it, but neither the kernel nor every processor promises a memory barrier with that (Arm, and
 * x86-64 with broadcast invalidation, do not interrupt). To run on each CPU once would do, but
 * a sandbox that forbids the one forbids the other, CPUs outside the cpuset cannot be visited,
 * and the caller, who holds the growth lock, would wait for busy CPUs. So callers must do
 * without: see "Without the barrier" in magazine.h.
 */
bool pfs_barrier_heavy(void);

#endif
