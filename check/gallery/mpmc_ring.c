/*
 * mpmc_ring.c - the bounded queue of D. Vyukov, 2010: each slot has a number that says for which
 * turn it is free or full. Two slots; two threads push one value each and pop what they find, and
 * one pushes a second one.
 *
 * BUG 1: the number of a slot that was filled is stored relaxed.
 * BUG 2: a slot is given back relaxed: the next thread that fills it races with the last reader.
 * BUG 3: a turn is taken by a load and a store.
 */
#include <stdatomic.h>

#include <pfslab/check.h>

#if BUG == 1
#define FILLED memory_order_relaxed
#else
#define FILLED memory_order_release
#endif
#if BUG == 2
#define EMPTIED memory_order_relaxed
#else
#define EMPTIED memory_order_release
#endif
#define ROOM 2u

static struct slot {
	atomic_uint turn;
	int value;
} slots[ROOM];
static atomic_uint pushed, popped;
static int pushes[3];
static atomic_int pops[3];

static int claim(atomic_uint *count, unsigned *at)
{
#if BUG == 3
	atomic_store_explicit(count, *at + 1, memory_order_relaxed);
	return 1;
#else
	return atomic_compare_exchange_strong_explicit(count, at, *at + 1, memory_order_relaxed,
						       memory_order_relaxed);
#endif
}

/* The slot of the next turn, if its number says that it is ready: it is then `ahead` of that. */
static struct slot *next(atomic_uint *count, unsigned ahead, unsigned *at)
{
	*at = atomic_load_explicit(count, memory_order_relaxed);
	for (;;) {
		struct slot *slot = &slots[*at % ROOM];
		unsigned turn = atomic_load_explicit(&slot->turn, memory_order_acquire);
		int behind = (int)(turn - (*at + ahead));
		if (behind < 0)
			return 0;
		if (behind > 0) {
			*at = atomic_load_explicit(count, memory_order_relaxed);
			pfs_check_yield();
		} else if (claim(count, at)) {
			return slot;
		}
	}
}

static int push(int value)
{
	unsigned at;
	struct slot *slot = next(&pushed, 0, &at);
	if (slot == 0)
		return 0;
	slot->value = value;
	atomic_store_explicit(&slot->turn, at + 1, FILLED);
	return 1;
}

static int pop(int *value)
{
	unsigned at;
	struct slot *slot = next(&popped, 1, &at);
	if (slot == 0)
		return 0;
	*value = slot->value;
	atomic_store_explicit(&slot->turn, at + ROOM, EMPTIED);
	return 1;
}

static void pop_one(void)
{
	int value;
	if (pop(&value))
		atomic_fetch_add_explicit(&pops[value], 1, memory_order_relaxed);
}

static void push_and_pop(void *argument)
{
	(void)argument;
	pushes[0] = push(0); /* full, if it sees not yet that a slot was given back */
	pop_one();
}

static void push_pop_and_push(void *argument)
{
	(void)argument;
	pushes[1] = push(1);
	pop_one();
	pushes[2] = push(2);
}

static void check(void *argument)
{
	(void)argument;
	for (int i = 0; i < 2; i++)
		pop_one();
	for (int i = 0; i < 3; i++)
		pfs_check_assert(pops[i] == pushes[i]);
}

PFS_CHECK_SCENARIO(mpmc_ring)
{
	for (unsigned i = 0; i < ROOM; i++)
		slots[i].turn = i;
	pfs_check_thread(push_and_pop, 0);
	pfs_check_thread(push_pop_and_push, 0);
	pfs_check_at_rest(check, 0);
}
