/*
 * tick.h - memory that was not used for a while goes back by itself, whichever thread cached it.
 *
 * A tick empties the rings that no thread used since the last tick, ends spare slabs, and purges
 * free extents. By default it purges the dirty pages that were not needed at any moment since the
 * last tick (the low-water mark), oldest first; with a decay time it follows jemalloc's curve.
 *
 * Ticks run in a thread of their own (option background_thread; background.h). It is started by a
 * slow malloc when two threads have allocated and there is something to give back, and leaves when
 * a tick finds nothing. So an idle process has no wake-ups. It is ended with the last thread but
 * one, because a process with two threads cannot call unshare or setns. While it is not there, slow
 * calls of malloc and free make the steps of a tick when one is due, one step each.
 *
 * Where malloc does not start it: in free, because glibc calls free while it holds locks that a new
 * thread needs; and while it is being started, when glibc allocates for it.
 */
#ifndef PFS_MALLOC_TICK_H
#define PFS_MALLOC_TICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfs_arena;

/* At most one thread has a cache: the ticking thread ends. Waits until it is gone: a step. */
void pfs_tick_end(void);

/*
 * At the end of a slow call, with no lock held: pays what the arena owes for new memory (bounded,
 * see extents.h), and checks the clock now and then. bytes: of a large block, or 0.
 */
void pfs_tick_after_malloc(struct pfs_arena *arena, size_t bytes, uint32_t *slow_calls);
void pfs_tick_after_free(uint32_t *slow_calls);

/* Keep ticks and pfs_tick_all out, which move blocks and end slabs. Only purges go on. */
void pfs_tick_lock(void);
void pfs_tick_unlock(void);

/* pfs_tick - one tick, now. pfs_tick_all - give back all that can go, including rings in use and
 * pages freed just now (malloc_trim). Returns the pages that went. Blocking. */
void pfs_tick(void);
size_t pfs_tick_all(void);

/* Give back all unused memory of an arena, except what is in rings. Returns the pages that went.
 * Blocking. */
size_t pfs_tick_purge(struct pfs_arena *arena);

/* Tick if one is due and no thread does it. */
void pfs_tick_if_time(void);

/* Is a thread wanted? And: set whether one is. It ends or starts at once. */
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
