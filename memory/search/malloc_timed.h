/*
 * malloc_timed.h - the allocator of memory/malloc at its real sizes on the machine in virtual time:
 * the system around it, and loads of many threads.
 *
 * Rings, bins, stocks, extents, the page map, arenas and ticks are the library's sources. The
 * system's memory is one region of addresses, metadata are in another, and a virtual thread ticks.
 * Counting takes no virtual time.
 */
#ifndef PFS_SIM_MALLOC_TIMED_H
#define PFS_SIM_MALLOC_TIMED_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "containers/atomic.h"

#define PFS_LOAD_LIVE 64u

/* A thread of a load. */
struct pfs_load_thread {
	alignas(64) uint32_t id;
	uint32_t threads;
	uint32_t calls; /* in a run */
	uint32_t live_count;
	uint64_t random;
	uint64_t done; /* mallocs and frees of this run */
	void **live;   /* [calls], or fewer */
	/* A partner puts blocks here and sets is_full. */
	alignas(64) _Atomic(uint32_t) is_full;
	void *mail[PFS_LOAD_LIVE];
	alignas(64) _Atomic(void *) shared; /* a block that any thread may exchange */
};

struct pfs_load {
	const char *name;
	const char *summary;
	void (*run)(struct pfs_load_thread *self, struct pfs_load_thread *all);
	uint32_t live_most; /* blocks that a thread has at a time */
};
extern const struct pfs_load pfs_loads[];

/* Frees all blocks of the thread. */
void pfs_load_end(struct pfs_load_thread *self);

/* Counts since pfs_malloc_timed_count(true). */
struct pfs_malloc_timed_counts {
	uint64_t locked; /* locked instructions of the allocator: a lock counts as two */
	uint64_t locks, barriers, purges, ticks;
	uint64_t tick_ns_most; /* of the longest one */
	uint64_t end_ns;       /* of the last thread to end, except the ticking one */
	uint64_t slabs_new;    /* in memory that was new to the arena */
	uint64_t needless;     /* of these, made while as many blocks of the class were free */
};
void pfs_malloc_timed_count(bool on);
struct pfs_malloc_timed_counts pfs_malloc_timed_counted(void);

/* The current slabs of all arenas, their bytes, and the blocks taken from them. And the slabs ever
 * made, and how many of them were needless by the allocator's own count. */
struct pfs_malloc_timed_slabs {
	uint64_t slabs, bytes, taken, made, needless, arenas;
};
struct pfs_malloc_timed_slabs pfs_malloc_timed_slabs(void);

/* Called first; false: no address space. nodes, cpus: of the machine. */
struct pfs_timed;
bool pfs_malloc_timed_begin(uint32_t nodes, uint32_t cpus);
void pfs_malloc_timed_use(struct pfs_timed *timed);

/* The clock of the next run begins at 0; the allocator's clock continues. */
void pfs_malloc_timed_next_run(void);

/* Ticks until so many threads have called done; ends the cache of the calling thread; does what the
 * end of a program does. */
void pfs_malloc_timed_tick(uint64_t period_ns, uint32_t threads);
void pfs_malloc_timed_done(void);
void pfs_malloc_timed_leave(void);
void pfs_malloc_timed_exit(void);

#endif
