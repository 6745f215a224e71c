/*
 * block.h - what the calls share: from a pointer to its extent, and what is no quick way.
 */
#ifndef PFS_MALLOC_BLOCK_H
#define PFS_MALLOC_BLOCK_H

#include "arena.h"
#include "cache.h"
#include "conf.h"
#include "die.h"
#include "large.h"
#include "map.h"
#include "start.h"
#include "tick.h"

/* A call of pfslab/malloc.h: others see it in libpfsmalloc.so, and in here it is called as if they
 * did not. */
#define PFS_OWN __attribute__((visibility("protected")))

/* The extent of a block, which is a slab or large; pfs_die where there is none, or the pointer is
 * inside of a large block. call is for its line. */
struct pfs_extent *pfs_extent_of(const void *block, const char *call);
struct pfs_extent *pfs_large_of(const void *block, const char *call);

/* errno ENOMEM and NULL; with the option xmalloc a line and abort. */
void *pfs_no_memory(size_t size_bytes);

/* A large block, not filled; NULL and ENOMEM. in: of an arena that need not be the thread's. */
void *pfs_malloc_large_in(struct pfs_arena *arena, size_t size_bytes, size_t align_bytes,
			  bool *is_zeroed);
void *pfs_malloc_large(size_t size_bytes, size_t align_bytes, bool *is_zeroed);

/* All of a new block as the options zero and junk ask for; block may be NULL. */
void *pfs_block_fill(void *block);

/* The size of the first small class that is a multiple of the alignment, a power of two; above
 * PFS_SMALL_MAX: none. */
size_t pfs_aligned_size(size_t align_bytes, size_t size_bytes);

#endif
