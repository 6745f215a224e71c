/*
 * registry.c - the list of all caches; their counts; and burying caches whose threads are not in
 * this process.
 */
#include <string.h>

#include "arena.h"
#include "choose.h"
#include "conf.h"
#include "rings.h"
#include "rack.h"

static struct pfs_base_pool cache_pool;

void pfs_caches_start(void)
{
	pfs_mutex_init(&pfs_registry.lock);
}

void pfs_cache_enlist(struct pfs_cache *cache)
{
	pfs_arena_add_cache(cache);
	pfs_registry.had_any = true;
	/* relaxed: under the registry; [XC1] carries an explicit one's */
	pfs_store_relaxed(&cache->forks, pfs_registry.forks);
	cache->next = NULL;
	cache->previous = pfs_registry.newest;
	if (pfs_registry.newest != NULL)
		pfs_registry.newest->next = cache;
	else
		pfs_registry.oldest = cache;
	pfs_registry.newest = cache;
	if (!cache->is_explicit)
		pfs_bump_owned(&pfs_registry.threads, 1);
}

/* Whatever would continue with this cache continues with the next one. */
static void unlist(struct pfs_cache *cache)
{
	pfs_arena_remove_cache(cache);
	for (uint32_t all = 0; all < 2; all++)
		if (pfs_registry.next_to_tick[all] == cache)
			pfs_registry.next_to_tick[all] = cache->next;
	if (pfs_registry.next_left == cache)
		pfs_registry.next_left = cache->next;
	if (cache->next != NULL)
		cache->next->previous = cache->previous;
	else
		pfs_registry.newest = cache->previous;
	if (cache->previous != NULL)
		cache->previous->next = cache->next;
	else
		pfs_registry.oldest = cache->next;
}

static void join_arena(struct pfs_cache *cache)
{
	if (!cache->is_explicit)
		/* relaxed: a preference */
		(void)pfs_fetch_add_relaxed(&cache->arena->threads, 1);
}

static void leave_arena(struct pfs_cache *cache)
{
	if (!cache->is_explicit)
		/* relaxed: as above */
		(void)pfs_fetch_add_relaxed(&cache->arena->threads, UINT32_MAX);
}

void pfs_cache_move(struct pfs_cache *cache, struct pfs_arena *arena)
{
	leave_arena(cache);
	pfs_arena_remove_cache(cache);
	cache->arena = arena;
	pfs_arena_add_cache(cache);
	join_arena(cache);
}

struct pfs_cache *pfs_cache_new(void)
{
	struct pfs_cache *cache = pfs_base_new(&cache_pool, sizeof(*cache));
	if (cache == NULL)
		return NULL;
	memcpy((void *)cache, (const void *)&pfs_cache_none, offsetof(struct pfs_cache, arena));
	memset((char *)cache + offsetof(struct pfs_cache, arena), 0,
	       sizeof(*cache) - offsetof(struct pfs_cache, arena));
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++)
		/* relaxed: not published yet */
		pfs_store_relaxed(&cache->rings[class].inside, PFS_OUTSIDE);
	cache->is_enabled = pfs_conf.tcache;
	if (pfs_conf.guard_rate == 0)
		cache->until_guarded = PFS_CHOOSE_NEVER;
	return cache;
}

static void cache_free(struct pfs_cache *cache)
{
	if (cache->front != NULL)
		pfs_base_free(&cache_pool, cache->front);
	pfs_rack_end(cache);
	pfs_base_free(&cache_pool, cache);
}

bool pfs_cache_is_left(const struct pfs_cache *cache)
{
	/* relaxed: under the registry */
	return !cache->is_explicit && pfs_load_relaxed(&cache->forks) != pfs_registry.forks;
}

uint32_t pfs_caches_threads(void)
{
	return (uint32_t)pfs_load_relaxed(&pfs_registry.threads); /* relaxed: a count */
}

void pfs_cache_close_rings(struct pfs_cache *cache)
{
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++) {
		struct pfs_cache_ring *ring = &cache->rings[class];
		/* A flush skips a ring that another thread is revoking, and that thread takes
		 * nothing from a ring that it finds entered. */
		if (!pfs_ring_is_revoked(ring))
			(void)pfs_ring_give(ring);
		pfs_ring_revoke(ring);
		pfs_ring_drop_slots(cache, ring);
	}
}

/* ---- counts ---- */

static void count_direct(struct pfs_cache_counts *counts, struct pfs_cache *cache)
{
	counts->direct_mallocs += pfs_load_relaxed(&cache->direct_mallocs); /* relaxed: a count */
	counts->direct_frees += pfs_load_relaxed(&cache->direct_frees);     /* relaxed: a count */
}

void pfs_cache_count(struct pfs_cache_counts *counts, struct pfs_cache *cache)
{
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++) {
		struct pfs_ring_counts ring = pfs_ring_counts(&cache->rings[class]);
		counts->blocks[class] += ring.held;
		counts->mallocs[class] += ring.mallocs;
		counts->frees[class] += ring.frees;
	}
	pfs_rack_count(counts, cache);
	counts->slot_bytes += pfs_load_relaxed(&cache->slot_bytes); /* relaxed: a count */
	count_direct(counts, cache);
}

void pfs_caches_count(struct pfs_cache_counts *counts)
{
	pfs_mutex_lock(&pfs_registry.lock);
	pfs_caches_bury_all();
	*counts = pfs_registry.ended;
	/* of threads before their first cache, and after their last destructor */
	count_direct(counts, &pfs_cache_none);
	count_direct(counts, &pfs_cache_ended);
	for (struct pfs_cache *cache = pfs_registry.oldest; cache != NULL; cache = cache->next) {
		pfs_cache_count(counts, cache);
		counts->threads += cache->is_explicit ? 0 : 1;
	}
	pfs_mutex_unlock(&pfs_registry.lock);
}

