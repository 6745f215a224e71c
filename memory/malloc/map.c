#include "map.h"

#include <sys/auxv.h>

#include "apart.h"
#include "containers/compiler.h"
#include "system.h"

#ifdef PFS_SIM_SMALL /* fewer steps */
#define PARTS_TOGETHER 2u
#else
#define PARTS_TOGETHER 512u /* root entries on one OS page */
#endif

/* Address space whose entries are on one OS page. */
#define BYTES_MAPPED ((uintptr_t)PFS_OS_PAGE / sizeof(uint64_t) * PFS_OS_PAGE)

#define ON_OWN_PAGES(section_name) __attribute__((section(section_name), aligned(PFS_OS_PAGE)))

ON_OWN_PAGES(".bss.map") _Atomic(struct pfs_map_leaf *) pfs_map_root[PFS_MAP_ROOT_COUNT];

/* Always zero: read and never written, so it uses no memory. */
static struct pfs_map_leaf no_extents ON_OWN_PAGES(".bss.zero");

/* Point each root entry without a leaf to the empty leaf, for all parts that share an OS page of
 * the root with this one. */
static void point_neighbours(size_t part)
{
	size_t first = part / PARTS_TOGETHER * PARTS_TOGETHER;
	for (size_t at = first; at < first + PARTS_TOGETHER; at++) {
		struct pfs_map_leaf *none = NULL;
		/* [A3] acq_rel, pairs with [A4]. */
		(void)pfs_cas_acq_rel(&pfs_map_root[at], &none, &no_extents);
	}
}

static size_t part_of(uintptr_t address)
{
	return (address & (((uintptr_t)1 << PFS_MAP_ADDRESS_BITS) - 1)) >> PFS_MAP_PART_BITS;
}

void pfs_map_start(void)
{
	static const char of_library;
	int on_stack = 0;
	/* Otherwise mlockall would back it with pages. */
	pfs_system_read_only(&no_extents, sizeof(no_extents));
	point_neighbours(0); /* NULL, and programs at a fixed address */
	point_neighbours(part_of((uintptr_t)&of_library));
	point_neighbours(part_of((uintptr_t)&on_stack));
	point_neighbours(part_of((uintptr_t)getauxval(AT_PHDR)));   /* the program */
	point_neighbours(part_of((uintptr_t)getauxval(AT_EXECFN))); /* the start of the stack */
}

static bool reserve_part(size_t part)
{
	/* [A4] acquire, pairs with [A3]. */
	struct pfs_map_leaf *seen = pfs_load_acquire(&pfs_map_root[part]);
	if (seen == NULL) {
		point_neighbours(part);
		seen = pfs_load_acquire(&pfs_map_root[part]); /* [A4] acquire */
	}
	if (seen != &no_extents)
		return true;
	struct pfs_map_leaf *leaf = pfs_apart_new(sizeof(*leaf));
	if (leaf == NULL)
		return false;
	/* [A3] acq_rel, pairs with [A4]: without it a thread of another arena could find the leaf
	 * before its zeroes, which would then overwrite that thread's entries. */
	if (!pfs_cas_acq_rel(&pfs_map_root[part], &seen, leaf))
		pfs_apart_free(leaf, sizeof(*leaf));
	return true;
}

bool pfs_map_reserve(const void *pages, size_t size_bytes)
{
	uintptr_t first = (uintptr_t)pages;
	uintptr_t last = first + size_bytes - 1;
	bool done = last >> PFS_MAP_ADDRESS_BITS == 0;
	for (size_t part = part_of(first); done && part <= part_of(last); part++)
		done = reserve_part(part);
	return done;
}

uint64_t pfs_map_entry_or_none(uintptr_t address)
{
	if (address >> PFS_MAP_ADDRESS_BITS != 0)
		return 0;
	/* [A4] acquire, pairs with [A3]. */
	struct pfs_map_leaf *leaf = pfs_load_acquire(&pfs_map_root[address >> PFS_MAP_PART_BITS]);
	if (leaf == NULL)
		return 0;
	uint32_t page = (uint32_t)address >> PFS_OS_PAGE_BITS;
	return pfs_load_relaxed(&leaf->entries[page]); /* relaxed: see the head of map.h */
}

static uint64_t entry_of(const struct pfs_extent *extent, uint32_t ring)
{
	return (uint64_t)(uintptr_t)extent << PFS_MAP_RING_BITS | ring;
}

static void set(uintptr_t address, uint64_t entry)
{
	/* [A4] acquire, pairs with [A3]. */
	struct pfs_map_leaf *leaf = pfs_load_acquire(&pfs_map_root[address >> PFS_MAP_PART_BITS]);
	uint32_t page = (uint32_t)address >> PFS_OS_PAGE_BITS;
	/* relaxed: handing the first block out carries it; see the head of map.h. */
	pfs_store_relaxed(&leaf->entries[page], entry);
}

void pfs_map_set_all(uintptr_t base, size_t size_bytes, const struct pfs_extent *extent,
		     uint32_t ring)
{
	uint64_t entry = extent != NULL ? entry_of(extent, ring) : 0;
	for (uintptr_t at = base; at < base + size_bytes; at += PFS_OS_PAGE)
		set(at, entry);
}

void pfs_map_set_ends(uintptr_t base, size_t size_bytes, const struct pfs_extent *extent)
{
	uint64_t entry = extent != NULL ? entry_of(extent, 0) : 0;
	set(base, entry);
	if (size_bytes > PFS_OS_PAGE)
		set(base + size_bytes - PFS_OS_PAGE, entry);
}

/* Whole pages of entries between two addresses of a part. */
static void forget_in_part(uintptr_t first, uintptr_t end)
{
	uintptr_t from = (first + BYTES_MAPPED - 1) & ~(BYTES_MAPPED - 1);
	uintptr_t to = end & ~(BYTES_MAPPED - 1);
	/* [A4] acquire, pairs with [A3]. */
	struct pfs_map_leaf *leaf = pfs_load_acquire(&pfs_map_root[first >> PFS_MAP_PART_BITS]);
	uint32_t page = (uint32_t)from >> PFS_OS_PAGE_BITS;
	if (from < to)
		(void)pfs_system_wipe(&leaf->entries[page],
				      (to - from) / BYTES_MAPPED * PFS_OS_PAGE);
}

void pfs_map_forget(uintptr_t base, size_t size_bytes)
{
	/* without the first and the last page */
	uintptr_t at = base + PFS_OS_PAGE;
	uintptr_t end = base + size_bytes - PFS_OS_PAGE;
	while (at < end) {
		uintptr_t part_end = ((at >> PFS_MAP_PART_BITS) + 1) << PFS_MAP_PART_BITS;
		forget_in_part(at, part_end < end ? part_end : end);
		at = part_end;
	}
}
