/*
 * stats.c - the counts of pfs_malloc_count, derived from the allocator's state: no call counts
 * anything for them (cache.h says how rings give the numbers of calls).
 */
#include "stats.h"

#include <stdio.h>
#include <string.h>

#include "block.h"
#include "cache.h"
#include "start.h"
#include "tick.h"

static void count_extents(struct pfs_arena_counts *counts, struct pfs_extents *extents)
{
	pfs_mutex_lock(&extents->lock);
	counts->active = extents->active_bytes;
	counts->dirty = extents->kinds[PFS_EXTENT_DIRTY].pages * PFS_OS_PAGE;
	counts->muzzy = extents->kinds[PFS_EXTENT_MUZZY].pages * PFS_OS_PAGE;
	counts->retained = extents->kinds[PFS_EXTENT_RETAINED].pages * PFS_OS_PAGE;
	counts->mapped = extents->mapped_bytes;
	counts->resident = counts->active + counts->dirty;
	counts->large = extents->large_bytes;
	counts->large_made = extents->large_made;
	counts->large_freed = extents->large_made - extents->large_count;
	counts->purges = extents->purges;
	counts->purged_pages = extents->purged_pages;
	pfs_mutex_unlock(&extents->lock);
}

static void count_arena(struct pfs_arena *arena, struct pfs_arena_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	count_extents(counts, &arena->extents);
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++) {
		struct pfs_bin_counts *bin = &counts->bins[class];
		pfs_bin_count(&arena->bins[class], bin);
		counts->small += bin->taken_regions * pfs_classes[class].size_bytes;
		counts->small_takes += bin->takes;
		counts->small_gives += bin->gives;
	}
	counts->held = pfs_caches_held_bytes(arena);
	counts->dirty_decay_ms = pfs_arena_decay_ms(arena, PFS_EXTENT_DIRTY);
	counts->muzzy_decay_ms = pfs_arena_decay_ms(arena, PFS_EXTENT_MUZZY);
	counts->threads = pfs_load_relaxed(&arena->threads); /* relaxed: a count */
}

static void add_bin(struct pfs_malloc_counts *counts, const struct pfs_bin_counts *bin,
		    const struct pfs_class *class)
{
	uint64_t tail = class->slab_bytes - (uint64_t) class->regions * class->size_bytes;
	counts->slab_free += bin->free_regions * class->size_bytes + bin->slabs * tail;
	counts->slabs += bin->slabs;
	counts->slabs_peak += bin->slabs_peak;
	counts->slabs_made += bin->slabs_made;
	counts->slabs_needless += bin->needless;
}

static void add_arena(struct pfs_malloc_counts *counts, const struct pfs_arena_counts *arena)
{
	counts->arenas++;
	counts->active += arena->active;
	counts->dirty += arena->dirty;
	counts->muzzy += arena->muzzy;
	counts->retained += arena->retained;
	counts->mapped += arena->mapped;
	counts->large += arena->large;
	counts->mallocs += arena->large_made;
	counts->frees += arena->large_freed;
	counts->purges += arena->purges;
	counts->purged += arena->purged_pages * PFS_OS_PAGE;
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++)
		add_bin(counts, &arena->bins[class], &pfs_classes[class]);
}

/* taken: by class, the regions that are not free in words: in use or in a ring. */
static void add_rings(struct pfs_malloc_counts *counts, const struct pfs_cache_counts *rings,
		      const uint64_t *taken)
{
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++) {
		uint64_t bytes = pfs_classes[class].size_bytes;
		uint64_t cached = rings->blocks[class] < taken[class] ? rings->blocks[class]
								      : taken[class];
		counts->cached += cached * bytes;
		counts->allocated += (taken[class] - cached) * bytes;
		counts->mallocs += rings->mallocs[class];
		counts->frees += rings->frees[class];
	}
	counts->threads = rings->threads;
	counts->mallocs += rings->direct_mallocs;
	counts->frees += rings->direct_frees;
	/* What left a rack otherwise than for a request counts among the freed large blocks. */
	counts->mallocs += rings->rack_takes;
	counts->frees += rings->rack_takes + rings->rack_blocks;
	uint64_t on_racks = rings->rack_bytes < counts->large ? rings->rack_bytes
								 : counts->large;
	counts->large -= on_racks;
	counts->cached += on_racks;
}

