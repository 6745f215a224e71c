#include "cache.h"

#include <string.h>

#include "arena.h"
#include "conf.h"
#include "die.h"
#include "rings.h"
#include "tick.h"

#define GROWS_EACH_TIME 63u /* up to here; then every fourth time */
#define EVENTS_TO_GROW 4u
#define FLUSH_GROWS_TO 255u /* what a thread only frees is wanted elsewhere; two words at a time */
#define SLOT_BYTES_MOST ((uint32_t)1 << 16) /* of a thread */

/* ---- past the rings ---- */

static bool uses_rings(const struct pfs_cache *cache)
{
	return cache->is_enabled; /* never, of pfs_cache_none and pfs_cache_ended */
}

static void *take_direct(struct pfs_cache *cache, uint32_t class)
{
	void *block;
	struct pfs_arena *arena = pfs_cache_arena();
	if (pfs_bin_take(&arena->bins[class], &block, 1) == 0)
		return NULL;
	pfs_bump_owned(&cache->direct_mallocs, 1);
	pfs_cache_note_new(cache, pfs_classes[class].size_bytes);
	return block;
}

void *pfs_cache_take_one(uint32_t class)
{
	return take_direct(pfs_cache_attached(), class);
}

static void give_direct(struct pfs_cache *cache, void *block, uint32_t class, const char *call)
{
	pfs_blocks_give(&block, 1, call);
	pfs_bump_owned(&cache->direct_frees, 1);
	pfs_cache_note_freed(cache, pfs_classes[class].size_bytes);
}

/* ---- refill and overflow ---- */

/* The ring was found revoked, and is left: make it the owner's again. False: no memory. */
static bool make_usable(struct pfs_cache *cache, struct pfs_ring *ring, uint32_t class)
{
	bool done = true;
	pfs_mutex_lock(&pfs_registry.lock);
	if (pfs_ring_is_revoked(ring) && ring->slots == NULL) {
		uint32_t most = pfs_ring_capacity_most(class);
		if (most > PFS_RING_CAPACITY_LEAST)
			most = PFS_RING_CAPACITY_LEAST;
		done = pfs_ring_resize(cache, ring, most, 0);
	} else if (pfs_ring_is_revoked(ring)) {
		pfs_ring_set_top(ring, 0);
		pfs_ring_set_limits(ring);
	}
	pfs_mutex_unlock(&pfs_registry.lock);
	return done;
}

/* A refill or a flush: more capacity, if they come often, up to a bound. The ring is entered. */
static void grow(struct pfs_cache *cache, struct pfs_ring *ring, uint32_t class, uint32_t bound)
{
	uint32_t most = pfs_ring_capacity_most(class);
	if (most > bound)
		most = bound;
	/* relaxed: a bound that a tick may loosen. */
	if (ring->capacity >= most || pfs_load_relaxed(&cache->slot_bytes) > SLOT_BYTES_MOST)
		return;
	if (ring->capacity >= GROWS_EACH_TIME && ++ring->events < EVENTS_TO_GROW)
		return;
	ring->events = 0;
	uint32_t wish = ring->capacity * 2u + 1;
	pfs_mutex_lock(&pfs_registry.lock);
	/* Revoked meanwhile: the taker, who lets an entered ring be, has not put it back yet, or
	 * never will if there is no room for slots; the next call sees to it. */
	if (!pfs_ring_is_revoked(ring))
		(void)pfs_ring_resize(cache, ring, wish < most ? wish : most, pfs_ring_count(ring));
	pfs_mutex_unlock(&pfs_registry.lock);
}

/*
 * Half a ring; but all threads of the arena together no more than half a slab, so that threads
 * which only allocate do not make each other's rings a reason to take from them.
 */
static uint32_t refill_count(struct pfs_cache *cache, struct pfs_ring *ring, uint32_t class)
{
	uint32_t half = (ring->capacity + 1u) / 2;
	uint32_t threads = pfs_load_relaxed(&cache->arena->threads); /* relaxed: a guess */
	uint32_t share = pfs_classes[class].regions / (2 * (threads != 0 ? threads : 1));
	if (share < half)
		half = share;
	return half != 0 ? half : 1;
}

/* The ring is entered and empty. A block of the bin's, and up to half a ring more. */
static void *refill(struct pfs_cache *cache, struct pfs_ring *ring, uint32_t class)
{
	grow(cache, ring, class, UINT32_MAX);
	pfs_cache_begin_move(cache, class);
	uint32_t count = refill_count(cache, ring, class);
	uint32_t got = pfs_bin_take(&cache->arena->bins[class], ring->slots, count);
	void *block = got != 0 ? ring->slots[got - 1] : NULL;
	if (got != 0)
		pfs_ring_set_top(ring, got - 1);
	pfs_cache_end_move(cache);
	pfs_bump_owned(&ring->refilled, got);
	return block;
}

