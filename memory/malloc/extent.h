/*
 * extent.h - the descriptor of a run of OS pages, kept apart from the pages, in metadata.
 *
 * An extent is free (dirty, muzzy or retained), a large block, or a slab. The memory of a
 * descriptor belongs to one arena forever. It is reused only for other extents of that arena, or
 * reads as zeroes: arena NULL, and dirty (descriptors.h). Guarded blocks have descriptors of their
 * own, which are in no list of an arena. So a thread that reads the `arena` of a neighbour's
 * descriptor and finds its own arena may read the rest under that arena's lock.
 */
#ifndef PFS_MALLOC_EXTENT_H
#define PFS_MALLOC_EXTENT_H

#include <stdbool.h>
#include <stdalign.h>
#include <stddef.h>

#include "classes.h"
#include "containers/atomic.h"

enum pfs_extent_kind {
	PFS_EXTENT_DIRTY,    /* free; its memory holds arbitrary bytes */
	PFS_EXTENT_MUZZY,    /* free; the system may have taken its memory */
	PFS_EXTENT_RETAINED, /* free; address space without memory: reads as zeroes */
	PFS_EXTENT_HELD,     /* owned by one thread, between two kinds */
	PFS_EXTENT_CACHED,   /* a freed large block: on a thread's rack, or about to be free */
	PFS_EXTENT_LARGE,    /* one block */
	PFS_EXTENT_GUARDED,  /* one block of the pool of guard.h */
	PFS_EXTENT_SLAB      /* regions of a small class */
};
#define PFS_EXTENT_FREE_KINDS 3u
#define PFS_SLAB_WORDS_INLINE 4u

struct pfs_arena;
struct pfs_descriptor_page;
struct pfs_group;

struct pfs_extent {
	/* What free reads comes first; in slabs it is written before blocks are handed out. */
	alignas(PFS_LINE) uintptr_t base;
	uint64_t reciprocal;      /* of block_bytes; 32 bits of it, see pfs_slab_region */
	_Atomic(uint64_t) *words; /* a bit for each region, set while it is free: slab.h */
	struct pfs_group *group;
	_Atomic(uint64_t) summary; /* which words may have room: hints, even after the slab's end */
	/* under the arena's extents lock; stable while the extent is active */
	_Atomic(uint32_t) kind;
	uint8_t slot;  /* place in its group */
	uint8_t class; /* of a slab, like all up to last_word */
	uint16_t regions;
	uint8_t word_count;
	uint32_t block_bytes; /* of a region */
	uint32_t *tags;       /* a tag for each region, or one for the large block; or NULL */
	uint64_t last_word;   /* all valid bits of the last word; the other words have 64 */
	_Atomic(struct pfs_arena *) arena; /* or NULL [DS2] */

	/* under the arena's extents lock, like all up to newer */
	size_t size_bytes;
	struct pfs_extent *previous, *next; /* neighbours in the list of its length */
	/* neighbours in the list of its kind, by the time it became free */
	struct pfs_extent *older, *newer;
	struct pfs_descriptor_page *page; /* that it is on */
	size_t dirty_bytes; /* when handed out: behind so many all its bytes are 0, in new memory */
	bool is_clean;      /* of a large block: its pages were purged while it was copied */
	bool is_hidden;     /* all of its pages were hidden from children: hidden.h */
	uint32_t hidden_parts; /* runs of its pages that are hidden: at most so many */
	/* of a free extent: at most so many have entries in pages of the map that have memory */
	size_t noted_bytes;
	size_t request_bytes; /* of a large block: its size class */
	size_t asked_bytes;   /* of a large block that is counted: the requested size */
	_Atomic(uint64_t) few_words[PFS_SLAB_WORDS_INLINE];
};

static inline enum pfs_extent_kind pfs_extent_kind(struct pfs_extent *self)
{
	/* relaxed: the reader holds the lock, or a block of the extent. */
	return (enum pfs_extent_kind)pfs_load_relaxed(&self->kind);
}

/* A large block, in use or on a rack? */
static inline bool pfs_extent_is_large(struct pfs_extent *self)
{
	enum pfs_extent_kind kind = pfs_extent_kind(self);
	return kind == PFS_EXTENT_LARGE || kind == PFS_EXTENT_CACHED;
}

static inline struct pfs_arena *pfs_extent_arena(struct pfs_extent *self)
{
	return pfs_load_relaxed(&self->arena); /* relaxed: [DS2] */
}

static inline void pfs_extent_set_kind(struct pfs_extent *self, enum pfs_extent_kind kind)
{
	pfs_store_relaxed(&self->kind, (uint32_t)kind); /* relaxed: as above */
}

#endif
