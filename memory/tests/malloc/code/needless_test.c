/*
 * needless_test.c - a slab counts as needless exactly if it is made although other threads' rings
 * hold a slab's worth of regions that could not be taken. The test controls what the rings hold.
 */
#include <stdlib.h>

#include "memory/malloc/arena.h"
#include "memory/malloc/cache.h"
#include "memory/malloc/start.h"
#include "check.h"

#define CLASS 20u
#define REGIONS_MOST 4096u

static struct {
	void *gives; /* a block that the rings give back; NULL: none */
	bool is_held;
	uint32_t calls;
} rings;

bool __wrap_pfs_caches_take_back(struct pfs_bin *bin, bool *is_held);
bool __wrap_pfs_caches_take_back(struct pfs_bin *bin, bool *is_held)
{
	(void)bin;
	bool gives = rings.gives != NULL;
	if (gives)
		pfs_blocks_give(&rings.gives, 1, "free");
	rings.gives = NULL;
	rings.calls++;
	*is_held = rings.is_held;
	return gives;
}

static void counts_are(struct pfs_bin *bin, uint64_t slabs, uint64_t needless, const char *when)
{
	struct pfs_bin_counts counts;
	pfs_bin_count(bin, &counts);
	CHECK(counts.slabs_made == slabs, "%s: %llu slabs were made, not %llu", when,
	      (unsigned long long)counts.slabs_made, (unsigned long long)slabs);
	CHECK(counts.needless == needless, "%s: %llu slabs are needless, not %llu", when,
	      (unsigned long long)counts.needless, (unsigned long long)needless);
}

/* Take a slab's worth of blocks from a bin without a free one. Returns one of them. */
static void *take_slab(struct pfs_bin *bin)
{
	static void *blocks[REGIONS_MOST];
	uint32_t count = pfs_classes[CLASS].regions;
	CHECK(count <= REGIONS_MOST && pfs_bin_take(bin, blocks, count) == count, "no slab");
	return blocks[0];
}

int main(void)
{
	pfs_start();
	struct pfs_arena *arena = pfs_arena_at(0);
	CHECK(arena != NULL, "no arena");
	struct pfs_bin *bin = &arena->bins[CLASS];
	void *block = take_slab(bin);
	CHECK(rings.calls == 1, "the rings were asked %u times", rings.calls);
	counts_are(bin, 1, 0, "no ring held anything");

	rings.is_held = true;
	rings.gives = block;
	CHECK(pfs_bin_take(bin, &block, 1) == 1, "no block");
	CHECK(rings.calls == 2, "the rings were not asked");
	counts_are(bin, 1, 0, "rings held more than came, but one came");

	(void)take_slab(bin);
	counts_are(bin, 2, 1, "rings held a slab's worth, and nothing came");

	rings.is_held = false;
	(void)take_slab(bin);
	counts_are(bin, 3, 1, "no ring held anything any more");
	return 0;
}
