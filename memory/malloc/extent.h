/*
 * extent.h - a run of OS pages, and what is known of it: apart from the pages, in metadata.
 *
 * An extent is free (dirty, muzzy or retained), a large block, or a slab. Descriptors belong to one
 * arena for ever, and are used again for other extents of it: so whoever reads `arena` of a
 * neighbour's descriptor, and finds his own, may read the rest under his arena's lock.
 */
#ifndef PFS_MALLOC_EXTENT_H
#define PFS_MALLOC_EXTENT_H

#include <stdbool.h>
#include <stdalign.h>
#include <stddef.h>

#include "classes.h"
#include "containers/atomic.h"

enum pfs_extent_kind {
	PFS_EXTENT_DIRTY,    /* free; its memory may hold anything */
	PFS_EXTENT_MUZZY,    /* free; the system may have taken its memory */
	PFS_EXTENT_RETAINED, /* free; addresses without memory: zeroes */
	PFS_EXTENT_HELD,     /* in somebody's hands: on its way between two kinds */
	PFS_EXTENT_LARGE,    /* one block */
	PFS_EXTENT_SLAB      /* regions of a small class */
};
#define PFS_EXTENT_FREE_KINDS 3u
#define PFS_SLAB_WORDS_INLINE 4u

struct pfs_arena;
struct pfs_group;

struct pfs_extent {
	/* What free looks at comes first; of slabs, written before their blocks are handed out. */
	alignas(PFS_LINE) uintptr_t base;
	uint64_t reciprocal;      /* of block_bytes; 32 bits of it, see pfs_slab_region */
	_Atomic(uint64_t) *words; /* a bit for each region, set while it is free: slab.h */
	struct pfs_group *group;
	_Atomic(uint64_t) summary; /* which words may have room: hints, also after its slab's end */
	_Atomic(uint32_t) kind;    /* under the arena's extents lock; an active one's is stable */
	uint8_t slot;              /* in its group */
	uint8_t class;             /* of a slab, as all up to last_word */
	uint16_t regions;
	uint8_t word_count;
	uint32_t block_bytes; /* of a region */
	uint32_t *tags;       /* a tag for each region, or of the large block; or NULL */
	uint64_t last_word;   /* all bits of it; those of the others are all 64 */
	_Atomic(struct pfs_arena *) arena; /* made once */

	size_t size_bytes;                  /* under the arena's extents lock, as all up to newer */
	struct pfs_extent *previous, *next; /* of its length */
	struct pfs_extent *older, *newer;   /* of its kind, by the time it became free */
	struct pfs_extent *next_of_all; /* of the arena's descriptors, in use or not; made once */
	bool is_zeroed;                 /* of one that is handed out */
	bool is_clean;        /* of a large block: its pages went back while it was copied */
	size_t request_bytes; /* of a large block: its size class */
	size_t asked_bytes;   /* of a large block that is counted: what was asked for */
	_Atomic(uint64_t) few_words[PFS_SLAB_WORDS_INLINE];
};

static inline enum pfs_extent_kind pfs_extent_kind(struct pfs_extent *self)
{
	/* relaxed: the reader holds the lock, or a block of it. */
	return (enum pfs_extent_kind)pfs_load_relaxed(&self->kind);
}

static inline struct pfs_arena *pfs_extent_arena(struct pfs_extent *self)
{
	return pfs_load_relaxed(&self->arena); /* relaxed: never another one */
}

static inline void pfs_extent_set_kind(struct pfs_extent *self, enum pfs_extent_kind kind)
{
	pfs_store_relaxed(&self->kind, (uint32_t)kind); /* relaxed: as above */
}

#endif