/* Those that base.h does not know. */
static uint64_t descriptor_bytes(void)
{
	uint64_t bytes = 0;
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL) {
		pfs_mutex_lock(&arena->extents.lock);
		bytes += arena->extents.descriptors.memory_pages * PFS_OS_PAGE;
		pfs_mutex_unlock(&arena->extents.lock);
	}
	return bytes;
}

void pfs_count_metadata(uint64_t *mapped, uint64_t *used)
{
	uint64_t bytes = descriptor_bytes();
	pfs_base_counts(mapped, used);
	*mapped += bytes;
	*used += bytes;
}

void pfs_count_all(struct pfs_malloc_counts *counts,
		   void (*note)(uint32_t arena, const struct pfs_arena_counts *counts))
{
	uint64_t taken[PFS_SMALL_COUNT] = { 0 };
	struct pfs_cache_counts rings;
	struct pfs_arena_counts one;
	uint64_t mapped;
	pfs_start();
	memset(counts, 0, sizeof(*counts));
	pfs_tick_lock(); /* a tick moves blocks from rings to words */
	pfs_caches_count(&rings);
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL) {
		count_arena(arena, &one);
		add_arena(counts, &one);
		for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++)
			taken[class] += one.bins[class].taken_regions;
		if (note != NULL)
			note(arena->number, &one);
	}
	pfs_tick_unlock();
	add_rings(counts, &rings, taken);
	counts->allocated += counts->large;
	pfs_count_metadata(&mapped, &counts->metadata);
}

PFS_OWN void pfs_malloc_count(struct pfs_malloc_counts *counts)
{
	pfs_count_all(counts, NULL);
}

#define LOOK_SHARE 16u

/* From the last look that found a new peak of slabs. If two threads look at once, the numbers may
 * mix. */
static _Atomic(uint64_t) peak_slab_bytes;
static _Atomic(uint64_t) peak_live_bytes;
static _Atomic(uint64_t) peak_cached_bytes;

static uint64_t slab_bytes(void)
{
	uint64_t bytes = 0;
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL) {
		pfs_mutex_lock(&arena->extents.lock);
		bytes += arena->extents.active_bytes - arena->extents.large_bytes;
		pfs_mutex_unlock(&arena->extents.lock);
	}
	return bytes;
}

void pfs_stats_look(void)
{
	uint64_t bytes = slab_bytes();
	/* relaxed: statistics, like all below */
	uint64_t peak = pfs_load_relaxed(&peak_slab_bytes);
	if (bytes <= peak + peak / LOOK_SHARE)
		return;
	struct pfs_malloc_counts counts;
	pfs_malloc_count(&counts);
	pfs_store_relaxed(&peak_slab_bytes, bytes); /* relaxed: so */
	/* relaxed: so */
	pfs_store_relaxed(&peak_live_bytes, counts.allocated - counts.large);
	pfs_store_relaxed(&peak_cached_bytes, counts.cached); /* relaxed: so */
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
	if (pfs_conf.stats_print) {
		row("slabs_bytes", pfs_load_relaxed(&peak_slab_bytes));    /* relaxed: so */
		row("slabs_live", pfs_load_relaxed(&peak_live_bytes));     /* relaxed: so */
		row("slabs_cached", pfs_load_relaxed(&peak_cached_bytes)); /* relaxed: so */
	}
	row("threads", counts.threads);
	row("arenas", counts.arenas);
	row("purges", counts.purges);
	row("purged", counts.purged);
}
