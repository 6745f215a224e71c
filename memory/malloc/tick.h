/*
 * tick.h - memory goes back by itself: what was not used for a while, whoever cached it.
 *
 * A tick empties the rings that were not used since the last tick, of any thread, ends spare slabs,
 * and takes memory of free extents back: by default the dirty pages that were not needed at any
 * moment since the last tick (the low-water mark), oldest first; with a decay time, along
 * jemalloc's curve.
 *
 * Ticks are a thread's work (opt background_thread), which begins with the program's second
 * thread: one that was alone could no longer unshare or setns. Before that, and where it may not
 * be, a slow call of malloc or free ticks when it is due.
 */
#ifndef PFS_MALLOC_TICK_H
#define PFS_MALLOC_TICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfs_arena;

/* A second thread is there. */
void pfs_tick_start(void);

/* The last thread that is known ends: so must the one that ticks, or the process would not. */
void pfs_tick_end(void);

/*
 * A slow call is done, with no lock held: looks at the clock now and then. Only malloc starts the
 * thread, for free is called by glibc with locks of its own that a new thread needs.
 */
void pfs_tick_after_malloc(uint32_t *slow_calls);
void pfs_tick_after_free(uint32_t *slow_calls);

/* A second thread is there: the next slow malloc starts the one that ticks. */
void pfs_tick_wish(void);

/* pfs_tick - one tick, now. pfs_tick_all - everything that can go back goes, rings that are in use
 * and pages of just now included (malloc_trim); the pages that went. Blocking. */
void pfs_tick(void);
size_t pfs_tick_all(void);

/* All of an arena's that nobody uses; not what is in rings. The pages that went. Blocking. */
size_t pfs_tick_purge(struct pfs_arena *arena);

/* A tick, if it is time for one and no thread does it. */
void pfs_tick_if_time(void);

/* Is a thread to tick; and from now on. It ends with its next tick, or starts at once. */
bool pfs_tick_has_thread(void);
void pfs_tick_set_thread(bool is_wanted);

/*
 * There is no memory: everything goes that pfs_tick_all finds, and address space, too. True: try
 * again, for the tries + 1st time; other threads may be quicker at what there is now. False: there
 * was nothing, or nothing that could help: a size above the limits of the process, or above all
 * there is to give back. Blocking.
 */
bool pfs_tick_emergency(size_t size_bytes, uint32_t tries);

/* Around fork. */
void pfs_tick_child(void);

#endif
