/*
 * map.h - the page map: from any address to the extent that has it and the ring that its blocks go
 * to. Two levels: a root over parts of 4 GiB, and leaves with 8 bytes for each OS page, which are
 * reserved with the first extent of their part and hold memory only where entries are.
 *
 * An entry is an extent's address, shifted by 16 bits, and in the low 16 bits the offset of a ring
 * in a thread's cache; 0 for what is no slab, which leads to the ring that is never usable. So
 * free of a block of a slab looks at nothing else.
 *
 * Invariants
 *	[MP1] all pages of a slab have entries with its ring; the first and the last page of any
 *	     other extent have entries without one; all other entries are 0.
 *	[MP2] an entry changes only under the lock of its arena's extents, and the page of a slab
 *	     only while no block of it is in use.
 *	[MP3] a root entry is never followed before it points to a leaf: those of the parts around
 *	     each extent, of the program's own data and of the stack point to the empty leaf. So a
 *	     pointer that no extent has is found out, too, without a test on the way of those
 *	     that are right; one to where nothing is mapped at all may end in SIGSEGV.
 *
 * Ordering:  [A3] root: CAS, acq_rel     <->  [A4] root: load, acquire
 *            carries: the leaf's zeroes, to whoever writes entries
 *            Whoever frees a block was told of it by its owner, who came after the entries; so
 *            entries need no order of their own, as in containers/page_map.h.
 * Source:    radix maps of addresses as in tcmalloc's pagemap.h; an offset in the entry so that
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

/* The parts that foreign pointers come from have leaves. Once, before the first extent. */
void pfs_map_start(void);

/* Leaves for these pages; false: no memory, or addresses beyond the map. */
bool pfs_map_reserve(const void *pages, size_t size_bytes);

/* The entry of an address whose part has a leaf [MP3]. */
static inline uint64_t pfs_map_entry(const void *pointer)
{
	uintptr_t address = (uintptr_t)pointer;
	/* relaxed: the head of this file says what makes root and entry new enough. */
	struct pfs_map_leaf *leaf = pfs_load_relaxed(&pfs_map_root[address >> PFS_MAP_PART_BITS]);
	uint32_t page = (uint32_t)address >> PFS_OS_PAGE_BITS;
	return pfs_load_relaxed(&leaf->entries[page]); /* relaxed: as above */
}

/* The ring's offset alone, of the same. */
static inline uint64_t pfs_map_ring_of(const void *pointer)
{
	uintptr_t address = (uintptr_t)pointer;
	/* relaxed: as in pfs_map_entry. */
	struct pfs_map_leaf *leaf = pfs_load_relaxed(&pfs_map_root[address >> PFS_MAP_PART_BITS]);
	uint32_t page = (uint32_t)address >> PFS_OS_PAGE_BITS;
	return pfs_low_half(&leaf->entries[page]);
}

/* The same of any address: 0 where there is no leaf. */
uint64_t pfs_map_entry_or_none(uintptr_t address);

static inline struct pfs_extent *pfs_map_extent(uint64_t entry)
{
	return (struct pfs_extent *)(uintptr_t)(entry >> PFS_MAP_RING_BITS);
}

static inline uint32_t pfs_map_ring(uint64_t entry)
{
	return (uint16_t)entry;
}

/* Write entries; for pages that are reserved, by who may [MP2]. all: ring != 0 or extent NULL. */
void pfs_map_set_all(uintptr_t base, size_t size_bytes, const struct pfs_extent *extent,
		     uint32_t ring);
void pfs_map_set_ends(uintptr_t base, size_t size_bytes, const struct pfs_extent *extent);

#endif
