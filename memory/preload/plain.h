/*
 * plain.h - other names for the allocator's mallocx family, which this library's functions wrap.
 * Included into memory/malloc/jemalloc.c before everything else.
 */
#ifndef PFS_PRELOAD_PLAIN_H
#define PFS_PRELOAD_PLAIN_H

#include <stddef.h>

void *pfs_plain_mallocx(size_t size, int flags);
void *pfs_plain_rallocx(void *block, size_t size, int flags);
size_t pfs_plain_xallocx(void *block, size_t size, size_t extra, int flags);
size_t pfs_plain_sallocx(const void *block, int flags);
size_t pfs_plain_nallocx(size_t size, int flags);
void pfs_plain_dallocx(void *block, int flags);
void pfs_plain_sdallocx(void *block, size_t size, int flags);

#ifdef PFS_PLAIN_NAMES
#define mallocx pfs_plain_mallocx
#define rallocx pfs_plain_rallocx
#define xallocx pfs_plain_xallocx
#define sallocx pfs_plain_sallocx
#define nallocx pfs_plain_nallocx
#define dallocx pfs_plain_dallocx
#define sdallocx pfs_plain_sdallocx
#endif

#endif
