/*
 * pools.h - an arena for each pool of threads (PFS_MEM_ARENAS=pool), and what each arena has.
 */
#ifndef PFS_PRELOAD_POOLS_H
#define PFS_PRELOAD_POOLS_H

#include "memory/box/layout.h"

/* By the option. False: it has another value than pool and none. */
bool pfs_pools_start(const char *option, const char *program);

/* The calling thread works for a pool from now on: inside, with no lock. */
void pfs_pools_join(const char *pool);

/* Around a fork, ahead of the allocator's own locks. */
void pfs_pools_lock(void);
void pfs_pools_unlock(void);

/* At a tick, under the desk: all that pfs_malloc_count counts, and arenas into a tick. */
struct pfs_malloc_counts;
void pfs_pools_count(struct pfs_malloc_counts *counts, struct pfs_box_arena *arenas);

#endif
