/*
 * arena_caches.c - the caches of an arena: a ring, in which looks and ticks go round.
 */
#include "arena.h"
#include "cache.h"

void pfs_arena_add_cache(struct pfs_cache *cache)
{
	struct pfs_arena *arena = cache->arena;
	if (arena->cache_count++ == 0)
		arena->caches = cache->previous_here = cache->next_here = cache;
	cache->next_here = arena->caches;
	cache->previous_here = arena->caches->previous_here;
	cache->previous_here->next_here = cache;
	cache->next_here->previous_here = cache;
}

void pfs_arena_remove_cache(struct pfs_cache *cache)
{
	struct pfs_arena *arena = cache->arena;
	struct pfs_cache *next = --arena->cache_count != 0 ? cache->next_here : NULL;
	if (arena->caches == cache)
		arena->caches = next;
	if (arena->rack_next == cache)
		arena->rack_next = next;
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++)
		if (arena->bins[class].look_next == cache)
			arena->bins[class].look_next = next;
	cache->previous_here->next_here = cache->next_here;
	cache->next_here->previous_here = cache->previous_here;
}