uint64_t pfs_caches_held_bytes(const struct pfs_arena *arena)
{
	uint64_t bytes = 0;
	pfs_mutex_lock(&pfs_registry.lock);
	pfs_caches_bury_all();
	struct pfs_cache *cache = pfs_registry.oldest;
	struct pfs_cache_counts counts = { .rack_bytes = 0 };
	for (; cache != NULL; cache = cache->next) {
		if (cache->arena == arena)
			pfs_rack_count(&counts, cache);
		for (uint32_t class = 0; class < PFS_SMALL_COUNT && cache->arena == arena; class ++)
			bytes += pfs_ring_counts(&cache->rings[class]).held *
				 pfs_classes[class].size_bytes;
	}
	bytes += counts.rack_bytes;
	pfs_mutex_unlock(&pfs_registry.lock);
	return bytes;
}

void pfs_cache_retire(struct pfs_cache *cache)
{
	pfs_mutex_lock(&pfs_registry.lock);
	pfs_cache_close_rings(cache);
	pfs_cache_count(&pfs_registry.ended, cache);
	leave_arena(cache);
	unlist(cache);
	if (!cache->is_explicit)
		pfs_bump_owned(&pfs_registry.threads, UINT64_MAX);
	pfs_mutex_unlock(&pfs_registry.lock);
	cache_free(cache);
}

/* ---- fork ---- */

void pfs_caches_lock(void)
{
	pfs_mutex_lock(&pfs_registry.lock);
}

void pfs_caches_unlock(void)
{
	pfs_mutex_unlock(&pfs_registry.lock);
}

/* Bury a ring whose thread is not in this process; returns how many blocks went to the words. A
 * ring that was being refilled or flushed is lost, because nothing tells how far that went. Any
 * other holds free blocks below its ends, wherever its owner stopped [CR4]. */
static uint32_t bury_ring(struct pfs_cache *cache, uint32_t class)
{
	struct pfs_cache_ring *ring = &cache->rings[class];
	uint32_t moving = pfs_load_relaxed(&cache->moving); /* relaxed: its thread is gone */
	uint32_t count = 0;
	if (!pfs_ring_is_revoked(ring) && moving != class + 1) {
		count = pfs_ring_give(ring);
		pfs_ring_drop_slots(cache, ring);
	}
	pfs_ring_revoke(ring);
	return count;
}

static uint64_t bury(struct pfs_cache *cache)
{
	uint64_t given = 0;
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++)
		given += bury_ring(cache, class);
	(void)pfs_rack_empty(cache);
	pfs_cache_count(&pfs_registry.ended, cache);
	unlist(cache);
	cache_free(cache);
	return given;
}

/* Under the registry. A call that a thread of the parent was inside has never happened; a ring that
 * was being refilled or flushed is lost. */
static void settle(struct pfs_cache *cache)
{
	uint32_t moving = pfs_load_relaxed(&cache->moving); /* relaxed: its thread is gone */
	/* relaxed: written under the registry */
	if (pfs_load_relaxed(&cache->forks) == pfs_registry.forks)
		return;
	if (moving != 0) {
		struct pfs_cache_ring *ring = &cache->rings[moving - 1];
		pfs_ring_move_front(ring, 0);
		pfs_ring_move_back(ring, 0);
	}
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++)
		/* relaxed: no thread uses it before [FK2] */
		pfs_store_relaxed(&cache->rings[class].inside, PFS_OUTSIDE);
	pfs_store_relaxed(&cache->moving, 0); /* relaxed: as above */
	pfs_rack_settle(cache);
	pfs_store_release(&cache->forks, pfs_registry.forks); /* [FK2] release, pairs with [FK3] */
}

void pfs_cache_settle(struct pfs_cache *cache)
{
	pfs_mutex_lock(&pfs_registry.lock);
	settle(cache);
	pfs_mutex_unlock(&pfs_registry.lock);
}

uint64_t pfs_caches_bury(void)
{
	uint64_t given = 0;
	uint32_t looks = 0;
	while (pfs_registry.next_left != NULL && looks++ < PFS_CACHES_TOGETHER &&
	       given < PFS_BLOCKS_TOGETHER) {
		struct pfs_cache *cache = pfs_registry.next_left;
		pfs_registry.next_left = cache->next;
		if (pfs_cache_is_left(cache))
			given += bury(cache);
		else if (cache->is_explicit)
			settle(cache);
	}
	return given;
}

void pfs_caches_bury_all(void)
{
	while (pfs_registry.next_left != NULL)
		(void)pfs_caches_bury();
}

/* Burying the other caches is deferred: it touches all that they hold, and a child that calls exec
 * or exits needs none of it. */
void pfs_caches_child(void)
{
	struct pfs_cache *mine = pfs_cache_mine();
	bool has_own = mine != &pfs_cache_none && mine != &pfs_cache_ended;
	pfs_registry.forks++;
	pfs_registry.next_left = pfs_registry.oldest;
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL)
		pfs_store_relaxed(&arena->threads, 0); /* relaxed: one thread, like all below */
	if (has_own) {
		pfs_store_relaxed(&mine->forks, pfs_registry.forks); /* relaxed: as above */
		join_arena(mine);
	}
	pfs_store_relaxed(&pfs_registry.threads, has_own); /* relaxed: as above */
}
