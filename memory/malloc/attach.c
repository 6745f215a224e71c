/*
 * attach.c - a thread gets its cache with its first call and loses it when it ends. Explicit caches
 * belong to no thread.
 */
#include "arena.h"
#include "rings.h"
#include "start.h"
#include "tick.h"

/* Give the calling thread a cache; NULL: no memory. */
static struct pfs_cache *attach(void)
{
	struct pfs_cache *cache = pfs_cache_new();
	if (cache == NULL)
		return NULL;
	pfs_mutex_lock(&pfs_registry.lock);
	bool is_first = !pfs_registry.had_any;
	pfs_mutex_unlock(&pfs_registry.lock);
	if (!is_first)
		pfs_start_handlers();
	cache->arena = pfs_arena_choose(is_first);
	pfs_mutex_lock(&pfs_registry.lock);
	(void)pfs_caches_bury();
	pfs_cache_enlist(cache);
	pfs_mutex_unlock(&pfs_registry.lock);
	pfs_cache_own = cache;
	pfs_start_thread(cache, pfs_cache_end);
	if (is_first)
		pfs_start_first();
	return cache;
}

struct pfs_cache *pfs_cache_attached(void)
{
	struct pfs_cache *cache = pfs_cache_mine();
	if (cache != &pfs_cache_none)
		return cache;
	pfs_start();
	struct pfs_cache *attached = attach();
	return attached != NULL ? attached : cache;
}

/* glibc holds its lock of fork handlers in a free only after ours are registered: begins.c. And a
 * signal handler may fork meanwhile: with one thread, glibc takes no lock for that. */
static PFS_COLD void have_handlers(void)
{
	uint32_t had = 1;
	/* relaxed: only the first caller registers */
	if (pfs_cas_relaxed(&pfs_extents_had_much, &had, 2))
		pfs_start_handlers();
}

void pfs_cache_after_free(struct pfs_cache *cache)
{
	pfs_tick_after_free(&cache->slow_calls);
	if (pfs_load_relaxed(&pfs_extents_had_much) == 1) /* relaxed: a hint */
		have_handlers();
}

struct pfs_arena *pfs_cache_arena(void)
{
	struct pfs_cache *cache = pfs_cache_attached();
	return cache->arena != NULL ? cache->arena : pfs_arena_at(0);
}

void pfs_caches_end(void)
{
	pfs_cache_flush();
	pfs_mutex_lock(&pfs_registry.lock);
	bool is_alone = true;
	for (struct pfs_cache *cache = pfs_registry.oldest; cache != NULL; cache = cache->next)
		is_alone &= cache == pfs_cache_mine() || pfs_cache_is_left(cache);
	pfs_mutex_unlock(&pfs_registry.lock);
	if (!is_alone)
		(void)pfs_caches_tick(true);
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL)
		pfs_stocks_empty(arena);
}

void pfs_cache_end(void *ended)
{
	pfs_cache_flush();
	pfs_cache_own = &pfs_cache_ended; /* from here on no call uses rings: each one tells */
	pfs_cache_retire(ended);
	if (pfs_caches_threads() < 2)
		pfs_tick_end();
}

struct pfs_cache *pfs_cache_create(void)
{
	struct pfs_arena *arena = pfs_cache_arena();
	struct pfs_cache *cache = pfs_cache_new();
	if (cache == NULL)
		return NULL;
	cache->is_explicit = true;
	cache->arena = arena;
	pfs_mutex_lock(&pfs_registry.lock);
	pfs_cache_enlist(cache);
	pfs_mutex_unlock(&pfs_registry.lock);
	return cache;
}

void pfs_cache_destroy(struct pfs_cache *cache)
{
	struct pfs_cache *own = pfs_cache_own;
	pfs_cache_own = cache;
	pfs_cache_flush();
	pfs_cache_own = own;
	pfs_cache_retire(cache);
}
