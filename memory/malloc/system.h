/*
 * system.h - memory from the operating system. Fault tests replace these calls to refuse memory,
 * and the simulated machine has its own.
 */
#ifndef PFS_MALLOC_SYSTEM_H
#define PFS_MALLOC_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed pages, private, at any address; NULL: none. Keeps errno. */
void *pfs_system_map(size_t size_bytes);

/* The same for more pages than are needed now. NULL also if the system would give memory to all of
 * them at once: the program called mlockall with MCL_FUTURE, without MCL_ONFAULT. */
void *pfs_system_map_ahead(size_t size_bytes);

/* Unmap memory, including its address space. False: refused. */
bool pfs_system_unmap(void *pages, size_t size_bytes);

/* Return the pages' memory and keep their addresses: they read as zeroes from now on. False:
 * refused. */
bool pfs_system_purge(void *pages, size_t size_bytes);

/* The same for a few pages of metadata. A lock may be held meanwhile. */
bool pfs_system_wipe(void *pages, size_t size_bytes);

/* The system may take the memory when it needs it: each page keeps its bytes or becomes zero.
 * False: refused. */
bool pfs_system_purge_lazily(void *pages, size_t size_bytes);

/* How many of the pages, up to PFS_SYSTEM_LOOK_PAGES, have memory; all of them if the system does
 * not tell. A page that it has swapped out has none. */
#define PFS_SYSTEM_LOOK_PAGES 256u
uint32_t pfs_system_resident(void *pages, uint32_t count);

/* hide: in children that are forked from now on these pages are zeroed, without memory; show: they
 * are copies again. False: refused, perhaps after some of the pages; *is_partial: so it may be for
 * hide. Linux before 4.14, gVisor and some sandboxes know neither: they refuse all. */
bool pfs_system_hide(void *pages, size_t size_bytes, bool *is_partial);
bool pfs_system_show(void *pages, size_t size_bytes);

/* Exclude these pages from transparent huge pages. */
void pfs_system_small_pages(void *pages, size_t size_bytes);

/* Address space without access, not counted as committed where the system allows that. open: pages
 * of it can be read and written; false: refused. They get memory when they are touched, also after
 * mlockall; if that came after the reservation, lock_later is called first. close: they cannot any
 * more, and their memory is returned. */
void *pfs_system_reserve_closed(size_t size_bytes);
void pfs_system_lock_later(void *pages, size_t size_bytes);
bool pfs_system_open(void *pages, size_t size_bytes);
void pfs_system_close(void *pages, size_t size_bytes);

/* Write-protect pages, if the system can. */
void pfs_system_read_only(void *pages, size_t size_bytes);

/* A monotonic clock, in nanoseconds, accurate to some milliseconds. */
uint64_t pfs_system_now(void);

#endif
