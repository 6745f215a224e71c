/*
 * cost.c - the cost of a sample: pairs of malloc and free of 1000 bytes at a given depth of
 * functions, in CPU time, the fastest of several rounds. Run it with every block sampled, and with
 * none:
 *
 * 	pfs-mem run --lg-prof-sample 1 -- sampling-cost-kept 20
 * 	pfs-mem run --lg-prof-sample 40 -- sampling-cost-kept 20
 *
 * usage: sampling-cost-kept|omitted DEPTH [BYTES [PAIRS [SITES]]]
 * PAIRS: in a round, 2000. SITES: 2, so that no stack is the one before; or 1.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 40u

static uint64_t now_ns(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static uint64_t fastest_ns = UINT64_MAX;
static unsigned pairs = 2000, sites = 1;

__attribute__((noinline)) void work(unsigned depth, size_t bytes);
void work(unsigned depth, size_t bytes)
{
	if (depth > 1) {
		work(depth - 1, bytes);
		__asm__ volatile("" : : : "memory");
		return;
	}
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t begin_ns = now_ns();
		for (unsigned i = 0; i < pairs; i++) {
			void *block;
			if (i % sites == 0) {
				block = malloc(bytes);
				__asm__ volatile("" : : "r"(block) : "memory");
			} else {
				block = malloc(bytes);
				__asm__ volatile("nop" : : "r"(block) : "memory");
			}
			free(block);
		}
		uint64_t took_ns = now_ns() - begin_ns;
		if (took_ns < fastest_ns)
			fastest_ns = took_ns;
	}
}

int main(int argc, char **argv)
{
	unsigned depth = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 20;
	size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	pairs = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : pairs;
	sites = argc > 4 && strcmp(argv[4], "2") == 0 ? 2 : 1;
	work(depth, bytes);
	(void)printf("%u functions, %zu bytes: %.1f ns a pair\n", depth, bytes,
		     (double)fastest_ns / pairs);
	return 0;
}
