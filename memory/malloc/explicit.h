/*
 * explicit.h - thread caches that a program makes and names by numbers: tcache.create and
 * MALLOCX_TCACHE. Each is a cache as a thread's, in the same registry: so ticks empty what idles in
 * it, and its blocks are known. Whoever uses one takes it for the time of a call in the place of
 * its thread's own.
 *
 * One thread at a time may use one, as in jemalloc; and nobody while it is destroyed.
 */
#ifndef PFS_MALLOC_EXPLICIT_H
#define PFS_MALLOC_EXPLICIT_H

#include "cache.h"

#define PFS_EXPLICIT_MAX 4093u /* as many as MALLOCX_TCACHE has numbers for */

/* Its number; PFS_EXPLICIT_MAX: no memory, or there are as many as can be. Blocking. */
uint32_t pfs_explicit_create(void);

/* False: there is none with the number. Blocking. */
bool pfs_explicit_destroy(uint32_t number);
bool pfs_explicit_flush(uint32_t number);

/* NULL: there is none. Wait-free. */
struct pfs_cache *pfs_explicit_at(uint32_t number);

/* For the time of a call, which ends with leave of what enter returned. */
static inline struct pfs_cache *pfs_explicit_enter(struct pfs_cache *cache)
{
	struct pfs_cache *own = pfs_cache_attached();
	pfs_cache_own = cache;
	return own;
}

static inline void pfs_explicit_leave(struct pfs_cache *own)
{
	pfs_cache_own = own;
}

#endif
