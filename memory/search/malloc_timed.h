/*
 * malloc_timed.h - the allocator of memory/malloc, with its real sizes, on the machine in virtual
 * time: what its sources ask of the world, and loads of many threads.
 *
 * Rings, bins, stocks, extents, the page map, arenas and ticks are the sources of the library.
 * Memory from the system is one region of addresses, metadata lie in another, and the thread that
 * ticks is a virtual one. What is counted costs no time.
 */
#ifndef PFS_SIM_MALLOC_TIMED_H
#define PFS_SIM_MALLOC_TIMED_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "containers/atomic.h"

#define PFS_LOAD_LIVE 64u

/* What a thread does, but for all that it counts at no cost. */
struct pfs_load_thread {
	alignas(64) uint32_t id;
	uint32_t threads;
	uint32_t calls; /* that it makes in a run */
	uint32_t live_count;
	uint64_t random;
	uint64_t done; /* mallocs and frees of this run */
	void **live;   /* [calls], or fewer */
	/* A partner puts blocks here, and says so. */
	alignas(64) _Atomic(uint32_t) is_full;
	void *mail[PFS_LOAD_LIVE];
	alignas(64) _Atomic(void *) shared; /* a block that anybody may exchange */
};

struct pfs_load {
	const char *name;
	const char *summary;
	void (*run)(struct pfs_load_thread *self, struct pfs_load_thread *all);
	uint32_t live_most; /* blocks that a thread has at once */
};
extern const struct pfs_load pfs_loads[];

/* All that the thread has goes. */
void pfs_load_end(struct pfs_load_thread *self);

/* What was counted since pfs_malloc_timed_count(true). */
struct pfs_malloc_timed_counts {
	uint64_t locked; /* locked instructions of the allocator: locks count two */
	uint64_t locks, barriers, purges, ticks;
	uint64_t tick_ns_most; /* of the longest one */
	uint64_t end_ns;       /* of the last thread, but the one that ticks */
	uint64_t slabs_new;    /* of memory that the arena had not */
	uint64_t needless; /* of these, while a slab's worth of their class was free elsewhere */
};
void pfs_malloc_timed_count(bool on);
struct pfs_malloc_timed_counts pfs_malloc_timed_counted(void);

/* Slabs of all arenas now: how many, their bytes, blocks that are taken from them; and how many
 * slabs were ever made, and of those needless by the allocator's own count. */
struct pfs_malloc_timed_slabs {
	uint64_t slabs, bytes, taken, made, needless, arenas;
};
struct pfs_malloc_timed_slabs pfs_malloc_timed_slabs(void);

/* Before anything else; false: no addresses. nodes, cpus: of the machine. */
struct pfs_timed;
bool pfs_malloc_timed_begin(uint32_t nodes, uint32_t cpus);
void pfs_malloc_timed_use(struct pfs_timed *timed);

/* The clock of a run begins at 0 again; the allocator's goes on. */
void pfs_malloc_timed_next_run(void);

/* Ticks until so many threads have said that they are done; the calling thread ends with its
 * cache; what a program that ends does. */
void pfs_malloc_timed_tick(uint64_t period_ns, uint32_t threads);
void pfs_malloc_timed_done(void);
void pfs_malloc_timed_leave(void);
void pfs_malloc_timed_exit(void);

#endif
