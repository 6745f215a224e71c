/*
 * coa.c - two threads that each store to one location and look at it again, and in between at what
 * N - 1 others store in two locations: with weak memory they may see those in different orders.
 *
 * FIGURE N=2: 15 sc, 16 views: GenMC, tests/correct/synthetic/CoA
 * FIGURE N=3: 130 sc, 144 views: GenMC, tests/correct/synthetic/CoA
 * FIGURE N=4: 2028 sc, 2304 views: GenMC, tests/correct/synthetic/CoA
 */
#include <stdatomic.h>
#include <stdint.h>

#include <pfslab/check.h>

static atomic_int x, y, z;

static void one(void *argument)
{
	(void)argument;
	atomic_store_explicit(&x, 1, memory_order_release);
	(void)atomic_load_explicit(&y, memory_order_acquire);
	(void)atomic_load_explicit(&x, memory_order_acquire);
}

static void other(void *argument)
{
	(void)argument;
	atomic_store_explicit(&x, 2, memory_order_release);
	(void)atomic_load_explicit(&z, memory_order_acquire);
	(void)atomic_load_explicit(&x, memory_order_acquire);
}

static void store_both(void *argument)
{
	int value = (int)(intptr_t)argument;
	atomic_store_explicit(&y, value, memory_order_release);
	atomic_store_explicit(&z, value, memory_order_release);
}

PFS_CHECK_SCENARIO(coa)
{
	pfs_check_thread(one, 0);
	pfs_check_thread(other, 0);
	for (intptr_t i = 0; i < N - 1; i++)
		pfs_check_thread(store_both, (void *)i);
}
