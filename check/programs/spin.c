/*
 * spin.c - locks that write while they wait: a test-and-set of a word that is already set changes
 * nothing, so such a loop waits for a change, as a loop of loads does.
 */
#include <stdatomic.h>

#include <pfslab/check.h>

static atomic_int word;
static atomic_flag flag;
static int counter; /* guarded */

static void by_exchange(void *argument)
{
	while (atomic_exchange_explicit(&word, 1, memory_order_acquire) != 0)
		;
	counter++;
	atomic_store_explicit(&word, 0, memory_order_release);
}

static void by_flag(void *argument)
{
	while (atomic_flag_test_and_set_explicit(&flag, memory_order_acquire))
		pfs_check_yield();
	counter++;
	atomic_flag_clear_explicit(&flag, memory_order_release);
}

static void by_or(void *argument)
{
	while ((atomic_fetch_or_explicit(&word, 4, memory_order_acquire) & 4) != 0)
		;
	counter++;
	atomic_fetch_and_explicit(&word, ~4, memory_order_release);
}

/* The mistake: the next owner may not see the guarded data. */
static void by_relaxed(void *argument)
{
	while (atomic_exchange_explicit(&word, 1, memory_order_acquire) != 0)
		;
	counter++;
	atomic_store_explicit(&word, 0, memory_order_relaxed);
}

/* Adds of 0 change nothing, but these end by themselves. */
static void by_count(void *argument)
{
	for (int i = 0; i < 6; i++)
		counter += atomic_fetch_add(&word, 0) == 0;
}

static void two_counted(void *argument)
{
	pfs_check_assert(counter == 2);
}

static void six_counted(void *argument)
{
	pfs_check_assert(counter == 6);
}

PFS_CHECK_SCENARIO(exchange)
{
	pfs_check_thread(by_exchange, 0);
	pfs_check_thread(by_exchange, 0);
	pfs_check_at_rest(two_counted, 0);
}

PFS_CHECK_SCENARIO(flag)
{
	pfs_check_thread(by_flag, 0);
	pfs_check_thread(by_flag, 0);
	pfs_check_at_rest(two_counted, 0);
}

PFS_CHECK_SCENARIO(fetch_or)
{
	pfs_check_thread(by_or, 0);
	pfs_check_thread(by_or, 0);
	pfs_check_at_rest(two_counted, 0);
}

PFS_CHECK_SCENARIO(three)
{
	pfs_check_thread(by_flag, 0);
	pfs_check_thread(by_flag, 0);
	pfs_check_thread(by_flag, 0);
}

PFS_CHECK_SCENARIO(counts)
{
	pfs_check_thread(by_count, 0);
	pfs_check_at_rest(six_counted, 0);
}

PFS_CHECK_SCENARIO(relaxed_fails)
{
	pfs_check_thread(by_relaxed, 0);
	pfs_check_thread(by_relaxed, 0);
}
