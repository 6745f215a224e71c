/*
 * racks.c - the racks of an arena's caches, before new memory is taken.
 */
#include "arena.h"
#include "rack.h"
#include "rings.h"

#define LOOKS_MOST 16u /* racks that are emptied together */

void pfs_racks_take_back(struct pfs_arena *arena)
{
	/* A small program keeps no blocks here. pthread_mutex_trylock would cost it 64 KiB of
	 * glibc's constants, where its table of jumps is. relaxed: a hint. */
	if (pfs_load_relaxed(&arena->had_rack) == 0 || !pfs_mutex_try_lock(&pfs_registry.lock))
		return;
	struct pfs_cache *cache = arena->rack_next != NULL ? arena->rack_next : arena->caches;
	for (uint32_t i = 0; i < arena->cache_count && i < LOOKS_MOST; i++) {
		/* relaxed, both: a hint */
		if (pfs_load_relaxed(&cache->rack_is_used) != 0) {
			pfs_store_relaxed(&cache->rack_is_used, 0); /* relaxed: a hint */
			(void)pfs_rack_tick(cache, true);
		}
		cache = cache->next_here;
	}
	arena->rack_next = cache;
	pfs_mutex_unlock(&pfs_registry.lock);
}
