/*
 * ttas.c - test and test-and-set (L. Rudolph and Z. Segall, 1984): it waits by looks, and exchanges
 * only when the lock looked free. Three threads.
 *
 * BUG 1: the lock is given back relaxed.
 * BUG 2: it is taken by a store after the look: two may take it.
 */
#include <stdatomic.h>

#if BUG == 1
#define GIVE memory_order_relaxed
#else
#define GIVE memory_order_release
#endif

static atomic_int taken;

#define ROUNDS(me) 1
#include "lock.h"

static int take(void)
{
#if BUG == 2
	atomic_store_explicit(&taken, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	return 1;
#else
	return atomic_exchange_explicit(&taken, 1, memory_order_acquire) == 0;
#endif
}

static void enter(int me)
{
	(void)me;
	do {
		while (atomic_load_explicit(&taken, memory_order_relaxed))
			pfs_check_yield();
	} while (!take());
}

static void leave(int me)
{
	(void)me;
	atomic_store_explicit(&taken, 0, GIVE);
}

LOCK_SCENARIO(ttas, 3, 3)
