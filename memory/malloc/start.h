/*
 * start.h - the allocator begins with the first call, and knows of threads that end and of forks.
 */
#ifndef PFS_MALLOC_START_H
#define PFS_MALLOC_START_H

struct pfs_cache;

/* Once; no memory is asked for, and nothing that asks for it is called. */
void pfs_start(void);

/* The calling thread has a cache now, which ends with it. */
void pfs_start_thread(struct pfs_cache *cache);

#endif
