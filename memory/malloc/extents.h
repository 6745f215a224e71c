/*
 * extents.h - the free extents of an arena, by length and by age, from dirty to retained.
 *
 * A block's pages come from the dirty extents first, then from the muzzy, then from the retained,
 * then from the system; the shortest that is long enough (to within a quarter of a doubling). What
 * is freed is dirty, and joins its dirty neighbours. A purge takes the memory of the oldest dirty
 * ones back, and they become muzzy or retained, and join neighbours of that kind.
 *
 * Invariants
 *	[EX1] every page of the arena's address space is in one extent; the map has its ends [MP1].
 *	[EX2] two neighbours of one free kind are one extent, but while one is HELD.
 *	[EX3] pages[kind] is the sum of the extents of that kind.
 *
 * All of it under `lock`, which is not held while the system is asked to take memory back.
 * Progress   blocking.
 * Source:    extents, their three states and coalescing as in jemalloc 5.2.1 (extent.c); the purge
 *            by low-water mark: our own.
 */
#ifndef PFS_MALLOC_EXTENTS_H
#define PFS_MALLOC_EXTENTS_H

#include "base.h"
#include "containers/mutex.h"
#include "extent.h"

struct pfs_extents_kind {
	struct pfs_extent *lengths[PFS_LENGTH_COUNT];
	uint64_t has_length[(PFS_LENGTH_COUNT + 63) / 64];
	struct pfs_extent *oldest, *newest;
	size_t pages;
	size_t pages_low; /* the fewest since pfs_extents_low was asked */
};

struct pfs_extents {
	struct pfs_mutex lock;
	struct pfs_arena *arena;
	struct pfs_extents_kind kinds[PFS_EXTENT_FREE_KINDS];
	struct pfs_base_pool descriptors;
	struct pfs_extent *all; /* every descriptor that was ever made */
	size_t mapped_bytes;    /* address space of the arena */
	size_t active_bytes;    /* of slabs and large blocks */
	size_t active_peak_bytes;
	size_t large_bytes;               /* of large blocks' classes */
	uint64_t large_count, large_made; /* blocks now; all ever */
	uint64_t purges, purged_pages;
	uint64_t taken_pages; /* ever, from free extents: is the arena in use? */
};

void pfs_extents_init(struct pfs_extents *self, struct pfs_arena *arena);

/*
 * pfs_extents_take - an extent of whole OS pages, HELD: the caller makes it what it is to be.
 *
 * Returns   it, its base a multiple of align_bytes (a power of two, at least an OS page); NULL: no
 *           memory. is_zeroed says whether all its bytes are 0.
 */
struct pfs_extent *pfs_extents_take(struct pfs_extents *self, size_t size_bytes,
				    size_t align_bytes);

/* Take an extent back, HELD, SLAB or LARGE, with no entry in the map but those of its ends [MP1].
 * It becomes dirty, or retained, if it has no memory any more. */
void pfs_extents_give(struct pfs_extents *self, struct pfs_extent *extent,
		      enum pfs_extent_kind kind);

/* Are there so many bytes of dirty pages? A slab of these is no new memory. */
bool pfs_extents_has_dirty(struct pfs_extents *self, size_t size_bytes);

/* In place: the extent ends at size_bytes from now on. shrink: what is behind becomes dirty.
 * grow: false where its neighbour is not free, or not long enough. */
bool pfs_extents_shrink(struct pfs_extents *self, struct pfs_extent *extent, size_t size_bytes);
bool pfs_extents_grow(struct pfs_extents *self, struct pfs_extent *extent, size_t size_bytes);

/* Purge the oldest of a kind until at most so many pages are left; how many went. lazily: dirty
 * ones become muzzy, else retained. */
size_t pfs_extents_purge(struct pfs_extents *self, enum pfs_extent_kind kind, size_t pages_left,
			 bool lazily);

/* Address space goes back to the system, too: all retained extents. The bytes. For when there is
 * none left; blocking. */
size_t pfs_extents_unmap(struct pfs_extents *self);

/* The fewest pages of a kind since this was asked last: so many were not needed all the while. */
size_t pfs_extents_low(struct pfs_extents *self, enum pfs_extent_kind kind);

/* A large block comes or goes: the counts. */
void pfs_extents_count_large(struct pfs_extents *self, size_t before_bytes, size_t after_bytes);

#endif
