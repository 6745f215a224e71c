/*
 * books.h - shared by the files of this folder: lives of threads, ticks, the end of a process.
 */
#ifndef PFS_BOOKS_BOOKS_H
#define PFS_BOOKS_BOOKS_H

#include "memory/accounts/books.h"

/* Finds or creates the account of a new life, or else its user and its host. Under the desk. */
void pfs_life_find(struct pfs_memory_thread *thread, const char *user, const char *host);

/* Ends a thread's life, under the desk; the caller frees the thread. */
void pfs_life_end(struct pfs_memory_thread *thread);

/* Adds by, 1 or -1, to the connections of the life's account, user and host. Under the desk. */
void pfs_life_connect(struct pfs_memory_thread *thread, uint32_t by);

/* The list of all books of the process, for fork. */
void pfs_books_enlist(struct pfs_books *self);
void pfs_books_unlist(struct pfs_books *self);

/* Starts and stops the ticker thread. */
void pfs_ticker_start(struct pfs_books *self);
void pfs_ticker_end(struct pfs_books *self);

/* Resident bytes of this process, as /proc/self/status reports them; 0: not known. */
struct pfs_system_rss {
	uint64_t all, anon, file, shmem;
};
void pfs_system_rss(struct pfs_system_rss *rss);

/* At the end of the process, while its threads may still count: removes the box like
 * pfs_memory_close, but leaves it mapped. Takes no lock. */
void pfs_books_leave(struct pfs_books *self);

#endif
