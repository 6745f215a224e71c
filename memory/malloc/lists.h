/*
 * lists.h - the lists of an arena's free extents, by length and by age; cutting and joining. For
 * extents.c and purge.c; all under the extents' lock.
 */
#ifndef PFS_MALLOC_LISTS_H
#define PFS_MALLOC_LISTS_H

#include "extents.h"

static inline size_t pfs_extent_pages(const struct pfs_extent *extent)
{
	return extent->size_bytes / PFS_OS_PAGE;
}

/* A new descriptor, HELD; NULL: no memory. And one that is no longer needed. */
struct pfs_extent *pfs_extents_descriptor(struct pfs_extents *self);
void pfs_extents_descriptor_free(struct pfs_extents *self, struct pfs_extent *extent);

/* Take an extent out of its lists. It is HELD from now on. */
void pfs_extents_delist(struct pfs_extents *self, struct pfs_extent *extent);

/* A HELD extent becomes free and is joined with its neighbours of that kind [EX2]. */
void pfs_extents_insert(struct pfs_extents *self, struct pfs_extent *extent,
			enum pfs_extent_kind kind);

/* Only the list by length: around a change of a listed extent's length. */
void pfs_extents_list_length(struct pfs_extents_kind *kind, struct pfs_extent *extent);
void pfs_extents_unlist_length(struct pfs_extents_kind *kind, struct pfs_extent *extent);

/* Append `right`, which begins where `left` ends, to `left`. */
void pfs_extents_join(struct pfs_extents *self, struct pfs_extent *left, struct pfs_extent *right);

/* Cut an extent at size_bytes. Returns the rest, HELD; NULL: no memory for its descriptor. */
struct pfs_extent *pfs_extents_split(struct pfs_extents *self, struct pfs_extent *extent,
				     size_t size_bytes);

/* A long extent and, if has_gaps, the gaps (hidden.h) beside it that are hidden, or are not. */
struct pfs_extents_run {
	struct pfs_extent *extents[3];
	uint32_t count;
	uintptr_t base; /* of all their pages */
	size_t size_bytes;
};

struct pfs_extents_run pfs_extents_run(struct pfs_extents *self, struct pfs_extent *extent,
				       bool has_gaps, bool is_hidden);

/*
 * An extent that is in no list is about to be used: forked children get its pages from now on, and
 * those of the gaps beside it. One system call if any is hidden, and only fork hides. False:
 * refused; the extent is given up, since a child would lack a block in it: it stays HELD, and its
 * memory is returned.
 */
bool pfs_extents_show(struct pfs_extents *self, struct pfs_extent *extent);

/* The system hides none of its pages now; or all of them, in one run. */
void pfs_extents_note_shown(struct pfs_extents *self, struct pfs_extent *extent);
void pfs_extents_note_hidden(struct pfs_extents *self, struct pfs_extent *extent);

/* The arena's free extent of a kind that contains an address; NULL: none. */
struct pfs_extent *pfs_extents_neighbour(struct pfs_extents *self, uintptr_t address,
					 enum pfs_extent_kind kind);

/* Update the low-water marks, after the unused rest of a taken extent is back in its list. */
void pfs_extents_note_low(struct pfs_extents *self);

/* purge.c: pages of new memory were taken (more), or purged for that (less). */
void pfs_extents_owe(struct pfs_extents *self, size_t more, size_t less);

#endif
