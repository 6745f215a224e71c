/*
 * pools.h - an arena for each pool of threads (PFS_MEM_ARENAS=pool), and the arenas' numbers.
 */
#ifndef PFS_PRELOAD_POOLS_H
#define PFS_PRELOAD_POOLS_H

#include "memory/box/layout.h"

/* Reads the option. False: its value is neither empty nor "pool". */
bool pfs_pools_start(const char *option, const char *program);

/* The calling thread joins a pool. Called inside the accounts, without a lock. */
void pfs_pools_join(const char *pool);

/* Around a fork, before the allocator's own locks. */
void pfs_pools_lock(void);
void pfs_pools_unlock(void);

/* At a tick, under the desk: the allocator's counts, and the arenas of a tick. */
struct pfs_malloc_counts;
void pfs_pools_count(struct pfs_malloc_counts *counts, struct pfs_box_arena *arenas);

#endif
