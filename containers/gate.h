/*
 * gate.h - what a fork waits for: the list of containers, and the gate.
 *
 * A thread that holds or waits for a lock of a container is inside the gate. fork.h says what fork
 * does with them.
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

/* A number of the calling thread, not 0. No other thread of this process, or of those it was forked
 * from, ever has it. */
uint64_t pfs_fork_self(void);

/* The lock of the list of containers. */
void pfs_fork_list_lock(void);
void pfs_fork_list_unlock(void);

/*
 * Says whether a container is destroyed, and outlives it; counts its holders. All under the lock of
 * the list: while that is held, a container that exists is not destroyed.
 */
struct pfs_container;
struct pfs_enlisted {
	struct pfs_container *container; /* NULL: destroyed */
	uint64_t holders;
};
void pfs_enlisted_hold(struct pfs_enlisted *self);
void pfs_enlisted_drop(struct pfs_enlisted *self);

/* Called by mutex.h around each lock of a container. Blocks while a fork is under way. */
void pfs_fork_gate_enter(void);
void pfs_fork_gate_leave(void);

/* For the handlers of fork. inside: gated locks that the calling thread holds or waits for. close:
 * wait until no thread is inside; open: let threads in again. The gate remembers the id of the
 * thread that closed it, which differs in the child, so the child initializes the gate anew with
 * renew. It is opened before that because ThreadSanitizer counts locks. */
uint32_t pfs_fork_gate_inside(void);
void pfs_fork_gate_close(void);
void pfs_fork_gate_open(void);
void pfs_fork_gate_renew(void);
#endif
#endif
