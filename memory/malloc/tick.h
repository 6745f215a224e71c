/*
 * tick.h - memory that was not used for a while goes back by itself, whichever thread cached it.
 *
 * A tick empties the rings that no thread used since the last tick, ends spare slabs, and purges
 * free extents. By default it purges the dirty pages that were not needed at any moment since the
 * last tick (the low-water mark), oldest first; with a decay time it follows jemalloc's curve.
 *
 * Ticks run in a thread of their own (option background_thread). It starts with the program's
 * second thread, because a program with one thread could no longer call unshare or setns. Before
 * that, and where the thread is not allowed, a slow call of malloc or free ticks when a tick is
 * due.
 */
#ifndef PFS_MALLOC_TICK_H
#define PFS_MALLOC_TICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfs_arena;

/* Start the ticking thread, unless it runs or is not wanted. */
void pfs_tick_start(void);

/* The last known thread ends. The ticking thread must end too, or the process would not. */
void pfs_tick_end(void);

/*
 * At the end of a slow call, with no lock held: checks the clock now and then. Only malloc starts
 * the thread: glibc calls free while it holds locks that a new thread needs.
 */
void pfs_tick_after_malloc(uint32_t *slow_calls);
void pfs_tick_after_free(uint32_t *slow_calls);

/* A second thread exists: the next slow malloc starts the ticking thread. */
void pfs_tick_wish(void);

/* pfs_tick - one tick, now. pfs_tick_all - give back all that can go, including rings in use and
 * pages freed just now (malloc_trim). Returns the pages that went. Blocking. */
void pfs_tick(void);
size_t pfs_tick_all(void);

/* Give back all unused memory of an arena, except what is in rings. Returns the pages that went.
 * Blocking. */
size_t pfs_tick_purge(struct pfs_arena *arena);

/* Tick if one is due and no thread does it. */
void pfs_tick_if_time(void);

/* Is a thread wanted? And: set whether one is. It ends with its next tick, or starts at once. */
bool pfs_tick_has_thread(void);
void pfs_tick_set_thread(bool is_wanted);

/*
 * Memory is exhausted: give back all that pfs_tick_all finds, and address space too. True: try
 * again, for the tries + 1st time; other threads may take the memory first. False: nothing was
 * found, or nothing that could help: the size is above the process's limits, or above all that
 * there is to give back. Blocking.
 */
bool pfs_tick_emergency(size_t size_bytes, uint32_t tries);

/* In a child of fork. */
void pfs_tick_child(void);

#endif
