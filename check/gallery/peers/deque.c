/*
 * deque.c - Chase and Lev's deque of fixed size, with the orders of GenMC's test: the owner pushes
 * five, pops three and pushes two, and each of N thieves steals once. What is stolen is not looked
 * at: it may be what was not pushed yet (chase_lev.c, BUG 8).
 *
 * FIGURE N=1: 59 sc: GenMC, tests/correct/data-structures/chase-lev
 */
#include <stdatomic.h>
#include <stdint.h>

#include <pfslab/check.h>

#define ROOM 10

static atomic_uint_fast64_t bottom, top;
static _Atomic(int64_t) values[ROOM];

static void push(int64_t value)
{
	uint64_t b = atomic_load_explicit(&bottom, memory_order_relaxed);
	uint64_t t = atomic_load_explicit(&top, memory_order_acquire);
	if ((int64_t)(b - t) >= ROOM)
		return;
	atomic_store_explicit(&values[b % ROOM], value, memory_order_relaxed);
	atomic_store_explicit(&bottom, b + 1, memory_order_release);
}

static int64_t pop(void)
{
	uint64_t b = atomic_load_explicit(&bottom, memory_order_relaxed);
	atomic_store_explicit(&bottom, b - 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	uint64_t t = atomic_load_explicit(&top, memory_order_relaxed);
	int64_t left = (int64_t)(b - t), value = 0;
	if (left > 0)
		value = atomic_load_explicit(&values[(b - 1) % ROOM], memory_order_relaxed);
	if (left > 1)
		return value;
	if (left == 1 && !atomic_compare_exchange_strong_explicit(
				 &top, &t, t + 1, memory_order_acq_rel, memory_order_acquire))
		value = 0;
	atomic_store_explicit(&bottom, b, memory_order_relaxed);
	return value;
}

static void own(void *argument)
{
	int64_t sum = 0;
	(void)argument;
	for (int64_t value = 1; value <= 5; value++)
		push(value);
	for (int i = 0; i < 3; i++)
		sum += pop();
	for (int64_t value = 6; value <= 7; value++)
		push(value);
	pfs_check_assert(sum == 5 + 4 + 3);
}

static void steal_one(void *argument)
{
	uint64_t t = atomic_load_explicit(&top, memory_order_relaxed);
	(void)argument;
	atomic_thread_fence(memory_order_seq_cst);
	uint64_t b = atomic_load_explicit(&bottom, memory_order_acquire);
	if ((int64_t)(b - t) <= 0)
		return;
	(void)atomic_load_explicit(&values[t % ROOM], memory_order_relaxed);
	atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_release,
						memory_order_relaxed);
}

PFS_CHECK_SCENARIO(deque)
{
	pfs_check_thread(own, 0);
	for (int i = 0; i < N; i++)
		pfs_check_thread(steal_one, 0);
}
