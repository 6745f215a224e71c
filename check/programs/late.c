/*
 * late.c - a search that is long enough to be done in parts, by several processes, and what only
 * some of its last executions show.
 */
#include <pthread.h>
#include <stdatomic.h>

#include <pfslab/check.h>

static atomic_uint turns, order, swaps;

static void take_turns(void *argument)
{
	unsigned self = *(const unsigned *)argument;
	for (int i = 0; i < 2; i++) {
		unsigned turn = atomic_fetch_add_explicit(&turns, 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&order, self << (2 * turn), memory_order_relaxed);
	}
}

static unsigned numbers[] = { 0, 1, 2 };

static void spawn(void)
{
	for (int i = 0; i < 3; i++)
		pfs_check_thread(take_turns, &numbers[i]);
}

static void count(void *argument)
{
	pfs_check_outcome("first turn: thread %u", atomic_load(&order) & 3);
}

PFS_CHECK_SCENARIO(turns)
{
	spawn();
	pfs_check_at_rest(count, 0);
}

/* The last thread had all of its turns, then the one before it. */
static void not_backwards(void *argument)
{
	pfs_check_assert(atomic_load(&order) != (2 | 2 << 2 | 1 << 4 | 1 << 6));
}

PFS_CHECK_SCENARIO(backwards_fails)
{
	spawn();
	pfs_check_at_rest(not_backwards, 0);
}

/* What may fail by itself is known from executions of all processes. */
static void *swap(void *argument)
{
	unsigned seen = 0;
	take_turns(argument);
	if (atomic_compare_exchange_weak(&swaps, &seen, 1))
		atomic_fetch_add(&swaps, 1);
	return 0;
}

static void swap_thread(void *argument)
{
	pthread_t other;
	pthread_create(&other, 0, swap, argument);
	pthread_join(other, 0);
}

PFS_CHECK_SCENARIO(swapped)
{
	pfs_check_thread(take_turns, &numbers[0]);
	pfs_check_thread(swap_thread, &numbers[1]);
	pfs_check_at_rest(count, 0);
}
