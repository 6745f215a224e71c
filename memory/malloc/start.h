/*
 * start.h - the allocator begins with the first call, and knows of threads that end and of forks.
 */
#ifndef PFS_MALLOC_START_H
#define PFS_MALLOC_START_H

struct pfs_cache;

/* Once; no memory is asked for, and nothing that asks for it is called. */
void pfs_start(void);

/* The handlers of fork, once; with the first cache, for what registers before runs inside of them:
 * another library's handler that waits for a thread would wait for ever. Asks for memory. */
void pfs_start_handlers(void);

/* Of a library that has locks inside of the allocator's, and so registers ahead of it; others have
 * none. */
extern void pfs_start_handlers_inside(void) __attribute__((weak, visibility("hidden")));

/* The calling thread has a cache now, which ends with it. */
void pfs_start_thread(struct pfs_cache *cache);

#endif
