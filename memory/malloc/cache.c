#include "cache.h"

#include <string.h>

#include "arena.h"
#include "choose.h"
#include "conf.h"
#include "die.h"
#include "rings.h"
#include "tick.h"

#define GROWS_EACH_TIME 64u /* a ring grows at each event up to here, then at every fourth */
#define EVENTS_TO_GROW 4u
#define FILLS_TO_GROW 8u
/* Blocks that a thread only frees are needed elsewhere; two words at a time. */
#define FLUSH_GROWS_TO 256u
#define SLOT_BYTES_MOST ((uint32_t)1 << 16) /* for one thread */

/* ---- past the rings ---- */

static bool uses_rings(const struct pfs_cache *cache)
{
	return cache->is_enabled; /* false in pfs_cache_none and pfs_cache_ended */
}

static void *take_direct(struct pfs_cache *cache, uint32_t class)
{
	void *block;
	struct pfs_arena *arena = pfs_cache_arena();
	if (pfs_bin_take(&arena->bins[class], &block, 1) == 0)
		return NULL;
	pfs_choose_pass(cache, 1);
	pfs_cache_bump(cache, &cache->direct_mallocs, 1);
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
	pfs_cache_bump(cache, &cache->direct_frees, 1);
	pfs_cache_note_freed(cache, pfs_classes[class].size_bytes);
}

/* ---- refill and overflow ---- */

/* The ring was found revoked and was left: make it usable again. False: no memory. */
static bool make_usable(struct pfs_cache *cache, struct pfs_cache_ring *ring, uint32_t class)
{
	bool done = true;
	pfs_mutex_lock(&pfs_registry.lock);
	if (pfs_ring_is_revoked(ring) && ring->slots == NULL) {
		uint32_t most = pfs_ring_capacity_most(cache, class);
		uint32_t least = pfs_conf.tags ? PFS_TAGS_TOGETHER : PFS_RING_CAPACITY_LEAST;
		if (most > least)
			most = least;
		done = pfs_ring_resize(cache, ring, most);
	} else if (pfs_ring_is_revoked(ring)) {
		pfs_ring_set_limits(ring);
	}
	pfs_mutex_unlock(&pfs_registry.lock);
	return done;
}

/* On a refill or a flush: grow the ring, up to a bound, if these come often. The ring is entered.
 * */
static void grow(struct pfs_cache *cache, struct pfs_cache_ring *ring, uint32_t class,
		 uint32_t bound)
{
	uint32_t most = pfs_ring_capacity_most(cache, class);
	if (most > bound)
		most = bound;
	/* relaxed: a tick may lower it concurrently; an old value only delays growth. */
	if (ring->capacity >= most || pfs_load_relaxed(&cache->slot_bytes) > SLOT_BYTES_MOST)
		return;
	if (ring->capacity >= GROWS_EACH_TIME && ++ring->events < EVENTS_TO_GROW)
		return;
	ring->events = 0;
	uint32_t wish = ring->capacity * 2u;
	/* entered, so a taker that revoked it puts the limits back */
	pfs_mutex_lock(&pfs_registry.lock);
	(void)pfs_ring_resize(cache, ring, wish < most ? wish : most);
	pfs_mutex_unlock(&pfs_registry.lock);
}

/*
 * The part of a refill's wish that it may take: all threads of the arena together at most half a
 * slab. Otherwise threads that only allocate would fill their rings enough to trigger thefts from
 * each other.
 */
static uint32_t refill_share(const struct pfs_cache *cache, uint32_t class, uint32_t wish)
{
	uint32_t threads = pfs_load_relaxed(&cache->arena->threads); /* relaxed: a guess */
	uint32_t share = pfs_classes[class].regions / (2 * (threads != 0 ? threads : 1));
	if (share < wish)
		wish = share;
	return wish != 0 ? wish : 1;
}

/*
 * How many blocks a refill takes that needs `least`. Threads write the tags of their blocks with
 * each call, and neighbours' tags share a line. So with tags it takes a line of them, or several:
 * from a slab without holes, threads then share none. (With lines shared by two CPUs that have no
 * cache in common, a counted pair of malloc and free takes twice as long.)
 */
