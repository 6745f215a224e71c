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

#endif
#endif
