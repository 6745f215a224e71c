#include "watch.h"

#include <pfslab/malloc.h>

#include "quick.h"
#include "rings.h"

struct pfs_cache_bytes pfs_cache_own_bytes(void)
{
	struct pfs_cache *cache = pfs_cache_attached();
	struct pfs_cache_counts counts = { .threads = 0 };
	if (cache->front != NULL)
		return (struct pfs_cache_bytes){ pfs_own.allocated, pfs_own.freed };
	pfs_mutex_lock(&pfs_registry.lock); /* so that no thread takes from its rings */
	pfs_cache_count(&counts, cache);
	pfs_mutex_unlock(&pfs_registry.lock);
	/* relaxed: written by this thread */
	struct pfs_cache_bytes bytes = { pfs_load_relaxed(&cache->past_bytes),
					 pfs_load_relaxed(&cache->past_freed_bytes) };
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++) {
		bytes.allocated += counts.mallocs[class] * pfs_classes[class].size_bytes;
		bytes.freed += counts.frees[class] * pfs_classes[class].size_bytes;
	}
	bytes.allocated -= pfs_own.inner_allocated;
	bytes.freed -= pfs_own.inner_freed;
	return bytes;
}

bool pfs_watch(void)
{
	struct pfs_cache *cache = pfs_cache_attached();
	if (pfs_is_watched())
		return true;
	if (cache == &pfs_cache_none || cache == &pfs_cache_ended)
		return false;
	struct pfs_cache *front = pfs_cache_new();
	if (front == NULL)
		return false;
	struct pfs_cache_bytes bytes = pfs_cache_own_bytes();
	pfs_own.allocated = bytes.allocated;
	pfs_own.freed = bytes.freed;
	front->behind = cache;
	cache->front = front;
	pfs_cache_own = front;
	return true;
}

void *pfs_watched_malloc(size_t size_bytes)
{
	struct pfs_cache *front = pfs_cache_own;
	uint64_t allocated = pfs_own.allocated, freed = pfs_own.freed;
	pfs_cache_own = front->behind;
	void *block = pfs_malloc_quick(size_bytes);
	pfs_cache_own = front;
	/* The block alone, whichever way it came, and nothing that the call allocated for itself.
	 */
	pfs_own.allocated = allocated + pfs_malloc_usable_size(block);
	pfs_own.freed = freed;
	return block;
}

/* 0: not a block. */
static uint64_t bytes_of(const void *block)
{
	uint64_t entry = pfs_map_entry_or_none((uintptr_t)block);
	struct pfs_extent *extent = pfs_map_extent(entry);
	if (extent == NULL || pfs_extent_kind(extent) < PFS_EXTENT_LARGE)
		return 0;
	return pfs_map_ring(entry) != 0 ? extent->block_bytes : extent->request_bytes;
}

void pfs_watched_free(void *block)
{
	struct pfs_cache *front = pfs_cache_own;
	uint64_t allocated = pfs_own.allocated, freed = pfs_own.freed + bytes_of(block);
	pfs_cache_own = front->behind;
	pfs_free_quick(block);
	pfs_cache_own = front;
	pfs_own.allocated = allocated;
	pfs_own.freed = freed;
}