void *pfs_cache_refill(uint32_t class)
{
	struct pfs_ring *ring = &pfs_cache_own->rings[class];
	while (pfs_ring_is_revoked(ring)) {
		pfs_ring_cancel(ring);
		struct pfs_cache *cache = pfs_cache_attached();
		ring = &cache->rings[class];
		if (!uses_rings(cache) || !make_usable(cache, ring, class))
			return take_direct(cache, class);
		void *popped;
		if (pfs_ring_pop(ring, &popped))
			return popped;
	}
	struct pfs_cache *cache = pfs_cache_own;
	/* It may have blocks: a taker revoked it, found it entered, and put the limits back. */
	uint32_t held = pfs_ring_count(ring);
	void *block = held != 0 ? ring->slots[held - 1] : refill(cache, ring, class);
	if (held != 0)
		pfs_ring_set_top(ring, held - 1);
	if (block != NULL)
		pfs_ring_leave(ring);
	else
		pfs_ring_cancel(ring);
	pfs_tick_after_malloc(&cache->slow_calls);
	return block;
}

/* The ring is entered and full: its older half goes. */
static void flush_half(struct pfs_cache *cache, struct pfs_ring *ring, uint32_t class,
		       const char *call)
{
	uint32_t count = pfs_ring_count(ring);
	uint32_t go = (count + 1) / 2;
	pfs_cache_begin_move(cache, class);
	pfs_blocks_give(ring->slots, go, call);
	memmove(ring->slots, ring->slots + go, (count - go) * sizeof(*ring->slots));
	pfs_ring_set_top(ring, count - go);
	pfs_cache_end_move(cache);
	pfs_bump_owned(&ring->flushed, go);
}

static void push_top(struct pfs_ring *ring, void *block)
{
	uint32_t count = pfs_ring_count(ring);
	ring->slots[count] = block;
	pfs_ring_set_top(ring, count + 1);
}

void pfs_cache_overflow(void *block, uint32_t class, const char *call)
{
	struct pfs_ring *ring = &pfs_cache_own->rings[class];
	while (pfs_ring_is_revoked(ring)) {
		pfs_ring_cancel(ring);
		struct pfs_cache *cache = pfs_cache_attached();
		ring = &cache->rings[class];
		if (!uses_rings(cache) || !make_usable(cache, ring, class)) {
			give_direct(cache, block, class, call);
			return;
		}
		if (pfs_ring_push(ring, block))
			return;
	}
	struct pfs_cache *cache = pfs_cache_own;
	if (ring->slots[(int64_t)pfs_ring_count(ring) - 1] == block)
		pfs_die(call, block, "the block is free already");
	if (pfs_ring_count(ring) == ring->capacity) {
		grow(cache, ring, class, FLUSH_GROWS_TO);
		/* Half goes also where it has grown beyond the quick start: what a thread only
		 * frees is wanted elsewhere. */
		if (pfs_ring_count(ring) == ring->capacity || ring->capacity > GROWS_EACH_TIME)
			flush_half(cache, ring, class, call);
	}
	push_top(ring, block);
	pfs_ring_leave(ring);
	pfs_tick_after_free(&cache->slow_calls);
}

/* ---- all of them ---- */

/* All of a ring of the calling thread's. */
static void flush_ring(struct pfs_cache *cache, uint32_t class)
{
	struct pfs_ring *ring = &cache->rings[class];
	pfs_ring_enter(ring);
	if (!pfs_ring_is_revoked(ring)) {
		uint32_t count = pfs_ring_count(ring);
		pfs_cache_begin_move(cache, class);
		pfs_blocks_give(ring->slots, count, "free");
		pfs_ring_set_top(ring, 0);
		pfs_cache_end_move(cache);
		pfs_bump_owned(&ring->flushed, count);
	}
	pfs_ring_cancel(ring);
}

void pfs_cache_flush(void)
{
	struct pfs_cache *cache = pfs_cache_own;
	if (cache == &pfs_cache_none || cache == &pfs_cache_ended)
		return;
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class++)
		flush_ring(cache, class);
}

void pfs_cache_bind(struct pfs_arena *arena)
{
	struct pfs_cache *cache = pfs_cache_attached();
	if (cache->arena == NULL || cache->arena == arena)
		return;
	pfs_cache_flush();
	pfs_mutex_lock(&pfs_registry.lock);
	pfs_cache_leave_arena(cache);
	pfs_cache_join_arena(cache, arena);
	pfs_mutex_unlock(&pfs_registry.lock);
}

bool pfs_cache_enable(bool enabled)
{
	struct pfs_cache *cache = pfs_cache_attached();
	bool before = cache->is_enabled;
	if (cache == &pfs_cache_none || cache == &pfs_cache_ended || before == enabled)
		return before;
	if (!enabled) {
		pfs_cache_flush();
		pfs_mutex_lock(&pfs_registry.lock);
		pfs_cache_close_rings(cache);
		pfs_mutex_unlock(&pfs_registry.lock);
	}
	cache->is_enabled = enabled;
	return before;
}
