/*
 * stats.c - the counts of pfs_malloc_count, from what is there: no call counts anything for them
 * (cache.h says how the rings' marks tell).
 */
#include "stats.h"

#include <pfslab/malloc.h>
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "cache.h"
#include "start.h"
#include "tick.h"

static void add_extents(struct pfs_malloc_counts *counts, struct pfs_extents *extents)
{
	pfs_mutex_lock(&extents->lock);
	counts->active += extents->active_bytes;
	counts->dirty += extents->kinds[PFS_EXTENT_DIRTY].pages * PFS_OS_PAGE;
	counts->muzzy += extents->kinds[PFS_EXTENT_MUZZY].pages * PFS_OS_PAGE;
	counts->retained += extents->kinds[PFS_EXTENT_RETAINED].pages * PFS_OS_PAGE;
	counts->mapped += extents->mapped_bytes;
	counts->large += extents->large_bytes;
	counts->mallocs += extents->large_made;
	counts->frees += extents->large_made - extents->large_count;
	counts->purges += extents->purges;
	counts->purged += extents->purged_pages * PFS_OS_PAGE;
	pfs_mutex_unlock(&extents->lock);
}

/* Regions of a class that are not free in words: in use, or in a ring. */
static uint64_t add_bin(struct pfs_malloc_counts *counts, struct pfs_bin *bin)
{
	const struct pfs_class *class = &pfs_classes[bin->class];
	uint32_t slabs;
	uint64_t free = pfs_bin_free_regions(bin, &slabs);
	uint64_t tail = class->slab_bytes - (uint64_t)class->regions * class->size_bytes;
	counts->slab_free += free * class->size_bytes + slabs * tail;
	counts->slabs += slabs;
	counts->slabs_peak += bin->slab_peak;
	counts->slabs_made += bin->slabs_made;
	counts->slabs_needless += bin->needless;
	return (uint64_t)slabs * class->regions - free;
}

void pfs_malloc_count(struct pfs_malloc_counts *counts)
{
	uint64_t taken[PFS_SMALL_COUNT] = { 0 };
	struct pfs_cache_counts rings;
	uint64_t mapped;
	pfs_start();
	memset(counts, 0, sizeof(*counts));
	pfs_tick_lock(); /* a tick moves blocks from rings to words */
	pfs_caches_count(&rings);
	for (uint32_t i = 0; i < pfs_arena_count(); i++) {
		struct pfs_arena *arena = pfs_arena_if_any(i);
		if (arena == NULL)
			continue;
		counts->arenas++;
		add_extents(counts, &arena->extents);
		for (uint32_t class = 0; class < PFS_SMALL_COUNT; class++)
			taken[class] += add_bin(counts, &arena->bins[class]);
	}
	pfs_tick_unlock();
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class++) {
		uint64_t bytes = pfs_classes[class].size_bytes;
		uint64_t cached = rings.blocks[class] < taken[class] ? rings.blocks[class]
								     : taken[class];
		counts->cached += cached * bytes;
		counts->allocated += (taken[class] - cached) * bytes;
		counts->mallocs += rings.mallocs[class];
		counts->frees += rings.frees[class];
	}
	counts->allocated += counts->large;
	counts->threads = rings.threads;
	counts->mallocs += rings.direct_mallocs;
	counts->frees += rings.direct_frees;
	pfs_base_counts(&mapped, &counts->metadata);
}

static void row(const char *name, uint64_t value)
{
	(void)fprintf(stderr, "%-16s %20llu\n", name, (unsigned long long)value);
}

void pfs_stats_print(void)
{
	struct pfs_malloc_counts counts;
	pfs_malloc_count(&counts);
	(void)fprintf(stderr, "pfsmalloc: bytes\n");
	row("allocated", counts.allocated);
	row("  large", counts.large);
	row("cached", counts.cached);
	row("slab_free", counts.slab_free);
	row("active", counts.active);
	row("dirty", counts.dirty);
	row("muzzy", counts.muzzy);
	row("retained", counts.retained);
	row("mapped", counts.mapped);
	row("metadata", counts.metadata);
	(void)fprintf(stderr, "pfsmalloc: counts\n");
	row("mallocs", counts.mallocs);
	row("frees", counts.frees);
	row("slabs", counts.slabs);
	row("slabs_peak", counts.slabs_peak);
	row("slabs_made", counts.slabs_made);
	row("slabs_needless", counts.slabs_needless);
	row("threads", counts.threads);
	row("arenas", counts.arenas);
	row("purges", counts.purges);
	row("purged", counts.purged);
}
