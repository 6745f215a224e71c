#include "stock.h"

#include <string.h>

#include "arena.h"
#include "map.h"

#ifdef PFS_SIM
#define CAPACITY_LEAST 2u
#else
#define CAPACITY_LEAST 256u
#endif
#define STOCK_POOLS 6u /* 256 .. 8192 */
#define STOCK_BYTES ((uint32_t)256 << 10) /* of blocks */
#define BATCH 128u
#define SHARE 64u /* of what is in use, beside new memory */

static struct pfs_pool pools[STOCK_POOLS]; /* under base.c's lock */

static uint32_t pool_of(uint32_t capacity)
{
	uint32_t pool = 0;
	while (CAPACITY_LEAST << pool < capacity)
		pool++;
	return pool;
}

static uint32_t capacity_most(uint32_t class)
{
	uint32_t by_bytes = STOCK_BYTES / pfs_classes[class].size_bytes;
	uint32_t most = CAPACITY_LEAST << (STOCK_POOLS - 1);
	return by_bytes < most ? by_bytes : most;
}

/* Under lock: room for so many; false: there is none. */
static bool grow(struct pfs_stock *self, uint32_t class, uint32_t wish)
{
	if (wish <= self->capacity)
		return true;
	if (wish > capacity_most(class))
		return false;
	uint32_t pool = pool_of(wish);
	uint32_t capacity = CAPACITY_LEAST << pool;
	void **blocks = pfs_base_new(&pools[pool], capacity * sizeof(*blocks));
	if (blocks == NULL)
		return false;
	if (self->blocks != NULL) {
		uint32_t count = pfs_load_relaxed(&self->count); /* relaxed: under lock */
		memcpy(blocks, self->blocks, count * sizeof(*blocks));
		pfs_base_free(&pools[pool_of(self->capacity)], self->blocks);
	}
	self->blocks = blocks;
	self->capacity = capacity;
	return true;
}

/* Who asks for a block of an arena gets one of that arena. */
static bool are_of_arena(const struct pfs_arena *arena, void *const *blocks, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct pfs_extent *slab = pfs_map_extent(pfs_map_entry(blocks[i]));
		if (slab == NULL || pfs_extent_arena(slab) != arena)
			return false;
	}
	return true;
}

bool pfs_stock_store(struct pfs_bin *bin, void *const *blocks, uint32_t count)
{
	struct pfs_stock *self = &bin->stock;
	if (pfs_arena_count() != 1 && !are_of_arena(bin->arena, blocks, count))
		return false;
	if (!pfs_mutex_try_lock(&bin->lock))
		return false;
	uint32_t have = pfs_load_relaxed(&self->count); /* relaxed: under lock */
	bool is_in = grow(self, bin->class, have + count);
	if (is_in) {
		memcpy(self->blocks + have, blocks, count * sizeof(*blocks));
		pfs_store_relaxed(&self->count, have + count); /* relaxed: under lock */
	}
	pfs_mutex_unlock(&bin->lock);
	return is_in;
}

uint32_t pfs_stock_take(struct pfs_stock *self, void **slots, uint32_t count)
{
	uint32_t have = pfs_load_relaxed(&self->count); /* relaxed: under lock */
	uint32_t go = have < count ? have : count;
	if (go == 0)
		return count;
	memcpy(slots + count - go, self->blocks + have - go, go * sizeof(*slots));
	pfs_store_relaxed(&self->count, have - go); /* relaxed: under lock */
	if (self->low > have - go)
		self->low = have - go;
	return count - go;
}

/* So many blocks, or as many as there are. */
static void give(struct pfs_bin *bin, uint32_t count)
{
	void *blocks[BATCH];
	while (count != 0) {
		uint32_t wish = count < BATCH ? count : BATCH;
		pfs_mutex_lock(&bin->lock);
		uint32_t missing = pfs_stock_take(&bin->stock, blocks, wish);
		pfs_mutex_unlock(&bin->lock);
		pfs_blocks_give(blocks + missing, wish - missing, "free");
		count = missing == 0 ? count - wish : 0;
	}
}

void pfs_stock_empty(struct pfs_bin *bin, bool all)
{
	pfs_mutex_lock(&bin->lock);
	uint32_t count = pfs_load_relaxed(&bin->stock.count); /* relaxed: under lock */
	uint32_t go = all ? count : bin->stock.low;
	bin->stock.low = count - go;
	pfs_mutex_unlock(&bin->lock);
	give(bin, go);
}

void pfs_stocks_shrink(struct pfs_arena *arena)
{
	uint64_t bytes = 0;
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class++) {
		/* relaxed: a guess */
		uint64_t count = pfs_load_relaxed(&arena->bins[class].stock.count);
		bytes += count * pfs_classes[class].size_bytes;
	}
	pfs_mutex_lock(&arena->extents.lock);
	bool is_little = bytes <= arena->extents.active_bytes / SHARE;
	pfs_mutex_unlock(&arena->extents.lock);
	if (is_little)
		return;
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class++)
		pfs_stock_empty(&arena->bins[class], true);
}
