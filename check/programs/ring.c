/*
 * ring.c - the example of docs/check.md: a ring between one producer and one consumer. With
 * -DPUBLISH=memory_order_relaxed the producer publishes what the consumer may not see yet.
 */
#include <stdatomic.h>

#include <pfslab/check.h>

#ifndef PUBLISH
#define PUBLISH memory_order_release
#endif

#define ROOM 2u

static struct {
	atomic_uint head, tail;
	int slots[ROOM];
} ring;
static int sum;

static int push(int value)
{
	unsigned tail = atomic_load_explicit(&ring.tail, memory_order_relaxed);
	if (tail - atomic_load_explicit(&ring.head, memory_order_acquire) == ROOM)
		return 0;
	ring.slots[tail % ROOM] = value;
	atomic_store_explicit(&ring.tail, tail + 1, PUBLISH);
	return 1;
}

static int pop(int *value)
{
	unsigned head = atomic_load_explicit(&ring.head, memory_order_relaxed);
	if (head == atomic_load_explicit(&ring.tail, memory_order_acquire))
		return 0;
	*value = ring.slots[head % ROOM];
	atomic_store_explicit(&ring.head, head + 1, memory_order_release);
	return 1;
}

static void producer(void *argument)
{
	(void)argument;
	for (int value = 1; value <= 3; value++) {
		while (!push(value))
			pfs_check_yield();
	}
}

static void consumer(void *argument)
{
	(void)argument;
	for (int popped = 0, value; popped < 3;) {
		if (pop(&value)) {
			sum += value;
			popped++;
		} else {
			pfs_check_yield();
		}
	}
}

static void check(void *argument)
{
	(void)argument;
	pfs_check_assert(sum == 1 + 2 + 3);
}

PFS_CHECK_SCENARIO(ring)
{
	pfs_check_thread(producer, 0);
	pfs_check_thread(consumer, 0);
	pfs_check_at_rest(check, 0);
}
