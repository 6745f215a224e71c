/*
 * random.h - xorshift64*: one state a thread, reproducible from a seed.
 *
 * Source: S. Vigna, An experimental exploration of Marsaglia's xorshift generators, scrambled, ACM
 * TOMS 42(4), 2016. Shifts 12, 25, 27; multiplier 2685821657736338717.
 */
#ifndef PFS_RANDOM_H
#define PFS_RANDOM_H

#include <stdint.h>

static inline uint64_t pfs_random_next(uint64_t *state)
{
	uint64_t x = *state;
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(2685821657736338717);
}

/* A number below bound, from the high half of a product: no division. Bias at most 2^-32. */
static inline uint32_t pfs_random_below(uint64_t *state, uint32_t bound)
{
	return (uint32_t)(((pfs_random_next(state) >> 32) * bound) >> 32);
}

/* A state that is never 0, different for each thread of a container. */
static inline uint64_t pfs_random_seed(uint64_t seed, uint64_t thread)
{
	uint64_t x = seed + (thread + 1) * UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	x ^= x >> 31;
	return x != 0 ? x : 1;
}

#endif
