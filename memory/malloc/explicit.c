/*
 * Ordering:  [XC1] create, destroy: store, release  <->  [XC2] at: load, acquire
 *            carries: the cache, as it was made
 */
#include "explicit.h"
#include "locks.h"
#include "rings.h"

#include <pthread.h>

static _Atomic(struct pfs_cache *) caches[PFS_EXPLICIT_MAX] PFS_SELDOM; /* written under lock */

struct pfs_cache *pfs_explicit_at(uint32_t number)
{
	if (number >= PFS_EXPLICIT_MAX)
		return NULL;
	/* [XC2] acquire, pairs with [XC1]: without it the cache could be seen uninitialized. */
	struct pfs_cache *cache = pfs_load_acquire(&caches[number]);
	/* [FK3] acquire, pairs with [FK2]: without it this thread could meet the ring as the parent
	 * left it. */
	if (cache != NULL && pfs_load_acquire(&cache->forks) != pfs_registry.forks)
		pfs_cache_settle(cache);
	return cache;
}

/* The lowest free number. Under lock. */
static uint32_t free_number(void)
{
	uint32_t number = 0;
	while (number < PFS_EXPLICIT_MAX && pfs_explicit_at(number) != NULL)
		number++;
	return number;
}

uint32_t pfs_explicit_create(void)
{
	pfs_lock(PFS_LOCK_EXPLICIT);
	uint32_t number = free_number();
	struct pfs_cache *cache = number < PFS_EXPLICIT_MAX ? pfs_cache_create() : NULL;
	if (cache != NULL)
		pfs_store_release(&caches[number], cache); /* [XC1] release, pairs with [XC2] */
	else
		number = PFS_EXPLICIT_MAX;
	pfs_unlock(PFS_LOCK_EXPLICIT);
	return number;
}

bool pfs_explicit_destroy(uint32_t number)
{
	pfs_lock(PFS_LOCK_EXPLICIT);
	struct pfs_cache *cache = pfs_explicit_at(number);
	if (cache != NULL) {
		/* [XC1] release, pairs with [XC2]; carries nothing, but keeps the two stores in
		 * order. */
		pfs_store_release(&caches[number], NULL);
		pfs_cache_destroy(cache);
	}
	pfs_unlock(PFS_LOCK_EXPLICIT);
	return cache != NULL;
}

bool pfs_explicit_flush(uint32_t number)
{
	struct pfs_cache *cache = pfs_explicit_at(number);
	if (cache == NULL)
		return false;
	struct pfs_cache *own = pfs_explicit_enter(cache);
	pfs_cache_flush();
	pfs_explicit_leave(own);
	return true;
}
