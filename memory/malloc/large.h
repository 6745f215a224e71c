/*
 * large.h - blocks from 16 KiB on, and those aligned to more than an OS page: an extent each.
 */
#ifndef PFS_MALLOC_LARGE_H
#define PFS_MALLOC_LARGE_H

#include "arena.h"

/*
 * pfs_large_new - a block of at least size_bytes (1 to PFS_SIZE_MAX), rounded up to a size class.
 *
 * Returns   it; NULL: no memory. *dirty_bytes (may be NULL): behind so many all its bytes are 0.
 * Progress  blocking: the extents' lock, the system.
 */
void *pfs_large_new(struct pfs_arena *arena, size_t size_bytes, size_t align_bytes,
		    size_t *dirty_bytes);

/* The size of the block that such a request gets; 0: too large. */
size_t pfs_large_bytes(size_t size_bytes, size_t align_bytes);

/* Free a large block. Ends the program if another call has freed it. Blocking, like pfs_large_new.
 */
void pfs_large_free(struct pfs_extent *extent, const void *block, const char *call);

/*
 * Zero a block of any size, or the end of one. Pieces of a long one that mostly have no memory are
 * purged, because a program that asks for zeroes may never touch them; the others are set, because
 * a purge and new pages would cost four to ten times as much.
 */
void pfs_large_zero(void *from, size_t bytes);

/* tag: give a new block its tag, with the option tags; false: no memory. again: a CACHED block is
 * in use again. end: free a CACHED block; ends the program if it is free already, because two
 * racks had it. None notes bytes for a thread. */
bool pfs_large_tag(struct pfs_extent *extent);
void *pfs_large_again(struct pfs_extent *extent);
void pfs_large_end(struct pfs_extent *extent);

/* Resize in place to another large size; false: impossible. */
bool pfs_large_resize(struct pfs_extent *extent, size_t size_bytes);

/*
 * Copy a block of any size into a new one that is not smaller; the old one is freed next. If the
 * old block is large and the new one is of new memory, the old pages are purged as they are copied.
 * Otherwise a growing block would be resident twice, and leave extents that are too small for it.
 */
void pfs_large_copy(void *to, void *from, size_t bytes);

#endif
