/*
 * gate.h - what a fork waits for: the list of containers, and the gate, inside of which whoever
 * has a lock of a container is. What fork does with them is in fork.h.
 */
#ifndef PFS_GATE_H
#define PFS_GATE_H

#include <stdint.h>

#ifdef PFS_SIM
static inline uint64_t pfs_fork_self(void)
{
	return 1;
}
#else

/* The calling thread: a number that no other thread of this process, or of those it was forked
 * from, ever has; not 0. */
uint64_t pfs_fork_self(void);

/* The lock of the list of containers. */
void pfs_fork_list_lock(void);
void pfs_fork_list_unlock(void);

/*
 * A place that tells whether a container is destroyed, and outlives it: each who holds it counts.
 * All under the lock of the list: while that is held a container that is there is not destroyed.
 */
struct pfs_container;
struct pfs_enlisted {
	struct pfs_container *container; /* NULL: destroyed */
	uint64_t holders;
};
void pfs_enlisted_hold(struct pfs_enlisted *self);
void pfs_enlisted_drop(struct pfs_enlisted *self);

/* Around each lock of a container, by mutex.h. Blocking while a fork goes on. */
void pfs_fork_gate_enter(void);
void pfs_fork_gate_leave(void);

/* By the handlers of fork. inside: gated locks that the calling thread has or waits for. close
 * waits until no thread is inside; open lets them in again. The gate knows who closed it by the
 * thread's id, which is another one in the child, so renew makes it anew there. It is opened
 * before that for ThreadSanitizer, which counts. */
uint32_t pfs_fork_gate_inside(void);
void pfs_fork_gate_close(void);
void pfs_fork_gate_open(void);
void pfs_fork_gate_renew(void);
#endif
#endif
