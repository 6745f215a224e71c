/*
 * front.h - what malloc's names call: the allocator itself or, in a library that counts every
 * block, the counting layer, which calls the allocator. `caller` is the return address of the
 * name's call.
 */
#ifndef PFS_MALLOC_FRONT_H
#define PFS_MALLOC_FRONT_H

#include <pfslab/malloc.h>

#include "quick.h"

#ifdef PFS_COUNTED
#include "memory/preload/counted.h"
#else

static inline void *pfs_front_malloc(size_t size_bytes, const void *caller)
{
	(void)caller;
	return pfs_malloc_quick(size_bytes);
}

static inline void pfs_front_free(void *block)
{
	pfs_free_quick(block);
}

static inline void *pfs_front_calloc(size_t count, size_t size_bytes, const void *caller)
{
	(void)caller;
	return pfs_calloc(count, size_bytes);
}

static inline void *pfs_front_realloc(void *block, size_t size_bytes, const void *caller)
{
	(void)caller;
	return pfs_realloc(block, size_bytes);
}

static inline void *pfs_front_reallocarray(void *block, size_t count, size_t size_bytes,
					   const void *caller)
{
	(void)caller;
	return pfs_reallocarray(block, count, size_bytes);
}

static inline void *pfs_front_memalign(size_t align_bytes, size_t size_bytes, const void *caller)
{
	(void)caller;
	return pfs_memalign(align_bytes, size_bytes);
}

static inline int pfs_front_posix_memalign(void **block, size_t align_bytes, size_t size_bytes,
					   const void *caller)
{
	(void)caller;
	return pfs_posix_memalign(block, align_bytes, size_bytes);
}

#endif
#endif
