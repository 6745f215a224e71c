/*
 * wide.c - atomics of 16 bytes: a stack whose head has a tag, and without one.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <pfslab/check.h>

struct node {
	_Atomic(struct node *) next;
};
struct head {
	struct node *first;
	uint64_t tag;
};
union words {
	struct head head;
	unsigned __int128 whole;
};

static _Alignas(16) unsigned __int128 top;
static struct node nodes[2];
static _Alignas(16) unsigned __int128 sum, word;
#ifndef TAG
#define TAG 1
#endif

static void push(struct node *node)
{
	union words old = { .whole = __atomic_load_n(&top, __ATOMIC_RELAXED) }, new;
	do {
		atomic_store_explicit(&node->next, old.head.first, memory_order_relaxed);
		new.head = (struct head){ node, old.head.tag + TAG };
	} while (!__atomic_compare_exchange_n(&top, &old.whole, new.whole, 0, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
}

static struct node *pop(void)
{
	union words old = { .whole = __atomic_load_n(&top, __ATOMIC_ACQUIRE) }, new;
	do {
		if (old.head.first == NULL)
			return NULL;
		new.head = (struct head){ atomic_load_explicit(&old.head.first->next,
							       memory_order_relaxed),
					  old.head.tag + TAG };
	} while (!__atomic_compare_exchange_n(&top, &old.whole, new.whole, 0, __ATOMIC_ACQUIRE,
					      __ATOMIC_ACQUIRE));
	return old.head.first;
}

static void pop_one(void *argument)
{
	(void)pop();
}

/* The first node comes back when the second is gone: a head without a tag looks as before. */
static void pop_two_push_one(void *argument)
{
	struct node *first = pop(), *second = pop();
	if (first == &nodes[1] && second == &nodes[0]) {
		push(first);
		atomic_store_explicit(&second->next, &nodes[0], memory_order_relaxed); /* own */
	}
}

static void is_no_circle(void *argument)
{
	union words now = { .whole = top };
	pfs_check_assert(now.head.first != &nodes[0] || nodes[0].next != &nodes[0]);
}

PFS_CHECK_SCENARIO(stack)
{
	push(&nodes[0]);
	push(&nodes[1]);
	pfs_check_thread(pop_one, NULL);
	pfs_check_thread(pop_two_push_one, NULL);
	pfs_check_at_rest(is_no_circle, NULL);
}

/* ---- all operations ---- */

static const unsigned __int128 high = (unsigned __int128)1 << 64;

static void add(void *argument)
{
	__atomic_fetch_add(&sum, high + 1, __ATOMIC_SEQ_CST);
}

static void is_two(void *argument)
{
	pfs_check_assert(sum == 2 * high + 2);
}

PFS_CHECK_SCENARIO(adds)
{
	pfs_check_thread(add, NULL);
	pfs_check_thread(add, NULL);
	pfs_check_at_rest(is_two, NULL);
}

static void alone(void *argument)
{
	__atomic_store_n(&word, 3 * high, __ATOMIC_SEQ_CST);
	pfs_check_assert(__atomic_fetch_sub(&word, high, __ATOMIC_SEQ_CST) == 3 * high);
	pfs_check_assert(__atomic_fetch_or(&word, high | 1, __ATOMIC_SEQ_CST) == 2 * high);
	pfs_check_assert(__atomic_fetch_and(&word, high, __ATOMIC_SEQ_CST) == (3 * high | 1));
	pfs_check_assert(__atomic_fetch_xor(&word, high, __ATOMIC_SEQ_CST) == high);
	pfs_check_assert(__atomic_exchange_n(&word, 7, __ATOMIC_SEQ_CST) == 0);
	unsigned __int128 expected = high;
	pfs_check_assert(!__atomic_compare_exchange_n(&word, &expected, 0, 0, __ATOMIC_SEQ_CST,
						      __ATOMIC_RELAXED) && expected == 7);
	pfs_check_assert(__atomic_load_n(&word, __ATOMIC_SEQ_CST) == 7);
}

PFS_CHECK_SCENARIO(operations)
{
	pfs_check_thread(alone, NULL);
}

/* A loop that waits for the upper half alone. */
static void raise_upper(void *argument)
{
	__atomic_fetch_add(&word, high, __ATOMIC_RELEASE);
}

static void await_upper(void *argument)
{
	while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) >> 64 != 2)
		continue;
}

PFS_CHECK_SCENARIO(waits)
{
	pfs_check_thread(raise_upper, NULL);
	pfs_check_thread(await_upper, NULL);
	pfs_check_thread(raise_upper, NULL);
}

static void read_upper_plainly(void *argument)
{
	pfs_check_assert(((volatile uint64_t *)&word)[1] < 3);
}

PFS_CHECK_SCENARIO(half_fails)
{
	pfs_check_thread(raise_upper, NULL);
	pfs_check_thread(read_upper_plainly, NULL);
}
