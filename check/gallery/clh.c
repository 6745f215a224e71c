/*
 * clh.c - the queue lock of T. S. Craig, 1993, and of A. Landin and E. Hagersten, 1994: each
 * thread waits for its predecessor's flag, and leaves with the predecessor's link for its next
 * entry. Two threads, one of which enters twice.
 *
 * BUG 1: the lock is handed on relaxed.
 * BUG 2: a thread that leaves keeps its own link. When it enters again, it withdraws the flag that
 *        says "free" before the other thread has seen it, and each waits for the other.
 */
#include <stdatomic.h>

#if BUG == 1
#define HAND_ON memory_order_relaxed
#else
#define HAND_ON memory_order_release
#endif

struct link {
	atomic_int waits;
};
struct place {
	struct link *own, *before;
};
static struct link links[3]; /* one for each thread, and the first before all */
static _Atomic(struct link *) last = &links[2];
static struct place places[2] = {{&links[0], 0}, {&links[1], 0}};

#define ROUNDS(me) ((me) == 0 ? 2 : 1)
#include "lock.h"

static void enter(int me)
{
	struct place *place = &places[me];
	atomic_store_explicit(&place->own->waits, 1, memory_order_relaxed);
	place->before = atomic_exchange_explicit(&last, place->own, memory_order_acq_rel);
	while (atomic_load_explicit(&place->before->waits, memory_order_acquire))
		pfs_check_yield();
}

static void leave(int me)
{
	struct place *place = &places[me];
	struct link *own = place->own;
#if BUG != 2
	place->own = place->before; /* no other thread reads it any more */
#endif
	atomic_store_explicit(&own->waits, 0, HAND_ON);
}

LOCK_SCENARIO(clh, 2, 3)
