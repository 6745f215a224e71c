#define _GNU_SOURCE
#include "barrier.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "atomic.h"

#define TRIES 8 /* while the kernel has no memory */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic(uint32_t) available;

static bool is_registered(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0) == 0;
}

static void ask(void)
{
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0);
	bool has_it = commands > 0 && (commands & MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0 &&
		      is_registered();
	pfs_store_relaxed(&available, has_it); /* relaxed: pthread_once orders it */
}

bool pfs_barrier_available(void)
{
	(void)pthread_once(&once, ask);
	return pfs_load_relaxed(&available) != 0; /* relaxed: see barrier.h */
}

/* One attempt; false: errno says why. */
static bool is_done(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) == 0)
		return true;
	/* EPERM can mean that the process is not registered (fork keeps the registration). */
	return errno == EPERM && is_registered() &&
	       syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) == 0;
}

bool pfs_barrier_heavy(void)
{
	bool done = is_done();
	for (int tries = 1; !done && errno == ENOMEM && tries < TRIES; tries++) {
		(void)sched_yield();
		done = is_done();
	}
	/* Slow, but needs no memory. It is a barrier too: it waits until every CPU has switched. */
	if (!done && errno == ENOMEM)
		done = syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0) == 0;
	if (!done)
		pfs_store_relaxed(&available, 0); /* relaxed: see barrier.h */
	return done;
}
