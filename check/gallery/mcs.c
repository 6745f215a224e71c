/*
 * mcs.c - the queue lock of J. M. Mellor-Crummey and M. L. Scott, 1991: each waits at a flag of its
 * own. Two threads.
 *
 * BUG 1: the lock is handed on relaxed.
 * BUG 2: who leaves does not wait for one that has come but is not linked yet: it is never woken.
 */
#include <stdatomic.h>
#include <stddef.h>

#include <pfslab/check.h>

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
static int entries;

static void enter(struct link *own)
{
	atomic_store_explicit(&own->next, NULL, memory_order_relaxed);
	atomic_store_explicit(&own->waits, 1, memory_order_relaxed);
	struct link *before = atomic_exchange_explicit(&last, own, memory_order_acq_rel);
	if (before == NULL)
		return;
	atomic_store_explicit(&before->next, own, memory_order_release);
	while (atomic_load_explicit(&own->waits, memory_order_acquire))
		pfs_check_yield();
}

static void leave(struct link *own)
{
	struct link *next = atomic_load_explicit(&own->next, memory_order_acquire), *seen = own;
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

static void body(void *own)
{
	enter(own);
	entries++;
	leave(own);
}

static void check(void *argument)
{
	(void)argument;
	pfs_check_assert(entries == 2);
}

PFS_CHECK_SCENARIO(mcs)
{
	pfs_check_thread(body, &links[0]);
	pfs_check_thread(body, &links[1]);
	pfs_check_at_rest(check, 0);
}
