/*
 * fork.h - fork, seen from a container: its locks are free in the child, and what belonged to
 * threads that the child does not have is left behind.
 *
 * fork copies the calling thread alone. Every other thread is, in the child, one that stopped
 * for ever between two of its instructions: on Linux the copy holds a store of a thread only
 * together with all that it did before. That is what the policies are made for: such a thread
 * keeps at most one record more than those it owns, and nothing else waits for it but
 *
 *	locks            a thread that has one, or waits for one, is inside the gate, and fork waits
 *	                 until no thread is; so no lock is held, and what they guard is whole
 *	read sections    ended, else no page would ever go
 *	handles          detached, so that they are used again; their rings may be taken back as
 *	                 any, and a new owner first ends the call in which the old one stopped
 *	the background   started again, when a container that had passes resumes
 *	thread
 *
 * The first half is done by the handlers of pthread_atfork, which close and open the gate and count
 * the fork, however many containers there are. The second half needs
 * memory and threads, which a handler must not ask for (other libraries' handlers may not have
 * run yet); so it waits for the child's first attach, detach, growth, reclaim pass or destroy.
 *
 * Which handles a thread leaves behind is known by their owner: the thread that attached one,
 * or took it over by pfs_thread_adopt.
 *
 * Order of locks: the list of containers; the gate; then of each container, the youngest first (a
 * memory source may use an older container): passing, the policy's own, growth, roster; then those
 * of mapped.h and reclaimer.c. malloc's come after them: glibc takes those after all handlers. A
 * thread that is inside the gate may take further locks: it does not ask the gate again. A policy's
 * lock that hot calls take (policy_lock, of mutex_list) is not gated; fork takes it before the
 * gate. So a thread never takes such a lock while it has a gated one, and a memory source must not
 * use such a container.
 *
 * A seam: the simulated machine has no fork.
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

/* Let fork know of a container that is complete but for its background thread; false: no
 * memory. And: it is about to be destroyed; in a child that has not resumed, what is left of
 * the parent's threads goes, and none is started. */
bool pfs_fork_enlist(struct pfs_container *self);
void pfs_fork_remove(struct pfs_container *self);

/* The second half of a fork, once in the child. Takes `roster`. */
PFS_COLD void pfs_fork_resume_now(struct pfs_container *self);

/* How many forks made this process: written by the child, before it has a second thread. */
extern _Atomic(uint64_t) pfs_fork_generation;

static inline void pfs_fork_resume(struct pfs_container *self)
{
	/* relaxed, all: a fork is before the child's second thread; who reads that the background
	 * thread is missing tries again, which is all that it says. */
	bool is_done = pfs_load_relaxed(&self->generation) ==
			       pfs_load_relaxed(&pfs_fork_generation) && /* relaxed: as above */
		       pfs_load_relaxed(&self->lacks_background) == 0;   /* relaxed: as above */
	if (!pfs_likely(is_done))
		pfs_fork_resume_now(self);
}
#endif
#endif
