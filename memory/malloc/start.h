/*
 * start.h - the allocator begins with the first call, and knows of threads that end and of forks.
 */
#ifndef PFS_MALLOC_START_H
#define PFS_MALLOC_START_H

struct pfs_cache;

/* Once; no memory is asked for, and nothing that asks for it is called. */
void pfs_start(void);

/*
 * The handlers of fork, once: ahead of the second thread and of anybody else's, for what registers
 * before runs inside of them, and another library's handler that waits for a thread would wait for
 * ever. Asks for no memory of glibc's while they are among the first 48.
 */
void pfs_start_handlers(void);

/* Of a library that has locks inside of the allocator's, and so registers ahead of it; others have
 * none. */
extern void pfs_start_handlers_inside(void) __attribute__((weak, visibility("hidden")));

/* The first cache is there: the handlers, unless begins.c sees who else needs them. */
void pfs_start_first(void);
extern const char pfs_start_sees_threads __attribute__((weak, visibility("hidden")));

/* Of our handlers the one before fork. */
void pfs_start_prepare(void);

/* The calling thread has a cache now, and ended(cache) is called when the thread ends. */
typedef void pfs_start_ended(void *cache);
void pfs_start_thread(struct pfs_cache *cache, pfs_start_ended *ended);

#endif
