/*
 * ms_queue.c - the queue of M. M. Michael and M. L. Scott, PODC 1996: two add, one takes. What was
 * taken is given back at rest; while threads run it may still be looked at.
 *
 * Once more with its calls, which must be those of a queue.
 *
 * BUG 1: an element is linked relaxed: the thread that takes it does not see its value.
 * BUG 2: the thread that takes an element frees it.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include <pfslab/check.h>

#if BUG == 1
#define LINK memory_order_relaxed
#else
#define LINK memory_order_release
#endif

struct element {
	_Atomic(struct element *) next;
	int value;
};
static _Atomic(struct element *) head, tail;
static struct element *first; /* all that ever was, from here on */
static int sum;

static struct element *make(int value)
{
	struct element *made = malloc(sizeof(*made));
	atomic_init(&made->next, NULL);
	made->value = value;
	return made;
}

static void add(int value)
{
	struct element *made = make(value);
	for (;;) {
		struct element *last = atomic_load_explicit(&tail, memory_order_acquire);
		struct element *behind = atomic_load_explicit(&last->next, memory_order_acquire);
		if (behind != NULL) {
			atomic_compare_exchange_strong_explicit(&tail, &last, behind,
								memory_order_release,
								memory_order_relaxed);
			continue;
		}
		if (!atomic_compare_exchange_strong_explicit(&last->next, &behind, made, LINK,
							     memory_order_relaxed))
			continue;
		atomic_compare_exchange_strong_explicit(&tail, &last, made, memory_order_release,
							memory_order_relaxed);
		return;
	}
}

static int take(int *value)
{
	for (;;) {
		struct element *before = atomic_load_explicit(&head, memory_order_acquire);
		struct element *last = atomic_load_explicit(&tail, memory_order_acquire);
		struct element *next = atomic_load_explicit(&before->next, memory_order_acquire);
		if (next == NULL)
			return 0;
		if (before == last) {
			atomic_compare_exchange_strong_explicit(&tail, &last, next,
								memory_order_release,
								memory_order_relaxed);
			continue;
		}
		*value = next->value;
		if (!atomic_compare_exchange_strong_explicit(&head, &before, next,
							     memory_order_release,
							     memory_order_relaxed))
			continue;
#if BUG == 2
		free(before);
#endif
		return 1;
	}
}

static void add_one(void *argument)
{
	(void)argument;
	add(1);
}

static void take_one(void *argument)
{
	int value;
	(void)argument;
	if (take(&value))
		sum += value;
}

static void check(void *argument)
{
	int value;
	(void)argument;
#if BUG != 2
	while (take(&value))
		sum += value;
	pfs_check_assert(sum == 2);
	while (first != NULL) {
		struct element *next = atomic_load(&first->next);
		free(first);
		first = next;
	}
#else
	(void)value;
#endif
}

/* ---- as a queue, one call after the other ---- */

#define ROOM 4
#include "queue.h"

static int take_called(void)
{
	int value;
	pfs_check_call(TAKE, 0);
	int found = take(&value);
	return (int)pfs_check_return(found ? value : NONE);
}

static void add_called(void *argument)
{
	int value = *(const int *)argument;
	pfs_check_call(ADD, value);
	add(value);
	pfs_check_return(1);
}

static void take_two_called(void *argument)
{
	(void)argument;
	take_called();
	take_called();
}

static void take_rest(void *argument)
{
	(void)argument;
#if BUG != 2
	while (take_called() != NONE)
		continue;
	while (first != NULL) {
		struct element *next = atomic_load(&first->next);
		free(first);
		first = next;
	}
#endif
}

PFS_CHECK_SCENARIO(ms_queue_calls)
{
	static int values[] = { 1, 2 };
	begin_queue();
	first = make(0);
	atomic_store(&head, first);
	atomic_store(&tail, first);
	pfs_check_thread(add_called, &values[0]);
	pfs_check_thread(add_called, &values[1]);
	pfs_check_thread(take_two_called, 0);
	pfs_check_at_rest(take_rest, 0);
}

PFS_CHECK_SCENARIO(ms_queue)
{
	first = make(0);
	atomic_store(&head, first);
	atomic_store(&tail, first);
	pfs_check_thread(add_one, 0);
	pfs_check_thread(add_one, 0);
	pfs_check_thread(take_one, 0);
	pfs_check_at_rest(check, 0);
}
