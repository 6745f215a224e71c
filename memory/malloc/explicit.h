/*
 * explicit.h - thread caches that a program creates and names by number: tcache.create and
 * MALLOCX_TCACHE. Each is an ordinary cache in the same registry, so ticks empty its idle rings and
 * its blocks are counted. A call that uses one puts it in the place of the thread's own cache until
 * it returns.
 *
 * As in jemalloc, one thread at a time may use such a cache, and none while it is destroyed.
 */
#ifndef PFS_MALLOC_EXPLICIT_H
#define PFS_MALLOC_EXPLICIT_H

#include "cache.h"

#define PFS_EXPLICIT_MAX 4093u /* as many as MALLOCX_TCACHE can name */

/* Create one. Returns its number; PFS_EXPLICIT_MAX: no memory, or all numbers are taken. Blocking.
 * */
uint32_t pfs_explicit_create(void);

/* False: no cache has this number. Blocking. */
bool pfs_explicit_destroy(uint32_t number);
bool pfs_explicit_flush(uint32_t number);

/* The cache with a number; NULL: none. Wait-free, but for each cache's first call in a forked
 * child, which takes the registry. */
struct pfs_cache *pfs_explicit_at(uint32_t number);

/* Use a cache for one call. The call ends with pfs_explicit_leave of what enter returned. */
static inline struct pfs_cache *pfs_explicit_enter(struct pfs_cache *cache)
{
	struct pfs_cache *own = pfs_cache_attached();
	pfs_cache_own = cache;
	return own;
}

static inline void pfs_explicit_leave(struct pfs_cache *own)
{
	pfs_cache_own = own->front != NULL ? own->front : own;
}

#endif
