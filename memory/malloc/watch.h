/*
 * watch.h - a thread whose counters the program watches: thread.allocatedp and thread.deallocatedp
 * of mallctl give pointers to them, and from then on the counters are current whenever the thread
 * reads them.
 *
 * The rings count only blocks that move in or out of them, so the fast paths of other threads count
 * nothing. A watched thread has a cache in front of its own whose rings are all unusable. So each
 * of its calls takes the slow path, which makes the call with the cache behind, and counts it.
 * Calls that bypass the rings, and large blocks, are counted where they are made.
 */
#ifndef PFS_MALLOC_WATCH_H
#define PFS_MALLOC_WATCH_H

#include "cache.h"

/* Bytes that the calling thread has allocated and freed since its start, rounded up to size
 * classes. */
struct pfs_cache_bytes {
	uint64_t allocated, freed;
};
struct pfs_cache_bytes pfs_cache_own_bytes(void);

/*
 * pfs_watch - watch the calling thread from now on.
 *
 * Returns   false: no memory, or the thread has ended; nothing has changed.
 * Progress  blocking the first time: the registry.
 */
bool pfs_watch(void);

/* For the slow paths of calls.c. */
static inline bool pfs_is_watched(void)
{
	return pfs_cache_own->behind != NULL;
}

#endif
