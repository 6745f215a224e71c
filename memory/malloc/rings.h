/*
 * rings.h - what the parts of the cache share: limits, slots, and the registry of all caches.
 *
 * cache.c is what a thread does with its own rings, take.c what is done with those of others,
 * registry.c how caches come, are counted and go.
 */
#ifndef PFS_MALLOC_RINGS_H
#define PFS_MALLOC_RINGS_H

#include "cache.h"

/* All caches, by number. */
struct pfs_registry {
	struct pfs_mutex lock;
	struct pfs_cache *oldest; /* under lock, as all below */
	struct pfs_cache *newest;
	uint64_t last_number;
	struct pfs_cache_counts ended; /* of threads that are gone */
};
extern struct pfs_registry pfs_registry __attribute__((visibility("hidden")));

static inline bool pfs_ring_is_revoked(struct pfs_ring *ring)
{
	/* [D2]; relaxed: the registry orders what follows. */
	return pfs_load_relaxed(&ring->low) == PFS_LOW_REVOKED;
}

static inline uint64_t pfs_slot_address(void **slot)
{
	return (uint64_t)(uintptr_t)slot;
}

/* Under registry; by the owner, or by a taker that took nothing [R2]. */
static inline void pfs_ring_set_limits(struct pfs_ring *ring)
{
	/* relaxed: the owner's next look may come early or late. */
	pfs_store_relaxed(&ring->high, pfs_slot_address(ring->slots + ring->capacity));
	pfs_store_relaxed(&ring->low, pfs_slot_address(ring->slots)); /* relaxed: as above */
}

static inline void pfs_ring_revoke(struct pfs_ring *ring)
{
	/* relaxed: the heavy barrier that follows orders them. */
	pfs_store_relaxed(&ring->low, PFS_LOW_REVOKED);   /* [D4] */
	pfs_store_relaxed(&ring->high, PFS_HIGH_REVOKED); /* [D4] */
}

static inline void pfs_ring_set_top(struct pfs_ring *ring, uint32_t count)
{
	pfs_store_relaxed(&ring->top, pfs_slot_address(ring->slots + count)); /* relaxed: [R1] */
}

static inline uint32_t pfs_ring_count(struct pfs_ring *ring)
{
	uint64_t top = pfs_load_relaxed(&ring->top); /* relaxed: [R1] */
	return (uint32_t)((top - pfs_slot_address(ring->slots)) / sizeof(void *));
}

static inline void pfs_cache_begin_move(struct pfs_cache *cache, uint32_t class)
{
	pfs_store_relaxed(&cache->moving, class + 1); /* relaxed: for a forked child */
	pfs_barrier_light();
}

static inline void pfs_cache_end_move(struct pfs_cache *cache)
{
	pfs_barrier_light();
	pfs_store_relaxed(&cache->moving, 0); /* relaxed: for a forked child */
}

/* Of a ring that is not revoked, whoever uses it: a guess. */
static inline uint64_t pfs_ring_guess(struct pfs_ring *ring)
{
	uint64_t low = pfs_load_relaxed(&ring->low); /* relaxed: a guess */
	uint64_t top = pfs_load_relaxed(&ring->top); /* relaxed: a guess */
	return low != PFS_LOW_REVOKED && top > low ? (top - low) / sizeof(void *) : 0;
}

/* Under the registry: new slots for so many blocks, with what the old ones hold; false: no
 * memory. */
bool pfs_ring_resize(struct pfs_cache *cache, struct pfs_ring *ring, uint32_t capacity,
		     uint32_t held);

/* Under the registry; the ring is revoked and empty. */
void pfs_ring_drop_slots(struct pfs_cache *cache, struct pfs_ring *ring);

/* The most blocks that a ring of a class may hold. */
uint32_t pfs_ring_capacity_most(uint32_t class);
#define PFS_RING_CAPACITY_LEAST 7u

/* Under the registry, or before the cache is known. */
void pfs_cache_join_arena(struct pfs_cache *cache, struct pfs_arena *arena);
void pfs_cache_leave_arena(struct pfs_cache *cache);

/* Under the registry: all slots go; every ring is revoked from now on. */
void pfs_cache_close_rings(struct pfs_cache *cache);

#endif
