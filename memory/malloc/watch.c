#include "watch.h"

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
