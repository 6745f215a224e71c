/*
 * racks.c - empties the racks of an arena's caches before new memory is taken.
 */
#include "arena.h"
#include "rack.h"
#include "rings.h"

#define LOOKS_MOST 16u /* racks that are emptied together */

static bool is_due(struct pfs_arena *arena)
{
	/* relaxed, both: numbers that may be seen late; they wrap around */
	size_t new_pages = pfs_load_relaxed(&arena->extents.new_pages);
	return (ptrdiff_t)(new_pages - pfs_load_relaxed(&arena->rack_due_pages)) >= 0; /* relaxed */
}

void pfs_racks_take_back(struct pfs_arena *arena, bool spares)
{
	/* A small program keeps no blocks here. pthread_mutex_trylock would cost it 64 KiB of
	 * glibc's constants, where its table of jumps is. relaxed: a hint. */
	if (pfs_load_relaxed(&arena->had_rack) == 0 || (spares && !is_due(arena)) ||
	    !pfs_mutex_try_lock(&pfs_registry.lock))
		return;
	uint64_t bytes = 0;
	struct pfs_cache *cache = arena->rack_next != NULL ? arena->rack_next : arena->caches;
	for (uint32_t i = 0; i < arena->cache_count && i < LOOKS_MOST; i++) {
		if (pfs_rack_has_some(cache))
			bytes += pfs_rack_empty(cache);
		cache = cache->next_here;
	}
	arena->rack_next = cache;
	/* relaxed, both: numbers that may be seen late */
	size_t new_pages = pfs_load_relaxed(&arena->extents.new_pages);
	pfs_store_relaxed(&arena->rack_due_pages, new_pages + bytes / PFS_OS_PAGE); /* relaxed */
	pfs_mutex_unlock(&pfs_registry.lock);
}
