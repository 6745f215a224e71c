/*
 * tag.h - find a block's tag, and the cell that it names. counted.h describes its format.
 */
#ifndef PFS_PRELOAD_TAG_H
#define PFS_PRELOAD_TAG_H

#include "counter.h"
#include "memory/profile/profile.h"

/* The extent of a block, if its blocks have tags; else NULL. */
static inline struct pfs_extent *pfs_tagged_extent(const void *block)
{
	struct pfs_extent *extent = pfs_map_extent(pfs_map_entry_or_none((uintptr_t)block));
	if (extent == NULL || extent->tags == NULL || pfs_extent_kind(extent) < PFS_EXTENT_LARGE)
		return NULL;
	return extent;
}

static inline bool pfs_tagged_is_large(struct pfs_extent *extent)
{
	return pfs_extent_kind(extent) != PFS_EXTENT_SLAB; /* or a guarded one, likewise */
}

static inline uint64_t pfs_tagged_bytes(struct pfs_extent *extent, uint32_t tag)
{
	return pfs_tagged_is_large(extent) ? extent->asked_bytes
					   : extent->block_bytes - (tag & PFS_SLACK_MOST);
}

static inline uint32_t *pfs_tag_at(struct pfs_extent *extent, const void *block)
{
	uint32_t region = 0;
	if (pfs_tagged_is_large(extent))
		return (uintptr_t)block == extent->base ? extent->tags : NULL;
	return pfs_slab_region(extent, (uintptr_t)block, &region) ? &extent->tags[region] : NULL;
}

/* Bytes that the calling thread allocated or freed for the accounts: thread.allocated and its like
 * are without them. */
static inline void pfs_count_inner(uint64_t allocated, uint64_t freed)
{
	pfs_own.inner_allocated += allocated;
	pfs_own.inner_freed += freed;
	pfs_own.allocated -= allocated;
	pfs_own.freed -= freed;
}

/* The cell that a tag names, directly or through a sample. Only with rule exact. */
static inline struct pfs_cell *pfs_tagged_cell(uint32_t value)
{
	struct pfs_books *books = pfs_program.books;
	struct pfs_cell *cell = pfs_tag_cell(value);
	const struct pfs_box_sample *sample = pfs_sample_of(cell);
	if (sample == NULL)
		return cell;
	struct pfs_box_region *region = books->shelves[PFS_SHELF_CELLS].region;
	uint64_t page = (sample->cell - 1) / region->page_records;
	if (page >= pfs_load_relaxed(&region->page_count)) /* relaxed: a check against damage */
		return NULL;
	return pfs_box_record(&books->box, region, sample->cell);
}

#endif
