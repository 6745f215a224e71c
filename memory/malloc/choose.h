/*
 * choose.h - which mallocs get a guarded block (guard.h): each with the same probability,
 * 1 / guard_rate, independently of all others.
 *
 * The fast path of malloc is not involved. A malloc that finds its ring's front empty moves up to
 * 64 blocks there, and so decides for as many mallocs of the thread and the class. The distance to
 * the next chosen malloc is geometric: `until_guarded` counts it over all the mallocs that a thread
 * decides for, in the order in which it does. If it falls into a fill, that fill is cut before it,
 * so that the chosen malloc finds the front empty: `is_due`. Mallocs that use no ring are counted
 * one by one.
 *
 * With the guarded block the rest of the cut fill goes to the front. So a ring's fills stay where
 * they would have been: a program that calls in a fixed order meets them in a fixed order, which
 * its processor predicts. Without this, `pair` of memory/bench/malloc took 5 % longer.
 *
 * Each malloc's outcome is drawn when it is decided, and the program cannot see it before. So no
 * pattern of calls is chosen more or less often. If blocks leave a front in another way than by
 * malloc, what was decided for them is dropped, is_due as well, and drawn anew for the mallocs that
 * come. This is exact, because the distance has no memory.
 */
#ifndef PFS_MALLOC_CHOOSE_H
#define PFS_MALLOC_CHOOSE_H

#include "cache.h"

struct pfs_arena;

#define PFS_CHOOSE_NEVER UINT64_MAX
/* until_guarded 0: to be drawn, by the next malloc that takes no fast path. */

/* Some mallocs that are not chosen. */
static inline void pfs_choose_pass(struct pfs_cache *cache, uint64_t mallocs)
{
	if (cache->until_guarded > mallocs)
		cache->until_guarded -= mallocs;
}

/* Is a fill of the ring's front surely before the next chosen malloc? */
static inline bool pfs_choose_is_far(const struct pfs_cache *cache,
				     const struct pfs_cache_ring *ring)
{
	return cache->until_guarded > ring->front_capacity && ring->is_due == 0;
}

/* A front is to be filled with `go` blocks. Returns with how many: those before a chosen malloc. */
static inline uint64_t pfs_choose_fill(struct pfs_cache *cache, struct pfs_cache_ring *ring,
				       uint64_t go)
{
	uint64_t until = cache->until_guarded;
	if (pfs_likely(until > go)) {
		cache->until_guarded = until - go;
		return go;
	}
	if (until <= 1) /* before the options are read, or there was no guarded block to give */
		return go;
	ring->is_due = 1;
	cache->cut_ring = ring;
	cache->cut_left = (uint8_t)(go - until);
	cache->until_guarded = 0;
	return until - 1;
}

/* A malloc of a small class whose ring is entered, with an empty front, or revoked. Returns a
 * guarded block, and the ring is left; NULL: an ordinary block is to be given. */
void *pfs_choose_small(uint32_t class, size_t size_bytes);

/* A malloc that uses no ring: the same. The arena is that of an ordinary block. */
void *pfs_choose_large(struct pfs_arena *arena, size_t size_bytes, size_t align_bytes);

#endif
