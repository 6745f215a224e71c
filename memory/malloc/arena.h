/*
 * arena.h - bins and extents shared by some of the threads. A thread allocates from its arena; a
 * freed block returns to the arena that it came from, whichever thread frees it.
 *
 * Ordering:  [AR1] list: store, release  <->  [AR2] list: load, acquire
 *            carries: a new arena's locks and lists, zeroed or initialized
 * By default there is one arena for each NUMA node and each 8 CPUs of it (option narenas). More of
 * them cost memory and save no time, because bins are locked only to move whole words. A program
 * can create more and bind threads to them.
 */
#ifndef PFS_MALLOC_ARENA_H
#define PFS_MALLOC_ARENA_H

#include "bin.h"
#include "conf.h"
#include "extents.h"

#define PFS_ARENAS_MAX 1024u
#define PFS_DECAY_BY_CONF INT64_MIN /* the option's value applies */

struct pfs_curve;

struct pfs_arena {
	uint32_t number;
	_Atomic(uint32_t) threads;      /* threads bound to it now */
	_Atomic(int64_t) decay_ms[2];   /* of dirty and of muzzy extents; or PFS_DECAY_BY_CONF */
	_Atomic(uint32_t) is_secondary; /* arena.<i>.dss as it was set: secondary, or disabled */
	_Atomic(uint32_t) stock_turn;   /* the class whose stock shrinks next */
	uint32_t cache_count;           /* under the registry, like caches */
	struct pfs_cache *caches;       /* one of the ring of its caches; NULL: none */
	struct pfs_cache *rack_next;    /* under the registry: whose rack is looked at next */
	_Atomic(uint32_t) had_rack;     /* any thread: a hint that a rack held a block */
	/* racks.c: the count of new pages from which on racks are emptied again */
	_Atomic(size_t) rack_due_pages;
	/* tick_round.c: dirty pages not needed since the last tick, and all when this one began */
	size_t dirty_low, dirty_before;
	struct pfs_curve *curves[2]; /* likewise: of dirty and of muzzy extents, or NULL */
	struct pfs_extents extents;
	struct pfs_bin bins[PFS_SMALL_COUNT];
};

/* Initialize the first arena. From then on pfs_arena_at(0) is never NULL. */
void pfs_arenas_start(void);

/* Settle over how many arenas threads are spread, unless that is already settled: when the second
 * thread starts, or earlier if a caller needs the number. Returns it. */
uint32_t pfs_arenas_settle(void);

/* The number of arenas. Those that threads are spread over come first. */
uint32_t pfs_arena_count(void);

/* The arena with a number, created on demand if threads are spread over it. NULL: no such arena, or
 * no memory. */
struct pfs_arena *pfs_arena_at(uint32_t number);

/* The same, but NULL if it does not exist yet. */
struct pfs_arena *pfs_arena_if_any(uint32_t number);

/* The first existing arena after one, in the order of numbers; NULL is before all, and after all.
 */
static inline struct pfs_arena *pfs_arena_next(const struct pfs_arena *before)
{
	struct pfs_arena *arena = NULL;
	uint32_t at = before != NULL ? before->number + 1 : 0;
	for (; arena == NULL && at < pfs_arena_count(); at++)
		arena = pfs_arena_if_any(at);
	return arena;
}

/* Create one more. NULL: no memory, or there are PFS_ARENAS_MAX. */
struct pfs_arena *pfs_arena_create(void);

/* The arena for a large block of a thread that is bound to `own`: an arena that has all blocks from
 * the option oversize_threshold on, unless the program created the thread's arena. */
struct pfs_arena *pfs_arena_for_large(struct pfs_arena *own, size_t size_bytes);

/* Choose an arena for the calling thread and count the thread there: among the default arenas of
 * its node, one with the fewest threads. The process's first thread gets the first arena. */
struct pfs_arena *pfs_arena_choose(bool is_first);

/* Under the registry: add a cache to those of its arena, before the one that is looked at first, or
 * remove it: what would go on with it goes on with the next. */
void pfs_arena_add_cache(struct pfs_cache *cache);
void pfs_arena_remove_cache(struct pfs_cache *cache);

/* Around fork: first the list of arenas and their `growing` locks; then, after the registry of
 * caches, all their other locks. */
void pfs_arenas_lock_growing(void);
void pfs_arenas_unlock_growing(void);
void pfs_arenas_lock(void);
void pfs_arenas_unlock(void);

/* Around the fork of a process that is alone: the extents' locks, unless an interrupted call holds
 * one (false). unlock: of the arenas before `end`; NULL: of all. */
bool pfs_arenas_try_lock_extents(void);
void pfs_arenas_unlock_extents(const struct pfs_arena *end);

/* A decay time of dirty or muzzy extents, with the option's value in the place of
 * PFS_DECAY_BY_CONF. */
static inline int64_t pfs_decay_ms_of(int64_t decay_ms, enum pfs_extent_kind kind)
{
	int64_t by_conf = kind == PFS_EXTENT_DIRTY ? pfs_conf.dirty_decay_ms
						   : pfs_conf.muzzy_decay_ms;
	return decay_ms != PFS_DECAY_BY_CONF ? decay_ms : by_conf;
}

static inline int64_t pfs_arena_decay_ms(struct pfs_arena *self, enum pfs_extent_kind kind)
{
	/* relaxed: a new time may be seen late. */
	return pfs_decay_ms_of(pfs_load_relaxed(&self->decay_ms[kind]), kind);
}

static inline void pfs_arena_set_decay_ms(struct pfs_arena *self, enum pfs_extent_kind kind,
					  int64_t decay_ms)
{
	pfs_store_relaxed(&self->decay_ms[kind], decay_ms); /* relaxed: as above */
}

/* The decay times of arenas created later. */
int64_t pfs_arenas_decay_ms(enum pfs_extent_kind kind);
void pfs_arenas_set_decay_ms(enum pfs_extent_kind kind, int64_t decay_ms);

#endif
