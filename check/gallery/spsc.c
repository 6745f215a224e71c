/*
 * spsc.c - a ring between one producer and one consumer (L. Lamport, 1983), of two slots.
 *
 * BUG 1: what was pushed is published relaxed.
 * BUG 2: a slot is given back before it was read.
 */
#include <stdatomic.h>

#include <pfslab/check.h>

#if BUG == 1
#define PUBLISH memory_order_relaxed
#else
#define PUBLISH memory_order_release
#endif
#define ROOM 2u
#define COUNT 4

static atomic_uint head, tail;
static int slots[ROOM];

static int push(int value)
{
	unsigned at = atomic_load_explicit(&tail, memory_order_relaxed);
	if (at - atomic_load_explicit(&head, memory_order_acquire) == ROOM)
		return 0;
	slots[at % ROOM] = value;
	atomic_store_explicit(&tail, at + 1, PUBLISH);
	return 1;
}

static int pop(int *value)
{
	unsigned at = atomic_load_explicit(&head, memory_order_relaxed);
	if (at == atomic_load_explicit(&tail, memory_order_acquire))
		return 0;
#if BUG == 2
	atomic_store_explicit(&head, at + 1, memory_order_release);
	*value = slots[at % ROOM];
#else
	*value = slots[at % ROOM];
	atomic_store_explicit(&head, at + 1, memory_order_release);
#endif
	return 1;
}

static void produce(void *argument)
{
	(void)argument;
	for (int value = 0; value < COUNT; value++) {
		while (!push(value))
			pfs_check_yield();
	}
}

static void consume(void *argument)
{
	(void)argument;
	for (int expected = 0, value; expected < COUNT; expected++) {
		while (!pop(&value))
			pfs_check_yield();
		pfs_check_assert(value == expected);
	}
}

PFS_CHECK_SCENARIO(spsc)
{
	pfs_check_thread(produce, 0);
	pfs_check_thread(consume, 0);
}
