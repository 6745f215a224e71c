/*
 * chase_lev.c - the deque of D. Chase and Y. Lev, 2005, with the orders of N. M. Lê, A. Pop,
 * A. Cohen and F. Zappa Nardelli, "Correct and efficient work-stealing for weak memory models",
 * 2013: its owner pushes and takes at the bottom, others steal at the top. It begins with one
 * place, and grows. Two are pushed, each is had once: by the owner, who takes both, or by a thief.
 *
 * Numbers are signed: bottom is -1 while the owner takes from an empty deque. What was outgrown is
 * freed at rest: a thief may still look at it.
 *
 * BUG 1: no seq fence in take: the last one is had twice.
 * BUG 2: no seq fence in steal.
 * BUG 3: no release fence in push: a thief gets what was not pushed yet.
 * BUG 4: as printed in the paper: a push that made the deque grow stores into the outgrown array.
 * BUG 5: as printed, with size_t: when the empty deque's bottom goes below 0 it looks very full.
 * BUG 6: a thief may see the grown array before what is in it.
 * BUG 7: the owner takes the last one without a compare-and-swap.
 * BUG 8: push has a release store, and no fence: a thief that sees the bottom which the owner has
 *        lowered since, relaxed, may get what was not pushed yet. With C11's release sequences,
 *        which C++20 has shortened, it would not.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include <pfslab/check.h>

#if BUG == 5
typedef size_t number;
#else
typedef ptrdiff_t number;
#endif
#if BUG == 6
#define GROWN memory_order_relaxed
#else
#define GROWN memory_order_release
#endif
#if BUG == 8
#define PUSHED memory_order_release
#else
#define PUSHED memory_order_relaxed
#endif
#define NONE 0
#define LOST (-1)
#define COUNT 2

struct array {
	number size;
	struct array *outgrown;
	atomic_int values[];
};
static _Atomic(number) top, bottom;
static _Atomic(struct array *) array;
static atomic_int had[COUNT + 1];

static struct array *make(number size, struct array *outgrown)
{
	struct array *made = malloc(sizeof(*made) + (size_t)size * sizeof(made->values[0]));
	made->size = size;
	made->outgrown = outgrown;
	for (number i = 0; i < size; i++)
		atomic_init(&made->values[i], NONE);
	return made;
}

static atomic_int *place(struct array *of, number i)
{
	return &of->values[(size_t)i % (size_t)of->size];
}

static struct array *grow(struct array *old, number from, number to)
{
	struct array *grown = make(old->size * 2, old);
	for (number i = from; i < to; i++) {
		int value = atomic_load_explicit(place(old, i), memory_order_relaxed);
		atomic_store_explicit(place(grown, i), value, memory_order_relaxed);
	}
	atomic_store_explicit(&array, grown, GROWN);
	return grown;
}

static void push(int value)
{
	number b = atomic_load_explicit(&bottom, memory_order_relaxed);
	number t = atomic_load_explicit(&top, memory_order_acquire);
	struct array *a = atomic_load_explicit(&array, memory_order_relaxed);
	if (b - t > a->size - 1) {
		struct array *grown = grow(a, t, b);
#if BUG != 4
		a = grown;
#else
		(void)grown;
#endif
	}
	atomic_store_explicit(place(a, b), value, memory_order_relaxed);
#if BUG != 3 && BUG != 8
	atomic_thread_fence(memory_order_release);
#endif
	atomic_store_explicit(&bottom, b + 1, PUSHED);
}

static int claim(number t)
{
#if BUG == 7
	atomic_store_explicit(&top, t + 1, memory_order_relaxed);
	return 1;
#else
	return atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst,
						       memory_order_relaxed);
#endif
}

static int take(void)
{
	number b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
	struct array *a = atomic_load_explicit(&array, memory_order_relaxed);
	atomic_store_explicit(&bottom, b, memory_order_relaxed);
#if BUG != 1
	atomic_thread_fence(memory_order_seq_cst);
#endif
	number t = atomic_load_explicit(&top, memory_order_relaxed);
	int value = NONE;
	if (t <= b) {
		value = atomic_load_explicit(place(a, b), memory_order_relaxed);
		if (t != b)
			return value;
		if (!claim(t))
			value = NONE;
	}
	atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
	return value;
}

static int steal(void)
{
	number t = atomic_load_explicit(&top, memory_order_acquire);
#if BUG != 2
	atomic_thread_fence(memory_order_seq_cst);
#endif
	number b = atomic_load_explicit(&bottom, memory_order_acquire);
	if (t >= b)
		return NONE;
	struct array *a = atomic_load_explicit(&array, memory_order_acquire);
	int value = atomic_load_explicit(place(a, t), memory_order_relaxed);
	if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst,
						     memory_order_relaxed))
		return LOST;
	pfs_check_assert(value != NONE);
	return value;
}

static void have(int value)
{
	if (value != NONE && value != LOST)
		atomic_fetch_add_explicit(&had[value], 1, memory_order_relaxed);
}

static void own(void *argument)
{
	(void)argument;
	have(take());
	for (int value = 1; value <= COUNT; value++)
		push(value);
	have(take());
	have(take());
}

static void steal_one(void *argument)
{
	(void)argument;
	have(steal());
}

static void check(void *argument)
{
	(void)argument;
	for (int value = 1; value <= COUNT; value++)
		pfs_check_assert(had[value] == 1);
	for (struct array *a = array; a != NULL;) {
		struct array *outgrown = a->outgrown;
		free(a);
		a = outgrown;
	}
}

PFS_CHECK_SCENARIO(chase_lev)
{
	atomic_store(&array, make(1, NULL));
	pfs_check_thread(own, 0);
	pfs_check_thread(steal_one, 0);
	pfs_check_thread(steal_one, 0);
	pfs_check_at_rest(check, 0);
}
