/*
 * take.c - takes blocks from other threads' rings to the words: when a bin would need a new slab,
 * and when a ring was idle for a tick.
 */
#include "arena.h"
#include "conf.h"
#include "rack.h"
#include "rings.h"
#include "slot_memory.h"

#define BATCH 128u      /* rings revoked together */
#define LOOKS_MOST 256u /* caches examined for a slab */
_Static_assert(PFS_SMALL_COUNT <= BATCH, "one cache's rings");

/* After the barrier. */
static bool is_inside(struct pfs_cache_ring *ring)
{
	uint32_t before = pfs_load_acquire(&ring->inside); /* [D3] acquire, pairs with [D1] */
	/* [D6] acquire, both, pairs with [D5]. */
	uint32_t front = (uint32_t)pfs_load_acquire(&ring->front);
	uint32_t back = (uint32_t)pfs_load_acquire(&ring->back); /* [D6] acquire, as above */
	uint32_t after = pfs_load_acquire(&ring->inside);        /* [D3] acquire, as above */
	return before != after || before == PFS_INSIDE || before == front || before == back;
}

/* Under the registry, after the barrier: move a revoked ring's blocks to the words; or, if its
 * owner is inside, restore the limits. Returns how many blocks. */
static uint32_t take_ring(struct pfs_cache *cache, struct pfs_cache_ring *ring, bool keep_slots)
{
	if (is_inside(ring)) {
		pfs_ring_set_limits(ring);
		return 0;
	}
	uint32_t count = pfs_ring_give(ring);
	if (!keep_slots)
		pfs_ring_drop_slots(cache, ring);
	return count;
}

struct batch {
	struct pfs_cache *caches[BATCH];
	struct pfs_cache_ring *rings[BATCH];
	uint32_t used;
	bool keep_slots;
	bool has_others; /* a ring of a cache that the calling thread does not own now */
	bool is_in_use;  /* rings were used since the last tick, or are being used */
};

static void batch_add(struct batch *batch, struct pfs_cache *cache, struct pfs_cache_ring *ring)
{
	pfs_ring_revoke(ring);
	batch->caches[batch->used] = cache;
	batch->rings[batch->used++] = ring;
	batch->has_others |= cache != pfs_cache_mine();
}

/* One barrier for all rings, unless they are the caller's own: those need none. If it is refused,
 * nothing is taken and the owners continue. */
static uint64_t batch_take(struct batch *batch)
{
	uint64_t taken = 0;
	bool is_ordered = !batch->has_others || pfs_barrier_heavy();
	for (uint32_t i = 0; i < batch->used; i++) {
		if (is_ordered)
			taken += take_ring(batch->caches[i], batch->rings[i], batch->keep_slots);
		else
			pfs_ring_set_limits(batch->rings[i]);
		batch->is_in_use |= is_ordered && !pfs_ring_is_revoked(batch->rings[i]);
	}
	batch->used = 0;
	batch->has_others = false;
	return taken;
}

/* The caches of an arena that are examined for one slab: consecutive ones, from where the bin's
 * last look ended. */
struct window {
	struct pfs_cache *first, *end;
	uint32_t count;
};

static struct window window_of(const struct pfs_bin *bin)
{
	uint32_t all = bin->arena->cache_count;
	struct pfs_cache *first = bin->look_next != NULL ? bin->look_next : bin->arena->caches;
	return (struct window){ first, NULL,
				pfs_conf.strict || all < LOOKS_MOST ? all : LOOKS_MOST };
}

/* What is left needs no barrier, and is buried in parts. */
static bool is_passed_over(const struct pfs_cache *cache)
{
	return cache == pfs_cache_mine() || pfs_cache_is_left(cache);
}

/* Finds the window's end, too. */
static uint64_t held_by_others(struct window *window, uint32_t class)
{
	uint64_t held = 0;
	struct pfs_cache *cache = window->first;
	for (uint32_t i = 0; i < window->count; i++, cache = cache->next_here)
		if (!is_passed_over(cache))
			held += pfs_ring_counts(&cache->rings[class]).held;
	window->end = cache;
	return held;
}

