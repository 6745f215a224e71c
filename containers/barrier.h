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
#define pfs_barrier_light() __asm__ volatile("" : : : "memory")

/* Does the kernel have the call (membarrier, private expedited)? Asked once a process. */
bool pfs_barrier_available(void);

/* Blocking: a system call that interrupts the CPUs that run this process. */
void pfs_barrier_heavy(void);

#endif
