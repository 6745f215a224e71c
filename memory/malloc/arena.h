/*
 * arena.h - bins and extents that some threads share. A thread's blocks come from its arena; a
 * block goes back to the arena that it came from, whoever frees it.
 *
 * Ordering:  [AR1] list: store, release  <->  [AR2] list: load, acquire
 *            carries: a new arena's locks and lists, all zero or made
 * How many: one for each NUMA node and each 8 CPUs (opt narenas), for more cost memory and bring
 * no time where bins are locked only to move whole words; more can be made, and bound to.
 */
#ifndef PFS_MALLOC_ARENA_H
#define PFS_MALLOC_ARENA_H

#include "bin.h"
#include "conf.h"
#include "extents.h"

#define PFS_ARENAS_MAX 1024u
#define PFS_DECAY_BY_CONF INT64_MIN /* as the option says */

struct pfs_arena {
	uint32_t number;
	_Atomic(uint32_t) threads;      /* bound to it now */
	_Atomic(uint64_t) ring_mallocs; /* of threads that have ended or moved: from their rings */
	_Atomic(uint64_t) ring_frees;
	_Atomic(int64_t) decay_ms[2]; /* of dirty, of muzzy; or PFS_DECAY_BY_CONF */
	struct pfs_extents extents;
	struct pfs_bin bins[PFS_SMALL_COUNT];
};

/* The first arena is there; NULL never. */
void pfs_arenas_start(void);

/* Decide how many threads are spread over, if that is not done: with the second thread, or where it
 * matters before. How many. */
uint32_t pfs_arenas_settle(void);

/* How many there are. Those that threads are spread over come first. */
uint32_t pfs_arena_count(void);

/* By number; made if it is one of those that threads are spread over. NULL: none, or no memory. */
struct pfs_arena *pfs_arena_at(uint32_t number);

/* The same, made by nobody yet: NULL. */
struct pfs_arena *pfs_arena_if_any(uint32_t number);

/* One more; NULL: no memory, or PFS_ARENAS_MAX. */
struct pfs_arena *pfs_arena_create(void);

/* For the calling thread: of those by default, one of its node with the fewest threads; for the
 * process's first thread the first. It is counted there as one of them. */
struct pfs_arena *pfs_arena_choose(bool is_first);

/* Around fork: the list of arenas and their locks `growing`; then, after the registry of caches,
 * all others. */
void pfs_arenas_lock_growing(void);
void pfs_arenas_unlock_growing(void);
void pfs_arenas_lock(void);
void pfs_arenas_unlock(void);

/* The time of dirty or of muzzy extents; as options have it. */
static inline int64_t pfs_decay_ms_of(int64_t decay_ms, enum pfs_extent_kind kind)
{
	int64_t by_conf = kind == PFS_EXTENT_DIRTY ? pfs_conf.dirty_decay_ms
						   : pfs_conf.muzzy_decay_ms;
	return decay_ms != PFS_DECAY_BY_CONF ? decay_ms : by_conf;
}

static inline int64_t pfs_arena_decay_ms(struct pfs_arena *self, enum pfs_extent_kind kind)
{
	/* relaxed: a new time may come late. */
	return pfs_decay_ms_of(pfs_load_relaxed(&self->decay_ms[kind]), kind);
}

static inline void pfs_arena_set_decay_ms(struct pfs_arena *self, enum pfs_extent_kind kind,
					  int64_t decay_ms)
{
	pfs_store_relaxed(&self->decay_ms[kind], decay_ms); /* relaxed: as above */
}

/* Of the arenas that will be made. */
int64_t pfs_arenas_decay_ms(enum pfs_extent_kind kind);
void pfs_arenas_set_decay_ms(enum pfs_extent_kind kind, int64_t decay_ms);

static inline struct pfs_extents *pfs_arena_extents(struct pfs_arena *self)
{
	return &self->extents;
}

#endif
