/*
 * malloc_map.c - the page map's root: threads want a leaf for the same part at the same time, and
 * each writes its own entry. [MP3]
 */
#include "memory/malloc/map.h"

#include <string.h>

#include "memory/search/malloc_world.h"

#define LEAVES 4u
#define PART (UINT64_C(0x1234) & ~UINT64_C(1)) /* and the next one */

static struct pfs_map_leaf leaves[LEAVES];
static struct {
	uint32_t used;
	uint32_t reserved; /* a bit for each thread */
	bool gone[LEAVES];
} known;

static uintptr_t address_of(uint32_t thread)
{
	return (uintptr_t)(PART << PFS_MAP_PART_BITS) + thread * (uintptr_t)PFS_OS_PAGE;
}

void pfs_malloc_map_reset(void)
{
	for (uint32_t at = 0; at < LEAVES; at++) {
		for (uint32_t thread = 0; thread < PFS_MALLOC_THREADS_MAX; thread++)
			pfs_store_relaxed(&leaves[at].entries[thread], 0); /* relaxed: set-up */
	}
	for (uint32_t at = 0; at < 2; at++)
		pfs_store_relaxed(&pfs_map_root[PART + at], NULL); /* relaxed: set-up */
	memset(&known, 0, sizeof(known));
}

void pfs_malloc_map_keep(struct pfs_machine_snapshot *snapshot)
{
	pfs_snapshot_put(snapshot, &known, sizeof(known));
	pfs_snapshot_put(snapshot, (void *)&pfs_map_root[PART], 2 * sizeof(pfs_map_root[0]));
	for (uint32_t at = 0; at < LEAVES; at++)
		pfs_snapshot_put(snapshot, (void *)leaves[at].entries,
				 PFS_MALLOC_THREADS_MAX * sizeof(leaves[at].entries[0]));
}

struct pfs_map_leaf *pfs_malloc_map_leaf(void)
{
	return known.used < LEAVES ? &leaves[known.used++] : NULL;
}

void pfs_malloc_map_unleaf(const void *leaf)
{
	for (uint32_t at = 0; at < LEAVES; at++)
		known.gone[at] |= leaf == &leaves[at];
}

static const struct pfs_extent *extent_of(uint32_t thread)
{
	return (const struct pfs_extent *)&known.gone[thread]; /* never read */
}

static void expect_entry(uint32_t thread)
{
	uint64_t entry = pfs_map_entry_or_none(address_of(thread));
	PFS_MACHINE_CHECK(pfs_map_extent(entry) == extent_of(thread),
			  "the map has lost an entry of thread %u", thread);
}

void pfs_malloc_map_reserve(uint32_t thread)
{
	const void *pages = (const void *)address_of(thread); /* NOLINT: a number */
	PFS_MACHINE_CHECK(pfs_map_reserve(pages, PFS_OS_PAGE), "no leaf");
	pfs_map_set_ends(address_of(thread), PFS_OS_PAGE, extent_of(thread));
	expect_entry(thread);
	known.reserved |= UINT32_C(1) << thread;
}

void pfs_malloc_map_check(uint32_t threads)
{
	for (uint32_t thread = 0; thread < threads; thread++)
		if ((known.reserved >> thread & 1) != 0)
			expect_entry(thread);
	const struct pfs_map_leaf *leaf = pfs_load_relaxed(&pfs_map_root[PART]); /* relaxed: rest */
	uint32_t left = 0;
	for (uint32_t at = 0; at < known.used; at++) {
		left += !known.gone[at];
		PFS_MACHINE_CHECK(!known.gone[at] || leaf != &leaves[at],
				  "the leaf in use is gone");
	}
	PFS_MACHINE_CHECK(left <= 1, "a leaf that no thread uses is left");
}
