/*
 * fork.h - fork, for a container: its locks are free in the child, and the state of threads that
 * the child does not have is cleaned up.
 *
 * fork copies only the calling thread. In the child every other thread is one that stopped for ever
 * between two instructions: on Linux the copy contains a store of a thread only together with all
 * that the thread did before. The policies are made for such a thread: it keeps at most one record
 * besides those that it owns, and nothing else waits for it except
 *
 *	locks            a thread that holds or waits for one is inside the gate, and fork waits
 *	                 until no thread is; so no lock is held, and what they guard is consistent
 *	read sections    ended, or no page would ever be given back
 *	handles          detached, so that they are used again; their rings may be taken back like
 *	                 any others, and a new owner first ends the call in which the old one
 *	                 stopped
 *	the background   restarted, when a container that had passes resumes
 *	thread
 *
 * The handlers of pthread_atfork do the first half: they close and open the gate and count the
 * fork, however many containers there are. The second half needs memory and threads, which a
 * handler must not request, because handlers of other libraries may not have run yet. So it happens
 * in the child's first attach, detach, growth, reclaim pass or destroy.
 *
 * A handle's owner tells whether it is left behind: the thread that attached it, or took it over
 * with pfs_thread_adopt.
 *
 * Order of locks: the list of containers; the gate; then of each container, the youngest first (a
 * memory source may use an older container): passing, the policy's own, growth, roster; then those
 * of mapped.h and reclaimer.c. malloc's locks follow: glibc takes them after all handlers. A thread
 * inside the gate may take further locks without asking the gate again. A policy's lock that hot
 * calls take (policy_lock, of mutex_list) is not gated; fork takes it before the gate. So a thread
 * never takes such a lock while it holds a gated one, and a memory source must not use such a
 * container.
 *
 * The simulated machine has no fork.
 */
#ifndef PFS_FORK_H
#define PFS_FORK_H

#include "container.h"
#include "gate.h"

#ifdef PFS_SIM
static inline bool pfs_fork_enlist(struct pfs_container *self)
{
	(void)self;
	return true;
}

static inline void pfs_fork_remove(struct pfs_container *self)
{
	(void)self;
}

static inline void pfs_fork_resume(struct pfs_container *self)
{
	(void)self;
}

#else

/* enlist: tell fork about a container that is complete except for its background thread; false: no
 * memory. remove: the container is about to be destroyed. In a child that has not resumed, what the
 * parent's threads left is cleaned up, and no background thread is started. */
bool pfs_fork_enlist(struct pfs_container *self);
void pfs_fork_remove(struct pfs_container *self);

/* The second half of a fork, once in the child. Takes `roster`. */
PFS_COLD void pfs_fork_resume_now(struct pfs_container *self);

/* Forks before this process; written by the child, before it has a second thread. */
extern _Atomic(uint64_t) pfs_fork_generation;

static inline void pfs_fork_resume(struct pfs_container *self)
{
	/* relaxed, all: a fork is before the child's second thread; a thread that reads that the
	 * background thread is missing only tries again. */
	bool is_done = pfs_load_relaxed(&self->generation) ==
			       pfs_load_relaxed(&pfs_fork_generation) && /* relaxed: as above */
		       pfs_load_relaxed(&self->lacks_background) == 0;   /* relaxed: as above */
	if (!pfs_likely(is_done))
		pfs_fork_resume_now(self);
}
#endif
#endif
