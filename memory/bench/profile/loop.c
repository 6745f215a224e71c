/*
 * loop.c - a program that only allocates and frees, one slice each time that it is told to.
 * scripts/profile_cost.py preloads the library and switches the profile between slices, so that
 * slices of one process are compared.
 *
 * usage: pfs-profile-loop DEPTH PAIRS
 * At a depth of DEPTH functions, blocks of 16 to 512 bytes are replaced at random in a table of
 * 512, PAIRS times for each line of standard input. Each prints a line of JSON: {"cpu_ns", "ns": of
 * the slice, in CPU time and by the clock, "bytes": allocated}. Built with frame pointers and
 * without; and without them by C++'s operator new. Exit 2: bad usage.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/json.h"
#include "base/now.h"

#define BLOCKS 512u
#define DEPTH_MAX 60u

#ifdef LOOP_NEW /* operator new and delete, by their names in C++ */
void *block_new(size_t size_bytes) __asm__("_Znwm");
void block_free(void *block) __asm__("_ZdlPv");
#else
#define block_new malloc
#define block_free free
#endif

static void *blocks[BLOCKS];
static uint64_t state = UINT64_C(0x9E3779B97F4A7C15);

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Returns the bytes that it allocated. */
__attribute__((noinline)) uint64_t work(unsigned depth, uint64_t pairs);
uint64_t work(unsigned depth, uint64_t pairs)
{
	uint64_t bytes = 0;
	if (depth > 1) {
		bytes = work(depth - 1, pairs);
		__asm__ volatile("" : : : "memory"); /* prevents a tail call */
		return bytes;
	}
	for (uint64_t i = 0; i < pairs; i++) {
		uint64_t random = draw();
		size_t size = 16 + random % 497, at = (random >> 32) % BLOCKS;
		block_free(blocks[at]);
		blocks[at] = block_new(size);
		if (blocks[at] == NULL)
			abort();
		bytes += size;
	}
	return bytes;
}

int main(int argc, char **argv)
{
	unsigned long depth = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	uint64_t pairs = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
	if (depth < 1 || depth > DEPTH_MAX || pairs < 1 || pairs > UINT64_C(1) << 40) {
		(void)fprintf(stderr,
			      "pfs-profile-loop: usage: DEPTH, 1 .. %u, and PAIRS, from 1 "
			      "on\n",
			      DEPTH_MAX);
		return 2;
	}
	for (int c = getchar(); c != EOF; c = getchar()) {
		if (c != '\n')
			continue;
		uint64_t ns = pfs_now_ns(CLOCK_MONOTONIC),
			 cpu_ns = pfs_now_ns(CLOCK_THREAD_CPUTIME_ID);
		uint64_t bytes = work((unsigned)depth, pairs);
		cpu_ns = pfs_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
		ns = pfs_now_ns(CLOCK_MONOTONIC) - ns;
		struct pfs_json json = { .out = stdout };
		pfs_json_object(&json, NULL);
		pfs_json_count(&json, "cpu_ns", cpu_ns);
		pfs_json_count(&json, "ns", ns);
		pfs_json_count(&json, "bytes", bytes);
		pfs_json_end(&json);
		(void)fflush(stdout);
	}
	return 0;
}
