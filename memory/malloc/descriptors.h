/*
 * descriptors.h - where an arena's extents have their descriptors: in chunks that belong to the
 * arena forever. The memory of an OS page of them returns to the system while all of them are free.
 *
 * A page is FULL, or PARTIAL, or IDLE (all of its descriptors are free), or WIPED (idle, and its
 * memory is returned). A descriptor is taken from a partial page, then from an idle one, then from
 * a wiped one, then from one that was never used. So few pages are partial, and an idle page is
 * taken only if no other has room. What is known of a page is kept apart from it.
 *
 * An arena's first descriptors come in small chunks between its other metadata. Those stay.
 *
 * Invariants
 * 	[DS1] a page is wiped only while all of its descriptors are free.
 * 	[DS2] the `arena` of a descriptor is its chunk's arena, or NULL: it is wiped, or was never
 * 	     used. So a thread that finds its own arena there, under the lock of its extents, has
 * 	     a descriptor that nobody wipes. A wiped one reads as zeroes (but for a late hint in
 * 	     `summary` [SL2]), and so as an extent of no arena that is not a block.
 *
 * Everything is under the extents' lock, the system's calls too: each takes back at most
 * PFS_DESCRIPTORS_TOGETHER pages.
 *
 * Source:    lists of slabs by their use as in Bonwick's slab allocator; the low-water mark of
 *            extents.h.
 */
#ifndef PFS_MALLOC_DESCRIPTORS_H
#define PFS_MALLOC_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFS_DESCRIPTORS_TOGETHER 64u /* pages of one call: 15 us, or 60 if they are scattered */
#define PFS_DESCRIPTORS_FEW 16u      /* idle pages that are not worth a call */

struct pfs_extent;
struct pfs_descriptor_chunk;

struct pfs_descriptor_page {
	struct pfs_descriptor_page *newer, *older; /* in the list of its state */
	struct pfs_descriptor_chunk *chunk;
	uint32_t free; /* a bit for each of its descriptors */
	bool is_wiped;
};

struct pfs_descriptor_list {
	struct pfs_descriptor_page *newest, *oldest;
};

/* Zero-initialized. */
struct pfs_descriptors {
	struct pfs_descriptor_list partial, idle, wiped;
	struct pfs_descriptor_chunk *chunks; /* the newest first */
	size_t bytes;                        /* of all chunks */
	size_t idle_pages;
	size_t memory_pages; /* of large chunks: they are used, or idle */
	size_t idle_low;     /* the fewest since the last pfs_descriptors_low */
};

/* A descriptor with arbitrary contents, or zeroes; NULL: no memory. */
struct pfs_extent *pfs_descriptors_take(struct pfs_descriptors *self);
void pfs_descriptors_free(struct pfs_descriptors *self, struct pfs_extent *extent);

/* The first descriptor in use after one, in no particular order; NULL is before all, and after all.
 */
struct pfs_extent *pfs_descriptors_next(struct pfs_descriptors *self, struct pfs_extent *before);

/* Return the memory of idle pages, of those first that have long been idle: of at most pages_most,
 * and at most PFS_DESCRIPTORS_TOGETHER. Returns how many; 0: there are none, or the system refuses.
 */
size_t pfs_descriptors_wipe(struct pfs_descriptors *self, size_t pages_most);

/* The fewest idle pages since the last call: that many were not needed in between. */
size_t pfs_descriptors_low(struct pfs_descriptors *self);

#endif
