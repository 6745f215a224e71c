/*
 * treiber.c - Treiber's stack (R. K. Treiber, 1986) of indices, with a tag in its top against ABA.
 *
 * BUG 1: no tag: an element that was popped, and pushed again, looks as if nothing had happened.
 * BUG 2: a push is relaxed.
 */
#include <stdatomic.h>

#include <pfslab/check.h>

#if BUG == 1
#define TAG 0u
#else
#define TAG 0x10000u
#endif
#if BUG == 2
#define PUSH memory_order_relaxed
#else
#define PUSH memory_order_release
#endif
#define INDEX 0xFFFFu
#define COUNT 3u

static atomic_uint top, next[COUNT + 1];
static int owned[COUNT + 1]; /* who popped it writes it: two owners race */

static unsigned pop(void)
{
	unsigned seen = atomic_load_explicit(&top, memory_order_acquire), behind;
	do {
		if ((seen & INDEX) == 0)
			return 0;
		behind = atomic_load_explicit(&next[seen & INDEX], memory_order_relaxed);
	} while (!atomic_compare_exchange_strong_explicit(&top, &seen,
							  ((seen & ~INDEX) + TAG) | behind,
							  memory_order_acquire,
							  memory_order_acquire));
	return seen & INDEX;
}

static void push(unsigned index)
{
	unsigned seen = atomic_load_explicit(&top, memory_order_relaxed);
	do {
		atomic_store_explicit(&next[index], seen & INDEX, memory_order_relaxed);
	} while (!atomic_compare_exchange_strong_explicit(&top, &seen,
							  ((seen & ~INDEX) + TAG) | index,
							  PUSH, memory_order_relaxed));
}

static void take(unsigned index)
{
	if (index != 0)
		pfs_check_assert(owned[index]++ == 0);
}

static void pop_one(void *argument)
{
	(void)argument;
	take(pop());
}

static void pop_two_push_one(void *argument)
{
	(void)argument;
	unsigned one = pop(), other = pop();
	take(one);
	take(other);
	if (one == 0)
		return;
	owned[one]--;
	push(one);
}

static void pop_all(void *argument)
{
	(void)argument;
	for (unsigned index = pop(); index != 0; index = pop())
		take(index);
}

PFS_CHECK_SCENARIO(treiber)
{
	for (unsigned index = COUNT; index >= 1; index--)
		push(index);
	pfs_check_thread(pop_one, 0);
	pfs_check_thread(pop_two_push_one, 0);
	pfs_check_at_rest(pop_all, 0);
}
