/*
 * readers.c - one writer, and readers that see what it wrote, or not.
 *
 * FIGURE N=4: 16 sc: Nidhugg, tests/smoke/reference.results.txt
 * FIGURE N=8: 256 sc, 256 views: GenMC, tests/correct/synthetic/readers
 * FIGURE N=13: 8192 sc, 8192 views: GenMC, tests/correct/synthetic/readers
 * SCHEDULES N=3: 9450: Relacy, here
 */
#include <stdatomic.h>

#include <pfslab/check.h>

static atomic_int shared;

static void write_it(void *argument)
{
	(void)argument;
	atomic_store_explicit(&shared, 1, memory_order_release);
}

static void read_it(void *argument)
{
	(void)argument;
	(void)atomic_load_explicit(&shared, memory_order_acquire);
}

PFS_CHECK_SCENARIO(readers)
{
	pfs_check_thread(write_it, 0);
	for (int i = 0; i < N; i++)
		pfs_check_thread(read_it, 0);
}
