/*
 * lastzero.c - writers that each store one more than the last one did, and a reader that looks for
 * the last 0 (P. Abdulla, S. Aronis, B. Jonsson and K. Sagonas, "Optimal dynamic partial order
 * reduction", 2014). Which locations the reader looks at depends on what it saw.
 *
 * FIGURE N=4: 28 sc: Nidhugg, tests/smoke/reference.results.txt
 * FIGURE N=5: 64 sc: GenMC, tests/correct/synthetic/lastzero
 * FIGURE N=10: 3328 sc: GenMC, tests/correct/synthetic/lastzero
 * SCHEDULES N=3: 144144: Relacy, here
 */
#include <stdatomic.h>

#include <pfslab/check.h>

static atomic_int array[N + 1];

static void write_next(void *argument)
{
	atomic_int *own = argument;
	atomic_store(own, atomic_load(own - 1) + 1);
}

static void look(void *argument)
{
	int i = N;
	(void)argument;
	while (atomic_load(&array[i]) != 0)
		i--;
}

PFS_CHECK_SCENARIO(lastzero)
{
	pfs_check_thread(look, 0);
	for (int i = 1; i <= N; i++)
		pfs_check_thread(write_next, &array[i]);
}
