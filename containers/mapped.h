/*
 * mapped.h - anonymous memory of the system, given back even if munmap fails.
 *
 * Linux limits the number of mappings of a process (vm.max_map_count, 65,530). Unmapping the middle
 * of a larger mapping makes one more, so munmap fails at the limit. Then the block's memory is
 * released (MADV_DONTNEED) and its addresses are kept: the next block of the same size uses them,
 * and later munmaps try to give the addresses back too.
 *
 * Invariant: a kept block holds no memory and reads as zeroes.
 * A lock of its own guards the list of kept blocks; fork takes it last.
 */
#ifndef PFS_MAPPED_H
#define PFS_MAPPED_H

#include <stddef.h>

/*
 * pfs_mapped_take - zeroed bytes, readable and writable; NULL: the system has none.
 * pfs_mapped_give - give back a block of pfs_mapped_take or of mmap. NULL is allowed.
 *
 * Returns   take: a block that begins at an OS page. It may be at the address of one of the same
 *           size that could not be unmapped; an mbind policy of that block still holds.
 * Errors    as returned. If there is no memory for one more entry of the list, the addresses of a
 *           block that munmap refused are lost; its memory is not.
 * Progress  blocking: system calls, and a lock while blocks are kept.
 * Order     none.
 */
void *pfs_mapped_take(size_t size_bytes);
void pfs_mapped_give(void *bytes, size_t size_bytes);

/* The number of kept blocks: a metric. */
size_t pfs_mapped_kept(void);

/* Around a fork. */
void pfs_mapped_lock(void);
void pfs_mapped_unlock(void);

#endif
