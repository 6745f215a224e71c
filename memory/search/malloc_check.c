/*
 * malloc_check.c - checks when all calls are made: each block is in one place, the hints show all
 * the room there is [SL3], and no slab but the spare is empty.
 */
#include "memory/malloc/map.h"
#include "memory/search/malloc_world.h"

static uint32_t slots_with(void *const *slots, uint32_t count, const void *block)
{
	uint32_t found = 0;
	for (uint32_t at = 0; at < count; at++)
		found += slots[at] == block;
	return found;
}

static uint32_t ring_with(struct pfs_cache_ring *ring, const void *block)
{
	if (pfs_ring_is_revoked(ring))
		return 0;
	return slots_with(ring->slots, pfs_ring_front_count(ring), block) +
	       slots_with(pfs_ring_back_slots(ring), pfs_ring_back_count(ring), block);
}

static uint32_t rings_with(uint32_t class, const void *block)
{
	uint32_t found = 0;
	for (struct pfs_cache *at = pfs_registry.oldest; at != NULL; at = at->next)
		found += ring_with(&at->rings[class], block);
	return found;
}

static uint32_t stock_with(const struct pfs_stock *stock, const void *block)
{
	uint32_t found = 0;
	uint32_t count = pfs_stock_in_top(pfs_load_relaxed(&stock->count));
	for (const struct pfs_stock_chunk *at = stock->top; at != NULL; at = at->below) {
		found += slots_with(at->blocks, count, block);
		count = PFS_STOCK_CHUNK_BLOCKS;
	}
	return found;
}

/* Each region is with its owner, in its word, or in one ring or stock. */
static void check_regions(struct pfs_malloc_world *self, struct pfs_extent *slab)
{
	for (uint32_t region = 0; region < slab->regions; region++) {
		const void *block = pfs_slab_block(slab, region);
		uint32_t id = pfs_malloc_block_id(block);
		uint64_t word = pfs_load_relaxed(&slab->words[region / PFS_WORD_REGIONS]);
		uint32_t owned = self->oracle.owner[id] != 0;
		uint32_t free = (uint32_t)(word >> (region % PFS_WORD_REGIONS)) & 1;
		const struct pfs_stock *stock = &slab->group->bin->stock;
		uint32_t rings = rings_with(self->scene->class, block) + stock_with(stock, block);
		PFS_MACHINE_CHECK(owned + free + rings == 1,
				  "%s: block %u: owners %u, in words %u, in rings %u",
				  owned + free + rings == 0 ? "lost" : "in two places", id, owned,
				  free, rings);
	}
}

/* [SL3] of a slab; true: it has a free region. */
static bool check_hints(struct pfs_bin *bin, struct pfs_group *group, uint32_t slot)
{
	struct pfs_extent *slab = group->slabs[slot];
	bool has_room = false;
	for (uint32_t word = 0; word < pfs_slab_word_count(slab); word++) {
		if (pfs_load_relaxed(&slab->words[word]) == 0)
			continue;
		has_room = true;
		PFS_MACHINE_CHECK((pfs_load_relaxed(&slab->summary) >> word & 1) != 0,
				  "room is not announced: word %u in its slab", word);
	}
	if (!has_room)
		return false;
	PFS_MACHINE_CHECK((pfs_load_relaxed(&group->room) >> slot & 1) != 0,
			  "room is not announced: slab %u in its group", slot);
	PFS_MACHINE_CHECK((pfs_load_relaxed(&bin->room) & pfs_group_bit(group)) != 0,
			  "room is not announced: group %u in its bin", group->number);
	return true;
}

static void check_spare(const struct pfs_bin *bin, const struct pfs_extent *slab)
{
	bool is_empty = pfs_words_are_full(pfs_slab_words(slab));
	PFS_MACHINE_CHECK(!is_empty || slab == bin->spare,
			  "a slab is empty, but it is not the spare");
	PFS_MACHINE_CHECK(is_empty || slab != bin->spare, "the spare slab is in use");
}

/* Blocks in use are in slabs that exist. */
static void check_owned(struct pfs_malloc_world *self, uint32_t regions_in_use)
{
	uint32_t owned = 0;
	for (uint32_t id = 0; id < PFS_MALLOC_BLOCKS_MAX; id++)
		owned += self->oracle.owner[id] != 0;
	PFS_MACHINE_CHECK(owned == regions_in_use, "a slab has ended with a block in use");
}

