/*
 * seqlock.c - a reader that retries if a writer was there: even and odd numbers around the data,
 * with the fences of H. Boehm, "Can seqlocks get along with programming language memory models?",
 * 2012.
 *
 * BUG 1: no acquire fence between the data and the second look at the number.
 * BUG 2: no release fence between the odd number and the data.
 */
#include <stdatomic.h>

#include <pfslab/check.h>

static atomic_uint sequence, first, second;

static void write_both(void *argument)
{
	unsigned before = atomic_load_explicit(&sequence, memory_order_relaxed);
	(void)argument;
	atomic_store_explicit(&sequence, before + 1, memory_order_relaxed);
#if BUG != 2
	atomic_thread_fence(memory_order_release);
#endif
	atomic_store_explicit(&first, 1, memory_order_relaxed);
	atomic_store_explicit(&second, 1, memory_order_relaxed);
	atomic_store_explicit(&sequence, before + 2, memory_order_release);
}

static void read_both(void *argument)
{
	(void)argument;
	for (;;) {
		unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
		unsigned one = atomic_load_explicit(&first, memory_order_relaxed);
		unsigned other = atomic_load_explicit(&second, memory_order_relaxed);
#if BUG != 1
		atomic_thread_fence(memory_order_acquire);
#endif
		if (before % 2 == 0 &&
		    atomic_load_explicit(&sequence, memory_order_relaxed) == before) {
			pfs_check_assert(one == other);
			return;
		}
		pfs_check_yield();
	}
}

PFS_CHECK_SCENARIO(seqlock)
{
	pfs_check_thread(write_both, 0);
	pfs_check_thread(read_both, 0);
}
