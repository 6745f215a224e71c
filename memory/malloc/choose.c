/*
 * choose.c - draws which malloc gets a guarded block.
 */
#include "choose.h"

#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "arena.h"
#include "base/random.h"
#include "conf.h"
#include "guarded.h"
#include "rings.h"
#include "system.h"

#define MANTISSA_BITS 52u
#define EXPONENT_BIAS 1023
#define LN_2 0.69314718055994530942
#define DISTANCE_MOST 0x1p62

/* The natural logarithm: number = m * 2^e with m in [1, 2), and ln m = 2 artanh((m - 1) / (m + 1)).
 * No term that is left out is above 2^-45. */
static double logarithm(double number)
{
	uint64_t bits;
	memcpy(&bits, &number, sizeof(bits));
	int exponent = (int)(bits >> MANTISSA_BITS) - EXPONENT_BIAS;
	bits = (bits & ((UINT64_C(1) << MANTISSA_BITS) - 1)) | (uint64_t)EXPONENT_BIAS
								       << MANTISSA_BITS;
	memcpy(&number, &bits, sizeof(number));
	double s = (number - 1) / (number + 1), power = s, sum = 0;
	for (unsigned term = 1; term < 28; term += 2, power *= s * s)
		sum += power / term;
	return 2 * sum + exponent * LN_2;
}

/* Differs between processes and threads; and, from the second draw on, by the time and the process,
 * between a forked child and its parent. The first draw is one of every program, so it calls
 * nothing that a small program would not call. */
static uint64_t seed(const struct pfs_cache *cache)
{
	uint64_t of_process = 0;
	const void *random = (const void *)getauxval(AT_RANDOM); /* NOLINT: 16 bytes */
	if (random != NULL)
		memcpy(&of_process, random, sizeof(of_process));
	of_process ^= (uintptr_t)cache;
	return cache->random == 0 ? of_process
				  : of_process ^ (uint64_t)getpid() << 40 ^ pfs_system_now();
}

/* Geometric: how many mallocs up to the next chosen one, that included. */
static uint64_t draw(struct pfs_cache *cache)
{
	if (pfs_conf.guard_rate <= 1)
		return pfs_conf.guard_rate == 0 ? PFS_CHOOSE_NEVER : 1;
	cache->random = pfs_random_seed(seed(cache), cache->random);
	double uniform = (double)((pfs_random_next(&cache->random) >> 11) + 1) * 0x1p-53;
	double distance = logarithm(uniform) / logarithm(1 - 1.0 / pfs_conf.guard_rate);
	return distance < DISTANCE_MOST ? (uint64_t)distance + 1 : (uint64_t)DISTANCE_MOST;
}

static void draw_if_due(struct pfs_cache *cache)
{
	if (cache->until_guarded == 0 && pfs_conf_start())
		cache->until_guarded = draw(cache);
}

/* Is the malloc that comes next the one? */
static bool is_next(struct pfs_cache *cache)
{
	draw_if_due(cache);
	if (cache->until_guarded != 1)
		return false;
	cache->until_guarded = 0;
	return true;
}

/* A revoked ring may be a taker's; what is due stays due until it is usable again. */
static bool take_due(struct pfs_cache_ring *ring)
{
	bool is_due = !pfs_ring_is_revoked(ring) && ring->is_due != 0 &&
		      pfs_ring_front_count(ring) == 0;
	if (is_due)
		ring->is_due = 0;
	return is_due;
}

/* The fill that the chosen malloc is in would move so many blocks more. */
static uint32_t rest_of(const struct pfs_cache *cache, struct pfs_cache_ring *ring, bool is_due)
{
	if (is_due)
		return cache->cut_ring == ring ? cache->cut_left : 0;
	if (pfs_ring_is_revoked(ring)) /* it may be a taker's */
		return 0;
	uint32_t back = pfs_ring_back_count(ring), most = ring->front_capacity;
	back = back < most ? back : most;
	return back != 0 ? back - 1 : 0;
}

/* The ring is held. Move blocks of the back to the empty front, up to the next chosen malloc. */
static void fill_rest(struct pfs_cache *cache, struct pfs_cache_ring *ring, uint32_t wish)
{
	if (pfs_ring_is_revoked(ring) || pfs_ring_front_count(ring) != 0)
		return;
	uint32_t back = pfs_ring_back_count(ring);
	draw_if_due(cache);
	if (wish > back)
		wish = back;
	if (wish == 0 || wish > ring->front_capacity || cache->until_guarded <= 1)
		return;
	uint32_t go = (uint32_t)pfs_choose_fill(cache, ring, wish);
	memcpy(ring->slots, pfs_ring_back_slots(ring) + back - go, go * sizeof(*ring->slots));
	pfs_ring_move_back(ring, back - go); /* [CR4] */
	pfs_ring_move_front(ring, go);
}

void *pfs_choose_small(uint32_t class, size_t size_bytes)
{
	struct pfs_cache *cache = pfs_cache_attached();
	struct pfs_cache_ring *ring = &cache->rings[class];
	if (cache->arena == NULL) /* the thread has ended, or there is no memory */
		return NULL;
	bool is_due = take_due(ring);
	if (pfs_likely(!is_due && !is_next(cache)))
		return NULL;
	uint32_t rest = rest_of(cache, ring, is_due);
	pfs_ring_leave(ring);
	void *block = pfs_guard_new(cache->arena, size_bytes, 1);
	pfs_ring_hold(ring);
	fill_rest(cache, ring, rest + (block == NULL));
	if (block != NULL)
		pfs_ring_leave(ring);
	return block;
}

void *pfs_choose_large(struct pfs_arena *arena, size_t size_bytes, size_t align_bytes)
{
	struct pfs_cache *cache = pfs_cache_attached();
	if (cache->arena == NULL)
		return NULL;
	if (pfs_likely(!is_next(cache))) {
		pfs_choose_pass(cache, 1);
		return NULL;
	}
	return pfs_guard_new(arena, size_bytes, align_bytes);
}
