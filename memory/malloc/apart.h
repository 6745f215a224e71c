/*
 * apart.h - pages for metadata, in regions of address space that no block is in.
 *
 * A region begins and ends with a page that nobody can access, so an overflow of a block beside it
 * ends the program. The metadata of a region is one mapping, however many pieces it has: fork takes
 * time for each mapping, and for each page table.
 *
 * Nothing is committed for pages that were not given out, nor for untouched ones where the system
 * allows that. Transparent huge pages are not used.
 *
 * Progress   blocking: a lock, during system calls.
 */
#ifndef PFS_MALLOC_APART_H
#define PFS_MALLOC_APART_H

#include <stddef.h>
#include <stdint.h>

/* start, before the first call: reads how much address space the process may have. Such a part of
 * it may be reserved for one purpose. */
void pfs_apart_start(void);
uint64_t pfs_apart_part_bytes(void);

/* Zeroed pages; NULL: no memory. Keeps errno. */
void *pfs_apart_new(size_t size_bytes);

/* Give back pages that were never written. Their addresses are used again if they were the last
 * that were given out; otherwise nobody can access them from now on. */
void pfs_apart_free(void *pages, size_t size_bytes);

/* Unmap address space that was reserved ahead, if the process has a limit of it. Returns how many
 * bytes. */
size_t pfs_apart_unmap(void);

/* Around fork: keep all other threads out. */
void pfs_apart_lock(void);
void pfs_apart_unlock(void);

#endif
