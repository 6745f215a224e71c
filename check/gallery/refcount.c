/*
 * refcount.c - a count of references: an increment is relaxed, a decrement releases, and the thread
 * that drops the last reference acquires and frees. Three threads have one reference each; one of
 * them hands on a second.
 *
 * BUG 1: the decrement is relaxed: other threads may still be reading the freed object.
 * BUG 2: the last reference is dropped without acquire.
 * BUG 3: the count is read again to find the last thread: two free it, or one reads it freed.
 * BUG 4: a reference is taken by a load and a store.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include <pfslab/check.h>

#if BUG == 1
#define GIVE memory_order_relaxed
#else
#define GIVE memory_order_release
#endif

static struct object {
	atomic_int count;
	int parts[3];
} *object;

static void take(void)
{
#if BUG == 4
	int count = atomic_load_explicit(&object->count, memory_order_relaxed);
	atomic_store_explicit(&object->count, count + 1, memory_order_relaxed);
#else
	atomic_fetch_add_explicit(&object->count, 1, memory_order_relaxed);
#endif
}

static int give_last(void)
{
#if BUG == 3
	atomic_fetch_sub_explicit(&object->count, 1, GIVE);
	return atomic_load_explicit(&object->count, memory_order_relaxed) == 0;
#else
	return atomic_fetch_sub_explicit(&object->count, 1, GIVE) == 1;
#endif
}

static void give(void)
{
	if (!give_last())
		return;
#if BUG != 2
	atomic_thread_fence(memory_order_acquire);
#endif
	for (int i = 0; i < 3; i++)
		pfs_check_assert(object->parts[i] != 0);
	free(object);
}

static void use(void *argument)
{
	*(int *)argument = 1;
	give();
}

static void use_and_hand_on(void *argument)
{
	take();
	*(int *)argument = 1;
	give();
	give();
}

PFS_CHECK_SCENARIO(refcount)
{
	object = calloc(1, sizeof(*object));
	atomic_store(&object->count, 3);
	pfs_check_thread(use_and_hand_on, &object->parts[0]);
	pfs_check_thread(use, &object->parts[1]);
	pfs_check_thread(use, &object->parts[2]);
}