static uint32_t whole_lines(const struct pfs_cache_ring *ring, uint32_t have, uint32_t least)
{
	uint32_t wish = (least + PFS_TAGS_TOGETHER - 1) / PFS_TAGS_TOGETHER * PFS_TAGS_TOGETHER;
	return pfs_conf.tags && have + wish <= ring->capacity ? wish : least;
}

/* If the back holds fewer blocks than this, a malloc that finds the front empty also refills from
 * the bin. Otherwise a program that takes and frees the same few blocks would move them every few
 * calls. */
static uint32_t few(const struct pfs_cache_ring *ring)
{
	return (ring->front_capacity + 3u) / 4;
}

/* The front is filled often, and would be longer if the ring were. */
static bool is_filled_often(struct pfs_cache_ring *ring)
{
	return ring->capacity < GROWS_EACH_TIME && ring->front_capacity == ring->capacity &&
	       ++ring->events >= FILLS_TO_GROW;
}

/* Many threads take two or three blocks of a class and end: the first refill does not grow the
 * ring. */
static bool is_first_refill(struct pfs_cache_ring *ring)
{
	return pfs_load_relaxed(&ring->allocated) == 0; /* relaxed: the owner's */
}

/* The ring is entered, its front empty, and the back has few blocks or the front is filled often.
 * Returns how many blocks the back has then. */
static uint32_t refill(struct pfs_cache *cache, struct pfs_cache_ring *ring, uint32_t class)
{
	uint32_t have = pfs_ring_back_count(ring);
	if ((have == 0 || ring->capacity < GROWS_EACH_TIME) && !is_first_refill(ring)) {
		grow(cache, ring, class, UINT32_MAX);
		ring->events = ring->capacity < GROWS_EACH_TIME ? 0 : ring->events;
	}
	uint32_t half = (ring->capacity + 1u) / 2;
	uint32_t wish = refill_share(cache, class, have == 0 ? half : ring->front_capacity);
	if (have >= few(ring) || wish <= have)
		return have;
	pfs_cache_begin_move(cache, class);
	void **slots = pfs_ring_back_slots(ring) + have;
	uint32_t got = pfs_bin_take(&cache->arena->bins[class], slots,
				    whole_lines(ring, have, wish - have));
	pfs_ring_move_back(ring, have + got);
	pfs_cache_end_move(cache);
	return have + got;
}

/*
 * The ring is entered and its front empty: move the newest blocks of the back there [CR4], and
 * return the latest of them. All places of the front are copied even if fewer blocks move: the back
 * has as many places, and the loop then ends where it ended the last time.
 */
static inline void *fill_and_pop(struct pfs_cache *cache, struct pfs_cache_ring *ring,
				 uint64_t have)
{
	uint64_t most = ring->front_capacity;
	uint64_t wish = have < most ? have : most;
	uint64_t go = pfs_choose_fill(cache, ring, wish);
	if (!pfs_likely(go == wish)) /* cut: behind it the back may have fewer places */
		most = go;
	void **to = ring->slots;
	uint64_t back = pfs_load_relaxed(&ring->back) - go * sizeof(*to); /* relaxed: [CR1] */
	void **from = (void **)back; /* NOLINT: addresses are numbers here */
	uint64_t at = 0;
	for (; at + PFS_SLOTS_TOGETHER <= most; at += PFS_SLOTS_TOGETHER)
		memcpy(to + at, from + at, PFS_SLOTS_TOGETHER * sizeof(*to));
	for (; at < most; at++)
		to[at] = from[at];
	void *block = to[go - 1];
	pfs_store_release(&ring->back, back); /* [D5] release, pairs with [D6]: as set_back */
	pfs_bump_owned(&ring->allocated, go);
	pfs_bump_owned(&ring->freed, go);
	/* [D5] release, pairs with [D6]: up to here `inside` is the front's end. */
	pfs_store_release(&ring->front, pfs_slot_address(to + go - 1));
	return block;
}

