/*
 * block.h - shared by the calls: from a pointer to its extent, and everything off the fast path.
 */
#ifndef PFS_MALLOC_BLOCK_H
#define PFS_MALLOC_BLOCK_H

#include "arena.h"
#include "cache.h"
#include "conf.h"
#include "die.h"
#include "large.h"
#include "map.h"
#include "rack.h"
#include "start.h"
#include "tick.h"

/* A call of pfslab/malloc.h: exported from libpfsmalloc.so, but bound directly inside it. */
#define PFS_OWN __attribute__((visibility("protected")))

/* The extent of a block: a slab, or a large or guarded block. Calls pfs_die, with the name of the
 * call, if there is none or the pointer is into the middle of such a block. */
struct pfs_extent *pfs_extent_of(const void *block, const char *call);
struct pfs_extent *pfs_large_of(const void *block, const char *call);

/* Sets errno to ENOMEM and returns NULL; with the option xmalloc, prints a line and aborts. */
void *pfs_no_memory(size_t size_bytes);

/* A large block, not filled; NULL with ENOMEM. The _in form takes any arena, not only the thread's.
 * */
void *pfs_malloc_large_in(struct pfs_arena *arena, size_t size_bytes, size_t align_bytes,
			  size_t *dirty_bytes);
void *pfs_malloc_large(size_t size_bytes, size_t align_bytes, size_t *dirty_bytes);

/* Fill a new block as the options zero and junk ask for; block may be NULL. */
void *pfs_block_fill(void *block);

/* The size of the smallest small class that fits and is a multiple of the alignment, a power of
 * two; above PFS_SMALL_MAX: there is none. */
size_t pfs_aligned_size(size_t align_bytes, size_t size_bytes);

#endif
