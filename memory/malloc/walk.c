/*
 * walk.c - visits every block in use: the regions whose bits are clear after all rings are emptied,
 * and the large and guarded extents. No call records anything for it.
 */
#include <pfslab/malloc.h>

#include "block.h"
#include "tick.h"
#include "guard.h"
#include "locks.h"

struct walk {
	bool (*visit)(const struct pfs_malloc_block *block, void *context);
	void *context;
	uint64_t visited;
	uint32_t arena;
	bool is_over;
};

static void visit(struct walk *walk, void *block, size_t size_bytes)
{
	struct pfs_malloc_block found = { block, size_bytes, walk->arena };
	walk->visited++;
	walk->is_over = !walk->visit(&found, walk->context);
}

static void walk_slab(struct walk *walk, struct pfs_extent *slab)
{
	for (uint32_t region = 0; region < slab->regions && !walk->is_over; region++) {
		/* relaxed: exact at rest, see pfs_malloc_walk. */
		uint64_t bits = pfs_load_relaxed(&slab->words[region / PFS_WORD_REGIONS]);
		if ((bits >> (region % PFS_WORD_REGIONS) & 1) == 0)
			visit(walk, pfs_slab_block(slab, region), slab->block_bytes);
	}
}

static void walk_bin(struct walk *walk, struct pfs_bin *bin)
{
	pfs_mutex_lock(&bin->lock);
	for (uint32_t g = 0; g < bin->group_count; g++) {
		for (uint32_t i = 0; i < pfs_group_slabs(g) && !walk->is_over; i++) {
			struct pfs_extent *slab = bin->groups[g]->slabs[i];
			if (slab != NULL)
				walk_slab(walk, slab);
		}
	}
	pfs_mutex_unlock(&bin->lock);
}

/* Large blocks are found by their descriptors. */
static void walk_large(struct walk *walk, struct pfs_extents *extents)
{
	pfs_mutex_lock(&extents->lock);
	struct pfs_extent *extent = NULL;
	while (!walk->is_over &&
	       (extent = pfs_descriptors_next(&extents->descriptors, extent)) != NULL)
		if (pfs_extent_kind(extent) == PFS_EXTENT_LARGE)
			visit(walk, (void *)extent->base, extent->request_bytes); /* NOLINT */
	pfs_mutex_unlock(&extents->lock);
}

static void walk_guarded(struct walk *walk, const struct pfs_arena *arena)
{
	struct pfs_extent *extent = NULL;
	while (!walk->is_over && (extent = pfs_guard_next(extent)) != NULL)
		if (pfs_extent_kind(extent) == PFS_EXTENT_GUARDED &&
		    pfs_extent_arena(extent) == arena)
			visit(walk, (void *)extent->base, extent->request_bytes); /* NOLINT */
}

PFS_OWN uint64_t pfs_malloc_walk(bool (*call)(const struct pfs_malloc_block *block, void *context),
				 void *context)
{
	struct walk walk = { .visit = call, .context = context };
	pfs_start();
	pfs_tick_lock(); /* a concurrent tick would end slabs */
	(void)pfs_caches_tick(true);
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL)
		pfs_stocks_empty(arena);
	while (!walk.is_over && (arena = pfs_arena_next(arena)) != NULL) {
		walk.arena = arena->number;
		for (uint32_t class = 0; class < PFS_SMALL_COUNT && !walk.is_over; class ++)
			walk_bin(&walk, &arena->bins[class]);
		walk_large(&walk, &arena->extents);
		walk_guarded(&walk, arena);
	}
	pfs_tick_unlock();
	return walk.visited;
}
