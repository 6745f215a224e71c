/*
 * mcs.c - the queue lock of J. M. Mellor-Crummey and M. L. Scott, 1991: each waits at a flag of its
 * own. Two threads.
 *
 * BUG 1: the lock is handed on relaxed.
 * BUG 2: a thread that leaves does not wait for a successor that has arrived but is not linked yet:
 *        the successor is never woken.
 */
#include <stdatomic.h>
#include <stddef.h>

#if BUG == 1
#define HAND_ON memory_order_relaxed
#else
#define HAND_ON memory_order_release
#endif

struct link {
	_Atomic(struct link *) next;
	atomic_int waits;
};
static _Atomic(struct link *) last;
static struct link links[2];

#define ROUNDS(me) 1
#include "lock.h"

static void enter(int me)
{
	struct link *own = &links[me];
	atomic_store_explicit(&own->next, NULL, memory_order_relaxed);
	atomic_store_explicit(&own->waits, 1, memory_order_relaxed);
	struct link *before = atomic_exchange_explicit(&last, own, memory_order_acq_rel);
	if (before == NULL)
		return;
	atomic_store_explicit(&before->next, own, memory_order_release);
	while (atomic_load_explicit(&own->waits, memory_order_acquire))
		pfs_check_yield();
}

static void leave(int me)
{
	struct link *own = &links[me], *seen = own;
	struct link *next = atomic_load_explicit(&own->next, memory_order_acquire);
	if (next == NULL) {
		if (atomic_compare_exchange_strong_explicit(&last, &seen, NULL,
							    memory_order_release,
							    memory_order_relaxed))
			return;
#if BUG == 2
		next = atomic_load_explicit(&own->next, memory_order_acquire);
		if (next == NULL)
			return;
#else
		while ((next = atomic_load_explicit(&own->next, memory_order_acquire)) == NULL)
			pfs_check_yield();
#endif
	}
	atomic_store_explicit(&next->waits, 0, HAND_ON);
}

LOCK_SCENARIO(mcs, 2, 2)
