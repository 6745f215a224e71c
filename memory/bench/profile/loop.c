/*
 * loop.c - a program that only allocates and frees, or resizes. scripts/profile_cost.py preloads a
 * library, and takes the CPU time of the whole process.
 *
 * usage: pfs-profile-loop-NAME DEPTH PAIRS
 * At a depth of DEPTH functions, blocks of 16 to 512 bytes are replaced at random in a table of
 * 512, PAIRS times. Prints {"bytes": allocated}. Built with frame pointers and without, each by
 * malloc, by C++'s operator new, and by realloc, which resizes the block of the table instead.
 * Exit 2: bad usage.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"

#define BLOCKS 512u
#define DEPTH_MAX 60u

#ifdef LOOP_NEW /* operator new and delete, by their names in C++ */
void *block_new(size_t size_bytes) __asm__("_Znwm");
void block_free(void *block) __asm__("_ZdlPv");
#else
#define block_new malloc
#define block_free free
#endif

static void *renewed(void *block, size_t size_bytes)
{
#ifdef LOOP_REALLOC
	return realloc(block, size_bytes);
#else
	block_free(block);
	return block_new(size_bytes);
#endif
}

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
		blocks[at] = renewed(blocks[at], size);
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
	struct pfs_json json = { .out = stdout };
	pfs_json_object(&json, NULL);
	pfs_json_count(&json, "bytes", work((unsigned)depth, pairs));
	pfs_json_end(&json);
	return 0;
}
