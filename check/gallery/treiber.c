/*
 * treiber.c - Treiber's stack (R. K. Treiber, 1986) of indices, with a tag in its top against ABA.
 *
 * Once more with its calls, which must be those of a stack.
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
static int owned[COUNT + 1]; /* written by its owner: two owners race */

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

/* ---- as a stack, one call after the other ---- */

enum { GIVE, TAKE };

struct stack {
	uint32_t count, indices[COUNT];
};

static int64_t step(void *state, int operation, int64_t argument, int64_t result)
{
	struct stack *stack = state;
	(void)result;
	if (operation == GIVE) {
		stack->indices[stack->count++] = (uint32_t)argument;
		return 0;
	}
	if (stack->count == 0)
		return 0;
	uint32_t index = stack->indices[--stack->count];
	stack->indices[stack->count] = 0;
	return index;
}

static unsigned pop_called(void)
{
	pfs_check_call(TAKE, 0);
	unsigned index = pop();
	pfs_check_return(index);
	return index;
}

static void push_called(unsigned index)
{
	pfs_check_call(GIVE, index);
	push(index);
	pfs_check_return(0);
}

static void pop_once(void *argument)
{
	(void)argument;
	pop_called();
}

static void pop_twice_push_first(void *argument)
{
	(void)argument;
	unsigned one = pop_called();
	pop_called();
	if (one != 0)
		push_called(one);
}

static void pop_rest(void *argument)
{
	(void)argument;
	while (pop_called() != 0)
		continue;
}

PFS_CHECK_SCENARIO(treiber_calls)
{
	const struct stack empty = { 0, { 0 } };
	pfs_check_specification(&empty, sizeof(empty), step);
	for (unsigned index = COUNT; index >= 1; index--)
		push_called(index);
	pfs_check_thread(pop_once, 0);
	pfs_check_thread(pop_twice_push_first, 0);
	pfs_check_at_rest(pop_rest, 0);
}

PFS_CHECK_SCENARIO(treiber)
{
	for (unsigned index = COUNT; index >= 1; index--)
		push(index);
	pfs_check_thread(pop_one, 0);
	pfs_check_thread(pop_two_push_one, 0);
	pfs_check_at_rest(pop_all, 0);
}
