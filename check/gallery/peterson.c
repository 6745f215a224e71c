/*
 * peterson.c - mutual exclusion of two threads (G. L. Peterson, 1981), with C11's orders.
 *
 * BUG 1: flags and turn are stored by release alone: both may pass.
 * BUG 2: turn is stored before the flag.
 */
#include <stdatomic.h>

#if BUG == 1
#define STORE memory_order_release
#else
#define STORE memory_order_seq_cst
#endif

static atomic_int flags[2], turn;

#define ROUNDS(me) 1
#include "lock.h"

static void enter(int me)
{
	int other = 1 - me;
#if BUG == 2
	atomic_store(&turn, other);
	atomic_store(&flags[me], 1);
#else
	atomic_store_explicit(&flags[me], 1, STORE);
	atomic_store_explicit(&turn, other, STORE);
#endif
	while (atomic_load(&flags[other]) == 1 && atomic_load(&turn) == other)
		pfs_check_yield();
}

static void leave(int me)
{
	atomic_store_explicit(&flags[me], 0, memory_order_release);
}

LOCK_SCENARIO(peterson, 2, 2)
