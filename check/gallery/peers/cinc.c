/*
 * cinc.c - each thread adds to three counts: the orders of each count are independent.
 *
 * FIGURE N=2: 8 sc: GenMC, tests/correct/synthetic/cinc
 * FIGURE N=3: 216 sc: GenMC, tests/correct/synthetic/cinc
 * FIGURE N=4: 13824 sc: GenMC, tests/correct/synthetic/cinc
 * SCHEDULES N=2: 70: Relacy, here
 */
#include <stdatomic.h>

#include <pfslab/check.h>

static atomic_int counts[3];

static void add_to_all(void *argument)
{
	(void)argument;
	for (int i = 0; i < 3; i++)
		atomic_fetch_add_explicit(&counts[i], 1, memory_order_relaxed);
}

PFS_CHECK_SCENARIO(cinc)
{
	for (int i = 0; i < N; i++)
		pfs_check_thread(add_to_all, 0);
}
