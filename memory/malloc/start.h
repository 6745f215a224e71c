/*
 * start.h - starts the allocator with the first call, and makes it notice ending threads and forks.
 */
#ifndef PFS_MALLOC_START_H
#define PFS_MALLOC_START_H

struct pfs_cache;

/* Once. Allocates nothing, and calls nothing that does. */
void pfs_start(void);

/*
 * Register the fork handlers, once: before the second thread and before any other library's.
 * Handlers registered earlier run inside those registered later; if ours ran outside another
 * library's, and that library's handler waited for a thread that allocates, it would wait forever.
 * glibc needs no memory for the first 48 handlers.
 */
void pfs_start_handlers(void);

/* In a library with locks that are taken inside the allocator's: registers that library's handlers
 * before the allocator's. Other libraries do not define it. */
extern void pfs_start_handlers_inside(void) __attribute__((weak, visibility("hidden")));

/* The first cache exists: register the handlers, unless begins.c sees when others need them. */
void pfs_start_first(void);
extern const char pfs_start_sees_threads __attribute__((weak, visibility("hidden")));

/* Our prepare handler. */
void pfs_start_prepare(void);

/* The calling thread has a cache now: arrange that ended(cache) is called when the thread ends. */
typedef void pfs_start_ended(void *cache);
void pfs_start_thread(struct pfs_cache *cache, pfs_start_ended *ended);

#endif
