/*
 * rmw.c - two threads that each add to a count N times.
 *
 * FIGURE N=2: 6 sc, 6 views: CDSChecker, README.md of computersforpeace/model-checker, test/rmwprog
 */
#include <stdatomic.h>

#include <pfslab/check.h>

static atomic_int count;

static void add(void *argument)
{
	(void)argument;
	for (int i = 0; i < N; i++)
		atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
}

static void check(void *argument)
{
	(void)argument;
	pfs_check_assert(count == 2 * N);
}

PFS_CHECK_SCENARIO(rmw)
{
	pfs_check_thread(add, 0);
	pfs_check_thread(add, 0);
	pfs_check_at_rest(check, 0);
}
