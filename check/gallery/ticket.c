/*
 * ticket.c - a lock that is handed on in order: a number each, and whose turn it is. Three threads.
 *
 * BUG 1: the number is taken by a load and a store.
 * BUG 2: the turn is read relaxed.
 */
#include <stdatomic.h>

#if BUG == 2
#define LOOK memory_order_relaxed
#else
#define LOOK memory_order_acquire
#endif

static atomic_uint next, turn;
static unsigned numbers[3]; /* of the threads */

#define ROUNDS(me) 1
#include "lock.h"

static unsigned take(void)
{
#if BUG == 1
	unsigned number = atomic_load_explicit(&next, memory_order_relaxed);
	atomic_store_explicit(&next, number + 1, memory_order_relaxed);
	return number;
#else
	return atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
#endif
}

static void enter(int me)
{
	numbers[me] = take();
	while (atomic_load_explicit(&turn, LOOK) != numbers[me])
		continue; /* says nothing of its waiting: --looks */
}

static void leave(int me)
{
	atomic_store_explicit(&turn, numbers[me] + 1, memory_order_release);
}

LOCK_SCENARIO(ticket, 3, 3)
