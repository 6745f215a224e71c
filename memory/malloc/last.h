/*
 * last.h - the last calls of a thread that pfs_die is ending. abort raises SIGABRT, and its
 * handlers may call malloc, as they may with other allocators, although locks may be held and a
 * ring be half flushed. So from pfs_die on the thread has a cache whose rings are all unusable, and
 * the slow paths give it pages of their own and free nothing.
 */
#ifndef PFS_MALLOC_LAST_H
#define PFS_MALLOC_LAST_H

#include "cache.h"

extern struct pfs_cache pfs_cache_last __attribute__((visibility("hidden")));

/* The calling thread enters this state. */
void pfs_last_begin(void);

static inline bool pfs_is_last(void)
{
	return pfs_cache_own == &pfs_cache_last;
}

/* Zeroed; NULL: no memory. The alignment is a power of two. */
void *pfs_last_new(size_t size_bytes, size_t align_bytes);

/* The size of a block that pfs_last_new gave. */
size_t pfs_last_size(const void *block);

#endif