/* Take what the window's rings hold. */
static uint64_t take_window(const struct window *window, uint32_t class)
{
	struct batch batch = { .used = 0, .keep_slots = true };
	uint64_t taken = 0;
	struct pfs_cache *cache = window->first;
	for (uint32_t i = 0; i < window->count; i++, cache = cache->next_here) {
		struct pfs_cache_ring *ring = &cache->rings[class];
		if (is_passed_over(cache) || pfs_ring_counts(ring).held == 0)
			continue;
		if (batch.used == BATCH)
			taken += batch_take(&batch);
		batch_add(&batch, cache, ring);
	}
	return taken + batch_take(&batch);
}

/* If there are more caches than the window has, those in it stand for all: a barrier must be worth
 * their share of a slab. */
bool pfs_caches_take_back(struct pfs_bin *bin, bool *is_held)
{
	uint64_t taken = 0;
	uint32_t slack = pfs_conf.strict ? 1 : pfs_classes[bin->class].regions;
	pfs_mutex_lock(&pfs_registry.lock);
	uint64_t buried = pfs_caches_bury();
	struct window window = window_of(bin);
	uint64_t held = held_by_others(&window, bin->class);
	bool is_worth = held != 0 &&
			held * bin->arena->cache_count >= (uint64_t)slack * window.count;
	if (is_worth)
		taken = take_window(&window, bin->class);
	bin->look_next = window.end;
	pfs_registry.looks += window.count;
	pfs_mutex_unlock(&pfs_registry.lock);
	*is_held = is_worth && taken < slack;
	return taken + buried != 0;
}

/* Was a ring not used since the last tick, or does `all` ask for every ring? */
static bool is_idle(struct batch *batch, struct pfs_cache *cache, uint32_t class, bool all)
{
	struct pfs_cache_ring *ring = &cache->rings[class];
	struct pfs_ring_counts counts = pfs_ring_counts(ring);
	uint32_t calls = (uint32_t)(counts.mallocs + counts.frees);
	bool is_same = calls == cache->seen_calls[class];
	cache->seen_calls[class] = calls;
	batch->is_in_use |= !is_same;
	return is_same || all;
}

/* Revoke a cache's idle rings, and free what is idle on its rack. Returns how many blocks the rings
 * hold. */
static uint64_t tick_cache(struct batch *batch, struct pfs_cache *cache, bool all)
{
	uint64_t held = 0;
	if (all)
		(void)pfs_rack_empty(cache);
	else
		batch->is_in_use |= pfs_rack_tick(cache);
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++) {
		struct pfs_cache_ring *ring = &cache->rings[class];
		if (!is_idle(batch, cache, class, all))
			continue;
		if (pfs_ring_is_revoked(ring)) { /* [CR1] for a slab, which left it its slots */
			pfs_ring_drop_slots(cache, ring);
			continue;
		}
		held += pfs_ring_counts(ring).held;
		batch_add(batch, cache, ring);
	}
	return held;
}

bool pfs_caches_tick_some(bool all, bool is_first, struct pfs_caches_ticked *ticked)
{
	struct batch batch = { .used = 0, .keep_slots = false };
	struct pfs_cache **next = &pfs_registry.next_to_tick[all];
	pfs_mutex_lock(&pfs_registry.lock);
	uint64_t held = pfs_caches_bury();
	ticked->taken += held;
	if (is_first)
		*next = pfs_registry.oldest;
	for (uint32_t looks = 0;
	     *next != NULL && looks < PFS_CACHES_TOGETHER &&
	     batch.used + PFS_SMALL_COUNT <= BATCH && held < PFS_BLOCKS_TOGETHER;
	     looks++) {
		if (!pfs_cache_is_left(*next))
			held += tick_cache(&batch, *next, all);
		*next = (*next)->next;
	}
	ticked->taken += batch_take(&batch);
	ticked->is_in_use |= batch.is_in_use;
	bool is_over = *next == NULL && pfs_registry.next_left == NULL;
	pfs_mutex_unlock(&pfs_registry.lock);
	ticked->is_in_use |= pfs_slot_memory_purge();
	return !is_over;
}

uint64_t pfs_caches_tick(bool all)
{
	struct pfs_caches_ticked ticked = { .taken = 0 };
	bool is_more = pfs_caches_tick_some(all, true, &ticked);
	while (is_more)
		is_more = pfs_caches_tick_some(all, false, &ticked);
	return ticked.taken;
}
