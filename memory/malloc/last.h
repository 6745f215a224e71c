/*
 * last.h - the last calls of a thread that pfs_die ends: abort raises SIGABRT, and handlers for it
 * call malloc, as they may with other allocators. Locks may be held then, and a ring be half
 * flushed. So from pfs_die on the thread's cache is one that is unusable for all, and what goes the
 * slow way gets pages of its own and gives nothing back.
 */
#ifndef PFS_MALLOC_LAST_H
#define PFS_MALLOC_LAST_H

#include "cache.h"

extern struct pfs_cache pfs_cache_last __attribute__((visibility("hidden")));

/* From now on the calling thread is such a one. */
void pfs_last_begin(void);

static inline bool pfs_is_last(void)
{
	return pfs_cache_own == &pfs_cache_last;
}

/* Zeroed; NULL: no memory. The alignment is a power of two. */
void *pfs_last_new(size_t size_bytes, size_t align_bytes);

/* Of a block that pfs_last_new gave. */
size_t pfs_last_size(const void *block);

#endif
