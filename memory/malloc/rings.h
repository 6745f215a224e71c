/*
 * rings.h - what the parts of the cache share: limits, slots, and the registry of all caches.
 *
 * cache.c is what a thread does with its own rings, take.c what is done with those of others;
 * attach.c is how caches come and go, registry.c the list of them.
 */
#ifndef PFS_MALLOC_RINGS_H
#define PFS_MALLOC_RINGS_H

#include "cache.h"

/* All caches, by age. */
struct pfs_registry {
	struct pfs_mutex lock;
	struct pfs_cache *oldest; /* under lock, as all below */
	struct pfs_cache *newest;
	bool had_any;
	bool has_left; /* caches of threads that are not in this process, a child of fork */
	struct pfs_cache *survivor;    /* of the thread that forked, while has_left */
	struct pfs_cache_counts ended; /* of threads that are gone */
};
extern struct pfs_registry pfs_registry __attribute__((visibility("hidden")));

static inline bool pfs_ring_is_revoked(struct pfs_cache_ring *ring)
{
	/* [D2]; relaxed: the registry orders what follows. */
	return pfs_load_relaxed(&ring->low) == PFS_LOW_REVOKED;
}

static inline uint64_t pfs_slot_address(void **slot)
{
	return (uint64_t)(uintptr_t)slot;
}

/* Above the front's places, and one that is none's [CR3]. */
static inline void **pfs_ring_back_slots(const struct pfs_cache_ring *ring)
{
	return ring->slots + ring->front_capacity + 1;
}

/* Under registry; by the owner, or by a taker that took nothing [CR2]. */
static inline void pfs_ring_set_limits(struct pfs_cache_ring *ring)
{
	void **end = pfs_ring_back_slots(ring) + ring->capacity;
	pfs_store_relaxed(&ring->high, pfs_slot_address(end)); /* relaxed: its owner's next look */
	/* relaxed: may come early or late. */
	pfs_store_relaxed(&ring->low, pfs_slot_address(ring->slots));
}

static inline void pfs_ring_revoke(struct pfs_cache_ring *ring)
{
	/* relaxed: the heavy barrier that follows orders them. */
	pfs_store_relaxed(&ring->low, PFS_LOW_REVOKED);   /* [D4] */
	pfs_store_relaxed(&ring->high, PFS_HIGH_REVOKED); /* [D4] */
}

static inline void pfs_ring_set_front(struct pfs_cache_ring *ring, uint32_t count)
{
	/* [D5] release, pairs with [D6]: or a taker could see this, and the owner outside. */
	pfs_store_release(&ring->front, pfs_slot_address(ring->slots + count));
}

static inline void pfs_ring_set_back(struct pfs_cache_ring *ring, uint32_t count)
{
	void **back = pfs_ring_back_slots(ring) + count;
	/* [D5] release, pairs with [D6]: as above. */
	pfs_store_release(&ring->back, pfs_slot_address(back));
}

static inline uint32_t pfs_ring_front_count(struct pfs_cache_ring *ring)
{
	uint64_t front = pfs_load_relaxed(&ring->front); /* relaxed: [CR1] */
	return (uint32_t)((front - pfs_slot_address(ring->slots)) / sizeof(void *));
}

static inline uint32_t pfs_ring_back_count(struct pfs_cache_ring *ring)
{
	uint64_t back = pfs_load_relaxed(&ring->back); /* relaxed: [CR1] */
	return (uint32_t)((back - pfs_slot_address(pfs_ring_back_slots(ring))) / sizeof(void *));
}

/* A stack has so many blocks from here on, and no malloc or free was that. */
static inline void pfs_ring_move_front(struct pfs_cache_ring *ring, uint32_t count)
{
	pfs_bump_owned(&ring->allocated, (uint64_t)count - pfs_ring_front_count(ring));
	pfs_ring_set_front(ring, count);
}

static inline void pfs_ring_move_back(struct pfs_cache_ring *ring, uint32_t count)
{
	pfs_bump_owned(&ring->freed, (uint64_t)pfs_ring_back_count(ring) - count);
	pfs_ring_set_back(ring, count);
}

/* All blocks of a ring that is the caller's [CR1] go to the words; how many. */
uint32_t pfs_ring_give(struct pfs_cache_ring *ring);

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

/* Under the registry, of a ring whoever uses it: what it has, and what was called. Exact while its
 * owner is not inside. */
struct pfs_ring_counts {
	uint64_t held, mallocs, frees;
};
static inline struct pfs_ring_counts pfs_ring_counts(struct pfs_cache_ring *ring)
{
	bool is_revoked = pfs_ring_is_revoked(ring);
	uint64_t front = is_revoked ? 0 : pfs_ring_front_count(ring);
	uint64_t back = is_revoked ? 0 : pfs_ring_back_count(ring);
	/* relaxed: counts */
	uint64_t allocated = pfs_load_relaxed(&ring->allocated);
	uint64_t freed = pfs_load_relaxed(&ring->freed); /* relaxed: a count */
	return (struct pfs_ring_counts){ front + back, allocated - front, freed + back };
}

/* Under the registry: new slots for a back of so many blocks, with what the old ones hold; false:
 * no memory. */
bool pfs_ring_resize(struct pfs_cache *cache, struct pfs_cache_ring *ring, uint32_t capacity);

/* Under the registry; the ring is revoked and empty. */
void pfs_ring_drop_slots(struct pfs_cache *cache, struct pfs_cache_ring *ring);

/* Under the registry, before all caches are gone through: those of threads that are not in this
 * process are buried, their blocks go to the words. How many. */
uint64_t pfs_caches_bury(void);

/* The most blocks that the back of a class's ring may hold. */
uint32_t pfs_ring_capacity_most(const struct pfs_cache *cache, uint32_t class);
#ifdef PFS_SIM_SMALL
#define PFS_RING_CAPACITY_LEAST 2u
#define PFS_SLOTS_TOGETHER 2u
#define PFS_FRONT_MOST 2u
#else
#define PFS_RING_CAPACITY_LEAST 8u
#define PFS_SLOTS_TOGETHER 8u /* are copied */
#define PFS_FRONT_MOST 64u
#endif

/* A cache that nobody knows; NULL: no memory. */
struct pfs_cache *pfs_cache_new(void);

/* Under the registry: it is known from now on. */
void pfs_cache_enlist(struct pfs_cache *cache);

/* Nobody uses the cache any more, and its rings were flushed, if that could be. */
void pfs_cache_retire(struct pfs_cache *cache);

/* Under the registry: is it of a thread that is not in this process? */
bool pfs_cache_is_left(const struct pfs_cache *cache);

/* Under the registry: what a cache has and did is added. */
void pfs_cache_count(struct pfs_cache_counts *counts, struct pfs_cache *cache);

/* Under the registry, or before the cache is known. */
void pfs_cache_join_arena(struct pfs_cache *cache, struct pfs_arena *arena);
void pfs_cache_leave_arena(struct pfs_cache *cache);

/* Under the registry: all slots go; every ring is revoked from now on. */
void pfs_cache_close_rings(struct pfs_cache *cache);

#endif
