/*
 * rwlock.c - many readers or one writer, by one number: each reader takes one of it, and a writer
 * takes all (as Linux had it on x86). A thread that reads, then writes, and one that writes.
 *
 * BUG 1: a reader leaves relaxed: the writer races with what it read.
 * BUG 2: a writer leaves relaxed.
 * BUG 3: a reader that came too late does not give back what it took: no thread can write any more.
 * BUG 4: a writer takes the lock by a load and a store.
 */
#include <stdatomic.h>

#include <pfslab/check.h>

#if BUG == 1
#define READ_DONE memory_order_relaxed
#else
#define READ_DONE memory_order_release
#endif
#if BUG == 2
#define WRITE_DONE memory_order_relaxed
#else
#define WRITE_DONE memory_order_release
#endif
#define ALL 0x1000

static atomic_int left = ALL;
static int first, second;

static void read_enter(void)
{
	while (atomic_fetch_sub_explicit(&left, 1, memory_order_acquire) <= 0) {
#if BUG != 3
		atomic_fetch_add_explicit(&left, 1, memory_order_relaxed);
#endif
		while (atomic_load_explicit(&left, memory_order_relaxed) <= 0)
			pfs_check_yield();
	}
}

static void read_leave(void)
{
	atomic_fetch_add_explicit(&left, 1, READ_DONE);
}

static int write_take(void)
{
	int all = ALL;
#if BUG == 4
	if (atomic_load_explicit(&left, memory_order_acquire) != all)
		return 0;
	atomic_store_explicit(&left, 0, memory_order_relaxed);
	return 1;
#else
	return atomic_compare_exchange_strong_explicit(&left, &all, 0, memory_order_acquire,
						       memory_order_relaxed);
#endif
}

static void write_enter(void)
{
	while (!write_take())
		pfs_check_yield();
}

static void write_leave(void)
{
	atomic_fetch_add_explicit(&left, ALL, WRITE_DONE);
}

static void read_both(void *argument)
{
	(void)argument;
	read_enter();
	pfs_check_assert(first == second);
	read_leave();
}

static void write_both(void *argument)
{
	(void)argument;
	write_enter();
	first++;
	second++;
	write_leave();
}

static void read_and_write(void *argument)
{
	read_both(argument);
	write_both(argument);
}

static void check(void *argument)
{
	(void)argument;
	pfs_check_assert(first == 2 && second == 2 && left == ALL);
}

PFS_CHECK_SCENARIO(rwlock)
{
	pfs_check_thread(read_and_write, 0);
	pfs_check_thread(write_both, 0);
	pfs_check_at_rest(check, 0);
}
