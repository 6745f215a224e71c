/*
 * ticket.c - a lock that is handed on in order: a number each, and whose turn it is. Three threads.
 *
 * BUG 1: the number is taken by a load and a store.
 * BUG 2: the turn is read relaxed.
 */
#include <stdatomic.h>

#include <pfslab/check.h>

#if BUG == 2
#define LOOK memory_order_relaxed
#else
#define LOOK memory_order_acquire
#endif

static atomic_uint next, turn;
static int entries;

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

static void body(void *argument)
{
	unsigned number = take();
	(void)argument;
	while (atomic_load_explicit(&turn, LOOK) != number)
		continue; /* says nothing of its waiting: --looks */
	entries++;
	atomic_store_explicit(&turn, number + 1, memory_order_release);
}

static void check(void *argument)
{
	(void)argument;
	pfs_check_assert(entries == 3);
}

PFS_CHECK_SCENARIO(ticket)
{
	for (int i = 0; i < 3; i++)
		pfs_check_thread(body, 0);
	pfs_check_at_rest(check, 0);
}
