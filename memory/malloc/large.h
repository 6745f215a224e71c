/*
 * large.h - blocks from 16 KiB on, and those of a larger alignment than an OS page: an extent each.
 */
#ifndef PFS_MALLOC_LARGE_H
#define PFS_MALLOC_LARGE_H

#include "arena.h"

/*
 * pfs_large_new - a block of at least size_bytes (not 0, at most PFS_SIZE_MAX), of a size class.
 *
 * Returns   it; NULL: no memory. *is_zeroed (may be NULL): all its bytes are 0.
 * Progress  blocking: the extents' lock, the system.
 */
void *pfs_large_new(struct pfs_arena *arena, size_t size_bytes, size_t align_bytes,
		    bool *is_zeroed);

/* The bytes that a block of such a size and alignment has; 0: more than there can be. */
size_t pfs_large_bytes(size_t size_bytes, size_t align_bytes);

/* Blocking, as new. The extent is a large block's, and the pointer its first byte. */
void pfs_large_free(struct pfs_extent *extent);

/* To another size, large too, where the block is; false: it can not be. */
bool pfs_large_resize(struct pfs_extent *extent, size_t size_bytes);

/*
 * The bytes of a block, of any size, into a new one that is not smaller; the old one is freed next.
 * Where it is large and the new one of new memory, its pages go back as they are copied, for
 * otherwise a block that grows would be resident twice, and what it leaves too small for itself.
 */
void pfs_large_copy(void *to, void *from, size_t bytes);

#endif
