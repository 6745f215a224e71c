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

#define pfs_front_malloc(size, caller) ((void)(caller), pfs_malloc_quick(size))
#define pfs_front_free(block) pfs_free_quick(block)
#define pfs_front_calloc(count, size, caller) ((void)(caller), pfs_calloc(count, size))
#define pfs_front_realloc(block, size, caller) ((void)(caller), pfs_realloc(block, size))
#define pfs_front_reallocarray(block, count, size, caller) \
	((void)(caller), pfs_reallocarray(block, count, size))
#define pfs_front_memalign(alignment, size, caller) ((void)(caller), pfs_memalign(alignment, size))
#define pfs_front_posix_memalign(block, alignment, size, caller) \
	((void)(caller), pfs_posix_memalign(block, alignment, size))

/* operator new, which calls `fails` instead of returning NULL. */
typedef void *pfs_front_fails(size_t align_bytes, size_t size_bytes, const void *caller);

static inline void *pfs_front_new(size_t size_bytes, const void *caller, pfs_front_fails *fails)
{
	void *block = pfs_malloc_quick(size_bytes);
	return pfs_likely(block != NULL) ? block : fails(1, size_bytes, caller);
}

static inline void *pfs_front_new_aligned(size_t align_bytes, size_t size_bytes, const void *caller,
					  pfs_front_fails *fails)
{
	void *block = pfs_memalign(align_bytes, size_bytes);
	return pfs_likely(block != NULL) ? block : fails(align_bytes, size_bytes, caller);
}

#endif
#endif
