/*
 * extents.h - the free extents of an arena, by length and by age, from dirty to retained.
 *
 * A block's pages come from the dirty extents first, then from the muzzy ones, then from the
 * retained ones, then from the system; within each, from the shortest extent that is long enough
 * (to within a quarter of a doubling). Before the muzzy ones comes a dirty extent that is too
 * short, together with the first pages of the muzzy or retained one behind it. A freed extent is
 * dirty and is joined with its dirty neighbours. A purge returns the memory of the oldest dirty
 * extents to the system; they become muzzy or retained, and are joined with neighbours of that
 * kind.
 *
 * Invariants
 * 	[EX1] every page of the arena's address space is in one extent; the map has its ends [MP1].
 * 	[EX2] no two neighbours are free and of the same kind, except while one is HELD.
 * 	[EX3] pages[kind] is the number of pages in the extents of that kind.
 * 	[EX4] hidden pages are in extents that are free, in flight or given up (pfs_extents_show),
 * 	     with hidden_parts != 0, and 1 if all of it is hidden. hidden_parts of the arena is
 * 	     the sum of the extents'.
 * 	[EX5] a retained extent's noted_bytes are less than PFS_EXTENTS_NOTED_BYTES.
 *
 * Everything is under `lock`, which is released while the system is asked to take blocks' memory
 * back, a piece at a time; metadata is taken back under it. An extent that is being purged is IN
 * FLIGHT: HELD, and in a list of its own, from which a forked child gets it back.
 *
 * What purges cost a caller
 * 	A take of n pages of new memory while more pages are dirty than may be (the limit L: a share
 * 	of the active ones, at least 1 MiB) owes n pages: owed_pages. The call pays them at its end,
 * 	without a lock, oldest dirty pages first, until L is left. A call pays at most
 * 	PFS_EXTENTS_PAY_PAGES; the rest stays owed, and the next calls pay it.
 * 	Bound: active + dirty pages change by takes of new memory (+n) and by purges only; a take
 * from dirty pages and a free move pages between the two. If the n pages are paid, and L was not
 * 	reached, the sum is as before; otherwise dirty <= L. So each new maximum of active + dirty
 * is at most active + L + owed, and the sum never exceeds (1 + share) x the most that was active
 * 	+ 1 MiB + owed_pages.
 * Progress   blocking.
 * Source:    extents, their three states and coalescing as in jemalloc 5.2.1 (extent.c); the purge
 *            by low-water mark: our own.
 */
#ifndef PFS_MALLOC_EXTENTS_H
#define PFS_MALLOC_EXTENTS_H

#include "containers/mutex.h"
#include "descriptors.h"
#include "extent.h"

#define PFS_EXTENTS_PAY_PAGES 512u /* 2 MiB: about 0.2 ms */
/* A free extent is long: a fork hides it (hidden.h). One system call takes 3 us; the page tables of
 * so many bytes take the kernel 9 us. */
#define PFS_EXTENTS_LONG_BYTES ((size_t)512 << 10)
/* The page map has a page of entries for each 2 MiB. Fewer of them are not worth a system call. */
#define PFS_EXTENTS_NOTED_BYTES ((size_t)16 << 20)

struct pfs_extents_kind {
	struct pfs_extent *lengths[PFS_LENGTH_COUNT];
	uint64_t has_length[(PFS_LENGTH_COUNT + 63) / 64];
	struct pfs_extent *oldest, *newest;
	size_t pages;
	size_t pages_low; /* the fewest since the last pfs_extents_low */
};

struct pfs_extents {
	struct pfs_mutex lock;
	struct pfs_arena *arena;
	struct pfs_extents_kind kinds[PFS_EXTENT_FREE_KINDS];
	struct pfs_extent *in_flight; /* linked by previous and next */
	struct pfs_descriptors descriptors;
	size_t mapped_bytes;              /* address space of the arena */
	size_t active_bytes;              /* of slabs and large blocks */
	size_t large_bytes;               /* of large blocks, rounded up to classes */
	uint64_t large_count, large_made; /* blocks now; blocks ever */
	uint64_t purges, purged_pages;
	uint32_t hidden_parts;
	_Atomic(size_t) owed_pages; /* written under lock, like new_pages */
	_Atomic(size_t) new_pages;  /* of new memory, ever taken; wraps around */
};