static uint32_t owned_in(const struct pfs_malloc_world *self, const struct pfs_extent *slab)
{
	uint32_t owned = 0;
	for (uint32_t region = 0; region < slab->regions; region++)
		owned += self->oracle.owner[pfs_malloc_block_id(pfs_slab_block(slab, region))] != 0;
	return owned;
}

/* The rings have counted the calls that were made. */
static void check_counts(const struct pfs_malloc_world *self)
{
	struct pfs_cache_counts counts;
	uint32_t class = self->scene->class;
	pfs_caches_count(&counts);
	PFS_MACHINE_CHECK(counts.mallocs[class] + counts.direct_mallocs == self->oracle.mallocs,
			  "the rings count other mallocs than were called");
	PFS_MACHINE_CHECK(counts.frees[class] + counts.direct_frees == self->oracle.frees,
			  "the rings count other frees than were called");
}

static void check_stock(const struct pfs_bin *bin)
{
	uint32_t count = pfs_load_relaxed(&bin->stock.count); /* relaxed: at rest */
	PFS_MACHINE_CHECK(bin->stock.low <= count,
			  "a stock had fewer blocks than it claims not to have needed");
	count = pfs_stock_in_top(count);
	for (const struct pfs_stock_chunk *at = bin->stock.top; at != NULL; at = at->below) {
		for (uint32_t i = 0; i < count; i++) {
			struct pfs_extent *slab = pfs_map_extent(pfs_map_entry(at->blocks[i]));
			PFS_MACHINE_CHECK(slab != NULL && pfs_extent_arena(slab) == bin->arena,
					  "a stock has a block of another arena");
		}
		count = PFS_STOCK_CHUNK_BLOCKS;
	}
}

/* Checks a bin's slabs. Returns the number of their blocks that threads own. */
static uint32_t check_bin(struct pfs_malloc_world *self, struct pfs_bin *bin)
{
	uint32_t slabs = 0, owned = 0;
	bool has_room = false;
	check_stock(bin);
	for (uint32_t at = 0; at < bin->group_count; at++) {
		struct pfs_group *group = bin->groups[at];
		for (uint32_t slot = 0; slot < pfs_group_slabs(at); slot++) {
			struct pfs_extent *slab = group->slabs[slot];
			if (slab == NULL)
				continue;
			slabs++;
			owned += owned_in(self, slab);
			check_regions(self, slab);
			has_room |= check_hints(bin, group, slot);
			check_spare(bin, slab);
		}
	}
	PFS_MACHINE_CHECK(slabs == bin->slab_count, "%u slabs exist, %u are counted", slabs,
			  bin->slab_count);
	/* The slab that it finds may be full: a late hint. */
	PFS_MACHINE_CHECK(pfs_bin_slab_with_room(bin) != NULL || !has_room,
			  "a free region is not found");
	return owned;
}

void pfs_malloc_check(struct pfs_malloc_world *self)
{
	const struct pfs_bin *first = pfs_malloc_world_bin(self);
	uint32_t owned = 0;
	for (uint32_t arena = 0; arena < pfs_arena_count(); arena++)
		owned += check_bin(self, pfs_malloc_world_bin_of(self, arena));
	check_owned(self, owned);
	PFS_MACHINE_CHECK(!self->scene->grows_not || first->slabs_made == self->oracle.slabs_before,
			  "a slab was made while a region was free");
	check_counts(self);
}

void pfs_malloc_check_ticks(struct pfs_malloc_world *self)
{
	for (uint32_t arena = 0; arena < pfs_arena_count(); arena++) {
		struct pfs_bin *bin = pfs_malloc_world_bin_of(self, arena);
		(void)pfs_bin_tick(bin, false);
		(void)pfs_bin_tick(bin, false);
		uint32_t left = pfs_load_relaxed(&bin->stock.count); /* relaxed: at rest */
		PFS_MACHINE_CHECK(left == 0, "two ticks leave %u blocks in a stock", left);
	}
	pfs_malloc_check(self);
}
