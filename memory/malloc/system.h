/*
 * system.h - memory from the operating system. A seam: fault tests refuse it, and the simulated
 * machine brings its own.
 */
#ifndef PFS_MALLOC_SYSTEM_H
#define PFS_MALLOC_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed pages, private, at any address; NULL: none. Keeps errno. */
void *pfs_system_map(size_t size_bytes);

/* Address space for metadata of which little will be used: as map, but not accounted for where the
 * system lets it. */
void *pfs_system_reserve(size_t size_bytes);

/* Give it back, address space and all. */
void pfs_system_unmap(void *pages, size_t size_bytes);

/* The pages' memory goes back, their addresses stay: zeroes from now on. False: it did not. */
bool pfs_system_purge(void *pages, size_t size_bytes);

/* The system may take the memory when it needs it: bytes of before, or zeroes. False: refused. */
bool pfs_system_purge_lazily(void *pages, size_t size_bytes);

/* Large OS pages, where the system gives them without being asked: not for these. */
void pfs_system_small_pages(void *pages, size_t size_bytes);

/* Nobody writes to them from now on, if the system can see to that. */
void pfs_system_read_only(void *pages, size_t size_bytes);

/* Nanoseconds of a clock that never goes back, to within some milliseconds. */
uint64_t pfs_system_now(void);

#endif