/* Any thread: 1 since an arena had 16 MiB dirty, which a fork should hide; 2 when that was seen to.
 * A hint. */
extern _Atomic(uint32_t) pfs_extents_had_much __attribute__((visibility("hidden")));

void pfs_extents_init(struct pfs_extents *self, struct pfs_arena *arena);

/*
 * pfs_extents_take - an extent of whole OS pages, HELD: the caller decides its kind.
 *
 * Returns   it, its base a multiple of align_bytes (a power of two, at least an OS page); NULL: no
 *           memory. Behind dirty_bytes all its bytes are 0.
 */
struct pfs_extent *pfs_extents_take(struct pfs_extents *self, size_t size_bytes,
				    size_t align_bytes);

/* The same for a large block, which is counted: it is LARGE, with request_bytes set. */
struct pfs_extent *pfs_extents_take_large(struct pfs_extents *self, size_t size_bytes,
					  size_t align_bytes);

/* Free an extent that is HELD, SLAB, LARGE or CACHED, with no entries in the map except its ends
 * [MP1]. It becomes dirty, or retained if it has no memory left. */
void pfs_extents_give(struct pfs_extents *self, struct pfs_extent *extent,
		      enum pfs_extent_kind kind);

/* Is there a dirty extent of at least size_bytes? A slab from it takes no new memory. */
bool pfs_extents_has_dirty(struct pfs_extents *self, size_t size_bytes);

/* Resize in place. shrink: the rest becomes dirty; false: no memory for its descriptor. grow: false
 * if the neighbour is not free or not long enough. */
bool pfs_extents_shrink(struct pfs_extents *self, struct pfs_extent *extent, size_t size_bytes);
bool pfs_extents_grow(struct pfs_extents *self, struct pfs_extent *extent, size_t size_bytes);

/* Purge the oldest extents of a kind until at most pages_left pages are left. Returns how many
 * went, or were refused and are dirty. lazily: dirty extents become muzzy instead of retained. */
size_t pfs_extents_purge(struct pfs_extents *self, enum pfs_extent_kind kind, size_t pages_left,
			 bool lazily);

/* The same, but at most pages_most pages, and as many system calls as take a fraction of a
 * millisecond. 0: no more to purge. */
size_t pfs_extents_purge_some(struct pfs_extents *self, enum pfs_extent_kind kind,
			      size_t pages_left, size_t pages_most, bool lazily);

/* Purge what takes of new memory owe, with no lock held. Returns the pages that are dirty beyond
 * the limit. Bounded, like purge_some. */
size_t pfs_extents_pay(struct pfs_extents *self);

/* Purge all that is dirty beyond the limit, a bounded piece at a time. 0: nothing more. */
size_t pfs_extents_purge_surplus(struct pfs_extents *self);

/* Return the memory of descriptors' pages that are idle: of at most pages_most, those first that
 * have long been so. Blocking, a piece at a time. Returns how many. */
size_t pfs_extents_wipe(struct pfs_extents *self, size_t pages_most);

/* How many such pages were not needed since the last call; *now: how many there are. */
size_t pfs_extents_idle(struct pfs_extents *self, size_t *now);

/* Unmap all retained extents, for when address space is exhausted. Returns the bytes. Blocking; a
 * child that is forked meanwhile loses the address space of one of them. */
size_t pfs_extents_unmap(struct pfs_extents *self);

/* In a child of fork: what other threads were purging is dirty, and may be hidden. */
void pfs_extents_child(struct pfs_extents *self);

/* The fewest pages of a kind since the last call: that many were not needed in between. */
size_t pfs_extents_low(struct pfs_extents *self, enum pfs_extent_kind kind);

/* Under lock: update the counts for a large block that was made (before 0), freed (after 0) or
 * resized. */
static inline void pfs_extents_count_large(struct pfs_extents *self, size_t before_bytes,
					   size_t after_bytes)
{
	self->large_bytes += after_bytes - before_bytes;
	self->large_count += (after_bytes != 0 ? 1u : 0u);
	self->large_count -= (before_bytes != 0 ? 1u : 0u);
	self->large_made += before_bytes == 0 ? 1u : 0u;
}

/* For a guarded block, not under lock. Its pages are in no extent of the arena; what is left of
 * them is not counted. */
void pfs_extents_count_guarded(struct pfs_extents *self, size_t before_bytes, size_t after_bytes);

#endif
