/*
 * fib.c - two threads add up each other's number N times, a third reads both (SV-COMP, fib_bench):
 * what it sees is at most the Fibonacci number of 2N + 2.
 *
 * FIGURE N=1: 11 sc: Nidhugg, tests/smoke/reference.results.txt
 * FIGURE N=2: 140 sc: Nidhugg, tests/smoke/reference.results.txt
 * FIGURE N=5: 218243 sc: GenMC, tests/correct/synthetic/fib_bench
 */
#include <stdatomic.h>

#include <pfslab/check.h>

static atomic_int first = 1, second = 1;

static int fibonacci(int n)
{
	int number = 0, next = 1;
	for (; n > 0; n--) {
		int sum = number + next;
		number = next;
		next = sum;
	}
	return number;
}

static void add_to_first(void *argument)
{
	(void)argument;
	for (int i = 0; i < N; i++) {
		int own = atomic_load(&first);
		atomic_store(&first, own + atomic_load(&second));
	}
}

static void add_to_second(void *argument)
{
	(void)argument;
	for (int i = 0; i < N; i++) {
		int other = atomic_load(&first);
		atomic_store(&second, other + atomic_load(&second));
	}
}

static void look(void *argument)
{
	int one = atomic_load(&first), other = atomic_load(&second), most = fibonacci(2 * N + 2);
	(void)argument;
	pfs_check_assert(one <= most && other <= most);
}

PFS_CHECK_SCENARIO(fib)
{
	pfs_check_thread(add_to_first, 0);
	pfs_check_thread(add_to_second, 0);
	pfs_check_thread(look, 0);
}