void *pfs_cache_fill(uint64_t offset)
{
	struct pfs_cache *cache = pfs_cache_own;
	struct pfs_cache_ring *ring = pfs_ring_at(cache, offset);
	uint64_t low = pfs_load_relaxed(&ring->low); /* [D2]; relaxed: it is entered */
	/* Otherwise it is revoked, or not empty: a taker revoked it, found it entered, and put the
	 * limits back. relaxed: [CR1] */
	if (pfs_load_relaxed(&ring->front) != low)
		return NULL;
	uint64_t have = pfs_ring_back_count(ring);
	if (have < few(ring) || is_filled_often(ring))
		return NULL;
	if (!pfs_likely(pfs_choose_is_far(cache, ring)))
		return NULL;
	void *block = fill_and_pop(cache, ring, have);
	pfs_ring_leave(ring);
	return block;
}

void *pfs_cache_refill(uint32_t class)
{
	struct pfs_cache_ring *ring = &pfs_cache_own->rings[class];
	while (pfs_ring_is_revoked(ring)) {
		pfs_ring_leave(ring);
		struct pfs_cache *cache = pfs_cache_attached();
		ring = &cache->rings[class];
		if (!uses_rings(cache) || !make_usable(cache, ring, class))
			return take_direct(cache, class);
		void *popped;
		if (pfs_ring_pop(ring, &popped))
			return popped;
	}
	struct pfs_cache *cache = pfs_cache_own;
	pfs_ring_hold(ring);
	void *block = NULL;
	uint32_t front = pfs_ring_front_count(ring);
	uint32_t back = front == 0 ? refill(cache, ring, class) : 0;
	if (front != 0) { /* as in pfs_cache_fill */
		block = ring->slots[front - 1];
		pfs_ring_set_front(ring, front - 1);
	} else if (back != 0) {
		block = fill_and_pop(cache, ring, back);
	}
	pfs_ring_leave(ring);
	pfs_tick_after_malloc(cache->arena, 0, &cache->slow_calls);
	return block;
}

/* The ring is entered and its back full: flush the older half. */
static void flush_half(struct pfs_cache *cache, struct pfs_cache_ring *ring, uint32_t class,
		       const char *call)
{
	void **slots = pfs_ring_back_slots(ring);
	uint32_t count = pfs_ring_back_count(ring);
	uint32_t go = (count + 1) / 2;
	pfs_cache_begin_move(cache, class);
	if (!pfs_stock_store(&cache->arena->bins[class], slots, go))
		pfs_blocks_give(slots, go, call);
	memmove(slots, slots + go, (count - go) * sizeof(*slots));
	pfs_ring_move_back(ring, count - go);
	pfs_cache_end_move(cache);
}

static void push_back(struct pfs_cache_ring *ring, void *block)
{
	uint32_t count = pfs_ring_back_count(ring);
	pfs_ring_back_slots(ring)[count] = block;
	pfs_ring_set_back(ring, count + 1);
}

void pfs_cache_overflow(void *block, uint32_t class, const char *call)
{
	struct pfs_cache_ring *ring = &pfs_cache_own->rings[class];
	while (pfs_ring_is_revoked(ring)) {
		pfs_ring_leave(ring);
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
	pfs_ring_hold(ring);
	if (pfs_ring_back_slots(ring)[(int64_t)pfs_ring_back_count(ring) - 1] == block)
		pfs_die(call, block, "the block is already free");
	if (pfs_ring_back_count(ring) == ring->capacity) {
		grow(cache, ring, class, FLUSH_GROWS_TO);
		/* Beyond the quick start, flush half even though the ring has grown: blocks that a
		 * thread only frees are needed elsewhere. */
		if (pfs_ring_back_count(ring) == ring->capacity || ring->capacity > GROWS_EACH_TIME)
			flush_half(cache, ring, class, call);
	}
	push_back(ring, block);
	pfs_ring_leave(ring);
	pfs_cache_after_free(cache);
}

/* ---- all of them ---- */

void pfs_cache_bind(struct pfs_arena *arena)
{
	struct pfs_cache *cache = pfs_cache_attached();
	if (cache->arena == NULL || cache->arena == arena)
		return;
	pfs_cache_flush();
	pfs_mutex_lock(&pfs_registry.lock);
	pfs_cache_move(cache, arena);
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
