/*
 * dekker.c - Dekker's mutual exclusion of two threads (E. W. Dijkstra, 1965, after T. J. Dekker).
 *
 * gcc warns of the fence (-Wtsan): its own run-time does not know them; pfs-check does.
 *
 * BUG 1: no fence between the own flag and a look at the other's.
 * BUG 2: turn is handed on after the flag is down, relaxed, and the flag, too: races.
 */
#include <stdatomic.h>

static atomic_int wants[2], turn;

#define ROUNDS(me) 1
#include "lock.h"

static void fence(void)
{
#if BUG != 1
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

static void enter(int me)
{
	int other = 1 - me;
	atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
	fence();
	while (atomic_load_explicit(&wants[other], memory_order_acquire)) {
		if (atomic_load_explicit(&turn, memory_order_relaxed) == me) {
			pfs_check_yield();
			continue;
		}
		atomic_store_explicit(&wants[me], 0, memory_order_relaxed);
		while (atomic_load_explicit(&turn, memory_order_relaxed) != me)
			pfs_check_yield();
		atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
		fence();
	}
}

static void leave(int me)
{
	atomic_store_explicit(&turn, 1 - me, memory_order_relaxed);
#if BUG == 2
	atomic_store_explicit(&wants[me], 0, memory_order_relaxed);
#else
	atomic_store_explicit(&wants[me], 0, memory_order_release);
#endif
}

LOCK_SCENARIO(dekker, 2, 2)
