/*
 * rings.h - what the parts of the cache share: limits, slots, and the registry of all caches.
 *
 * cache.c has what a thread does with its own rings, take.c what it does with those of others.
 * attach.c makes and ends caches, registry.c lists them.
 *
 * Forks. A cache whose `forks` is less than the registry's is LEFT: its thread is in an ancestor of
 * this process, not here. An explicit cache that has fewer may have been in use when the process
 * was forked; it is settled before it is used.
 * Invariants
 * 	[FK1] every cache that is left, or to be settled, is next_left or newer. So a child begins
 * 	     with next_left = oldest, in one step, and each part of the burial advances it.
 * Ordering:  [FK2] forks of an explicit cache: store, release  <->  [FK3] forks: load, acquire
 *            carries: its settled rings, to the thread that uses it
 */
#ifndef PFS_MALLOC_RINGS_H
#define PFS_MALLOC_RINGS_H

#include "cache.h"

/* All caches, by age. */
struct pfs_registry {
	struct pfs_mutex lock;
	struct pfs_cache *oldest; /* under lock, like all below */
	struct pfs_cache *newest;
	bool had_any;
	uint32_t forks;              /* from the first ancestor to this process; by fork's child */
	struct pfs_cache *next_left; /* [FK1]; NULL: no cache is left */
	uint64_t looks;              /* caches examined before slabs were made [a statistic] */
	struct pfs_cache *next_to_tick[2]; /* by `all`: where a tick goes on */
	_Atomic(uint64_t) threads;     /* caches of threads of this process; read by any thread */
	struct pfs_cache_counts ended; /* counts of threads that have ended */
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

/* Above the front's places and the empty one of [CR3]. */
static inline void **pfs_ring_back_slots(const struct pfs_cache_ring *ring)
{
	return ring->slots + ring->front_capacity + 1;
}

/* Under the registry; by the owner, or by a taker that took nothing [CR2]. */
static inline void pfs_ring_set_limits(struct pfs_cache_ring *ring)
{
	void **end = pfs_ring_back_slots(ring) + ring->capacity;
	/* relaxed: for its owner's next check */
	pfs_store_relaxed(&ring->high, pfs_slot_address(end));
	/* relaxed: may be seen early or late. */
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
	/* [D5] release, pairs with [D6]: without it a taker could see this, and the owner outside.
	 * */
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

/* Set a stack's number of blocks, where neither a malloc nor a free changed it. */
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

/* Move all blocks of a ring that the caller owns [CR1] to the words. Returns how many. */
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

/* Under the registry: what any ring holds, and its calls. Exact while its owner is outside. */
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

/* Under the registry: replace the slots by new ones for a back of `capacity` blocks, and keep the
 * blocks. False: no memory. */
bool pfs_ring_resize(struct pfs_cache *cache, struct pfs_cache_ring *ring, uint32_t capacity);

/* Under the registry; the ring is revoked and empty. */
void pfs_ring_drop_slots(struct pfs_cache *cache, struct pfs_cache_ring *ring);

/* Under the registry: bury caches that are left, of PFS_CACHES_TOGETHER caches, with about
 * PFS_BLOCKS_TOGETHER blocks and those of one cache more. bury_all: all. Returns how many blocks
 * went to the words. */
uint64_t pfs_caches_bury(void);
void pfs_caches_bury_all(void);

/* Settle an explicit cache that a parent's thread may have been using, before a call uses it. */
void pfs_cache_settle(struct pfs_cache *cache);

#define PFS_CACHES_TOGETHER 64u
#ifndef PFS_BLOCKS_TOGETHER
#define PFS_BLOCKS_TOGETHER 4096u
#endif

/* The largest capacity for the back of a class's ring. */
uint32_t pfs_ring_capacity_most(const struct pfs_cache *cache, uint32_t class);
#ifdef PFS_SIM_SMALL
#define PFS_RING_CAPACITY_LEAST 2u
#define PFS_SLOTS_TOGETHER 2u
#define PFS_FRONT_MOST 2u
#else
#define PFS_RING_CAPACITY_LEAST 8u
#define PFS_SLOTS_TOGETHER 8u /* copied together */
#define PFS_FRONT_MOST 64u
#endif

#define PFS_TAGS_TOGETHER ((uint32_t)(PFS_LINE / sizeof(uint32_t))) /* in a line */

/* A new cache, not listed yet; NULL: no memory. */
struct pfs_cache *pfs_cache_new(void);

/* Under the registry: list a cache, among its arena's too. */
void pfs_cache_enlist(struct pfs_cache *cache);

/* Unlist and free a cache that is out of use. Its rings were flushed, if that was possible. */
void pfs_cache_retire(struct pfs_cache *cache);

/* Under the registry: does it belong to a thread that is not in this process? */
bool pfs_cache_is_left(const struct pfs_cache *cache);

/* Under the registry: add a cache's counts. */
void pfs_cache_count(struct pfs_cache_counts *counts, struct pfs_cache *cache);

/* Under the registry: bind a listed cache to another arena. */
void pfs_cache_move(struct pfs_cache *cache, struct pfs_arena *arena);

/* Under the registry: free all slots; every ring is revoked from now on. */
void pfs_cache_close_rings(struct pfs_cache *cache);

#endif
