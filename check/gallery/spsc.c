/*
 * spsc.c - a ring between one producer and one consumer (L. Lamport, 1983), of two slots.
 *
 * Once more with its calls, which must be those of a queue of two. With a third push, -DPUSHES=3,
 * they are not with store buffers: "full" and "none" can be said of one and the same state.
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
#ifndef PUSHES
#define PUSHES 2
#endif

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

/* ---- as a queue of two, one call after the other ---- */

#include "queue.h"

static void push_some(void *argument)
{
	(void)argument;
	for (int value = 1; value <= PUSHES; value++)
		pfs_check_op(ADD, value, push(value));
}

static void pop_two(void *argument)
{
	(void)argument;
	for (int i = 0, value; i < 2; i++)
		pfs_check_op(TAKE, 0, pop(&value) ? value : NONE);
}

PFS_CHECK_SCENARIO(spsc_calls)
{
	begin_queue();
	pfs_check_thread(push_some, 0);
	pfs_check_thread(pop_two, 0);
}

PFS_CHECK_SCENARIO(spsc)
{
	pfs_check_thread(produce, 0);
	pfs_check_thread(consume, 0);
}
