/*
 * Ordering:  [XC1] create, destroy: store, release  <->  [XC2] at: load, acquire
 *            carries: the cache, as it was made
 */
#include "explicit.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct pfs_cache *) caches[PFS_EXPLICIT_MAX] PFS_SELDOM; /* written under lock */

struct pfs_cache *pfs_explicit_at(uint32_t number)
{
	/* [XC2] acquire, pairs with [XC1]: without it the cache could look unmade. */
	return number < PFS_EXPLICIT_MAX ? pfs_load_acquire(&caches[number]) : NULL;
}

/* The lowest that is free. Under lock. */
static uint32_t free_number(void)
{
	uint32_t number = 0;
	while (number < PFS_EXPLICIT_MAX && pfs_explicit_at(number) != NULL)
		number++;
	return number;
}

uint32_t pfs_explicit_create(void)
{
	(void)pthread_mutex_lock(&lock);
	uint32_t number = free_number();
	struct pfs_cache *cache = number < PFS_EXPLICIT_MAX ? pfs_cache_create() : NULL;
	if (cache != NULL)
		pfs_store_release(&caches[number], cache); /* [XC1] release, pairs with [XC2] */
	else
		number = PFS_EXPLICIT_MAX;
	(void)pthread_mutex_unlock(&lock);
	return number;
}

bool pfs_explicit_destroy(uint32_t number)
{
	(void)pthread_mutex_lock(&lock);
	struct pfs_cache *cache = pfs_explicit_at(number);
	if (cache != NULL) {
		/* [XC1] release, pairs with [XC2]; of nothing: for the order of the two. */
		pfs_store_release(&caches[number], NULL);
		pfs_cache_destroy(cache);
	}
	(void)pthread_mutex_unlock(&lock);
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

void pfs_explicit_lock(void)
{
	(void)pthread_mutex_lock(&lock);
}

void pfs_explicit_unlock(void)
{
	(void)pthread_mutex_unlock(&lock);
}
