/*
 * peterson.c - mutual exclusion of two threads (G. L. Peterson, 1981), with C11's orders.
 *
 * BUG 1: flags and turn are stored by release alone: both may pass.
 * BUG 2: turn is stored before the flag.
 */
#include <stdatomic.h>

#include <pfslab/check.h>

#if BUG == 1
#define STORE memory_order_release
#else
#define STORE memory_order_seq_cst
#endif

static atomic_int flags[2], turn;
static int inside, entries;

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

static void body(void *argument)
{
	int me = argument != 0;
	enter(me);
	pfs_check_assert(inside++ == 0);
	entries++;
	inside--;
	atomic_store_explicit(&flags[me], 0, memory_order_release);
}

static void check(void *argument)
{
	(void)argument;
	pfs_check_assert(entries == 2);
}

PFS_CHECK_SCENARIO(peterson)
{
	pfs_check_thread(body, 0);
	pfs_check_thread(body, &entries);
	pfs_check_at_rest(check, 0);
}
