/*
 * books.h - what the files of this folder share: lives of threads, ticks, and the end of a process.
 */
#ifndef PFS_BOOKS_BOOKS_H
#define PFS_BOOKS_BOOKS_H

#include "memory/accounts/books.h"

/* Under the desk: a thread's life ends; who calls frees the thread. */
void pfs_life_end(struct pfs_memory_thread *thread);

/* The thread that ticks. */
void pfs_ticker_start(struct pfs_books *self);
void pfs_ticker_end(struct pfs_books *self);

/* The process ends, and its threads may still count: the box goes as by pfs_memory_close, but stays
 * mapped. Takes no lock. */
void pfs_books_leave(struct pfs_books *self);

#endif
