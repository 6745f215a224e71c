/*
 * map.h - the page map: from any address to its extent and to the ring that its blocks are freed
 * to. It has two levels: a root over parts of 4 GiB, and leaves with 8 bytes for each OS page. A
 * leaf is reserved with the first extent of its part and uses memory only where it has entries.
 *
 * An entry is the address of an extent, shifted left by 16 bits, with the offset of a ring in a
 * thread's cache in the low 16 bits. The offset is 0 outside slabs, which selects the ring that is
 * never usable. So a free of a block of a slab reads nothing else.
 *
 * Invariants
 * 	[MP1] all pages of a slab have entries with its ring; the first and the last page of any
 * 	     other extent have entries without a ring; all other entries are 0.
 * 	[MP2] an entry changes only under the lock of its arena's extents, and that of a slab's
 * 	     page only while no block of the slab is in use.
 * 	[MP3] a root entry points to a leaf before it is ever followed: the entries for the parts
 * 	     around each extent, around the program's own data and around the stack point to the
 * 	     empty leaf. So a pointer outside all extents is also detected, without a test on the
 * 	     path of valid ones. One into unmapped address space may end in SIGSEGV.
 *
 * Ordering:  [A3] root: CAS, acq_rel     <->  [A4] root: load, acquire
 *            carries: the leaf's zeroes, to threads that write entries
 *            A thread that frees a block got the pointer from its owner, who had it after the
 *            entries were written. So entries need no order of their own, as in
 *            containers/page_map.h.
 * Source:    radix maps of addresses as in tcmalloc's pagemap.h; an offset in the entry, so that
 *            no class is looked up: our own.
 */
#ifndef PFS_MALLOC_MAP_H
#define PFS_MALLOC_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classes.h"
#include "containers/atomic.h"

#define PFS_MAP_PART_BITS 32u
#define PFS_MAP_LEAF_COUNT ((size_t)1 << (PFS_MAP_PART_BITS - PFS_OS_PAGE_BITS))
#define PFS_MAP_ADDRESS_BITS 47u
#define PFS_MAP_ROOT_COUNT ((size_t)1 << (PFS_MAP_ADDRESS_BITS - PFS_MAP_PART_BITS))
#define PFS_MAP_RING_BITS 16u

struct pfs_extent;

struct pfs_map_leaf {
	_Atomic(uint64_t) entries[PFS_MAP_LEAF_COUNT];
};
extern _Atomic(struct pfs_map_leaf *) pfs_map_root[PFS_MAP_ROOT_COUNT]
	__attribute__((visibility("hidden")));

/* Point the parts that foreign pointers usually come from to the empty leaf. Once, before the first
 * extent. */
void pfs_map_start(void);

/* Make leaves for these pages; false: no memory, or addresses beyond the map. */
bool pfs_map_reserve(const void *pages, size_t size_bytes);

/* The entry of an address whose part has a leaf [MP3]. */
static inline uint64_t pfs_map_entry(const void *pointer)
{
	uintptr_t address = (uintptr_t)pointer;
	/* relaxed: the head of this file says why root and entry are new enough. */
	struct pfs_map_leaf *leaf = pfs_load_relaxed(&pfs_map_root[address >> PFS_MAP_PART_BITS]);
	uint32_t page = (uint32_t)address >> PFS_OS_PAGE_BITS;
	return pfs_load_relaxed(&leaf->entries[page]); /* relaxed: as above */
}

/* Only the ring's offset of such an entry. */
static inline uint64_t pfs_map_ring_of(const void *pointer)
{
	uintptr_t address = (uintptr_t)pointer;
	/* relaxed: as in pfs_map_entry. */
	struct pfs_map_leaf *leaf = pfs_load_relaxed(&pfs_map_root[address >> PFS_MAP_PART_BITS]);
	uint32_t page = (uint32_t)address >> PFS_OS_PAGE_BITS;
	return pfs_low_half(&leaf->entries[page]);
}

/* The entry of any address; 0 if there is no leaf. */
uint64_t pfs_map_entry_or_none(uintptr_t address);

static inline struct pfs_extent *pfs_map_extent(uint64_t entry)
{
	return (struct pfs_extent *)(uintptr_t)(entry >> PFS_MAP_RING_BITS);
}

static inline uint32_t pfs_map_ring(uint64_t entry)
{
	return (uint16_t)entry;
}

/* Write entries of reserved pages, by a thread that may [MP2]. set_all: for a slab with its ring,
 * or extent NULL to clear. */
void pfs_map_set_all(uintptr_t base, size_t size_bytes, const struct pfs_extent *extent,
		     uint32_t ring);
void pfs_map_set_ends(uintptr_t base, size_t size_bytes, const struct pfs_extent *extent);

/* Return the map's memory for the inner pages of a free extent, whose entries are 0 [MP1]. Under
 * the lock of its arena's extents. */
void pfs_map_forget(uintptr_t base, size_t size_bytes);

#endif
