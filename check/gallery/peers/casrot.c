/*
 * casrot.c - each thread replaces the number of the one before by its own, if it is there.
 *
 * FIGURE N=5: 43 sc, 43 views: GenMC, tests/correct/synthetic/casrot
 * FIGURE N=8: 2048 sc, 2048 views: GenMC, tests/correct/synthetic/casrot
 * SCHEDULES N=4: 2520: Relacy, here
 */
#include <stdatomic.h>
#include <stdint.h>

#include <pfslab/check.h>

static atomic_int last;

static void replace(void *argument)
{
	int before = (int)(intptr_t)argument;
	atomic_compare_exchange_strong_explicit(&last, &before, before + 1, memory_order_relaxed,
						memory_order_relaxed);
}

PFS_CHECK_SCENARIO(casrot)
{
	for (intptr_t i = 0; i < N; i++)
		pfs_check_thread(replace, (void *)i);
}
