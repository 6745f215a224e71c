/*
 * mapped.h - anonymous memory of the system, given back even where munmap refuses.
 *
 * Linux bounds the number of mappings of a process (vm.max_map_count, 65,530). To unmap the middle
 * of a larger mapping makes one more, so munmap fails at the bound. Then the block's memory goes
 * (MADV_DONTNEED), and its addresses are kept: the next block of the same size lies there, and
 * later munmaps try to give the addresses back, too.
 *
 * Invariant: a kept block holds no memory and reads as zeroes.
 * A lock of its own guards the list of kept blocks; fork takes it last.
 */
#ifndef PFS_MAPPED_H
#define PFS_MAPPED_H

#include <stddef.h>

/*
 * pfs_mapped_take - zeroed bytes, readable and writable; NULL: the system has none.
 * pfs_mapped_give - give a block of pfs_mapped_take, or of mmap, back. NULL is fine.
 *
 * Returns   take: a block that begins at an OS page. It may lie where one of the same size was
 *           that could not be unmapped; a policy that mbind gave to that one still holds.
 * Errors    as returned. Where there is no memory for one more entry of the list, the addresses
 *           of a block that munmap refused are lost; its memory is not.
 * Progress  blocking: system calls, and a lock where blocks are kept.
 * Order     none.
 */
void *pfs_mapped_take(size_t size_bytes);
void pfs_mapped_give(void *bytes, size_t size_bytes);

/* Blocks that are kept now: a metric. */
size_t pfs_mapped_kept(void);

/* Around a fork. */
void pfs_mapped_lock(void);
void pfs_mapped_unlock(void);

#endif
