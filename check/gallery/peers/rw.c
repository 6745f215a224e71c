/*
 * rw.c - each thread loads from one location, and stores to it.
 *
 * FIGURE N=2: 4 sc, 4 views: GenMC, tests/correct/synthetic/rw
 * FIGURE N=3: 36 sc, 36 views: GenMC, tests/correct/synthetic/rw
 * FIGURE N=4: 576 sc, 576 views: GenMC, tests/correct/synthetic/rw
 */
#include <stdatomic.h>
#include <stdint.h>

#include <pfslab/check.h>

static atomic_int x;

static void load_and_store(void *argument)
{
	(void)atomic_load_explicit(&x, memory_order_relaxed);
	atomic_store_explicit(&x, (int)(intptr_t)argument, memory_order_release);
}

PFS_CHECK_SCENARIO(rw)
{
	for (intptr_t i = 0; i < N; i++)
		pfs_check_thread(load_and_store, (void *)i);
}
