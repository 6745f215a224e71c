#include "stock.h"

#include <string.h>

#include "arena.h"
#include "map.h"

#ifdef PFS_SIM_SMALL
#define BLOCKS_MOST 64u
#else
#define BLOCKS_MOST 8192u
#endif
#define STOCK_BYTES ((uint32_t)256 << 10) /* of blocks */
#define BATCH 128u
#define SHRINK_BLOCKS 1024u /* for each new slab: about 20 us */
#define SHARE 64u /* an arena may keep 1/64 of its active bytes when it takes new memory */

static struct pfs_base_pool chunk_pool; /* under base.c's lock */

static uint32_t count_most(uint32_t class)
{
	uint32_t by_bytes = STOCK_BYTES / pfs_classes[class].size_bytes;
	return by_bytes < BLOCKS_MOST ? by_bytes : BLOCKS_MOST;
}

/* Under lock: make room for `more` blocks; false: no memory. */
static bool grow(struct pfs_stock *self, uint32_t more)
{
	while (self->room < more) {
		struct pfs_stock_chunk *chunk = pfs_base_new(&chunk_pool, sizeof(*chunk));
		if (chunk == NULL)
			return false;
		chunk->below = self->empty;
		self->empty = chunk;
		self->room += PFS_STOCK_CHUNK_BLOCKS;
	}
	return true;
}

/* Under lock: the top chunk is empty. One empty chunk is kept for later. */
static void pop_chunk(struct pfs_stock *self)
{
	struct pfs_stock_chunk *chunk = self->top;
	self->top = chunk->below;
	if (self->empty != NULL) {
		pfs_base_free(&chunk_pool, chunk);
		self->room -= PFS_STOCK_CHUNK_BLOCKS;
	} else {
		chunk->below = NULL;
		self->empty = chunk;
	}
}

/* Under lock; there is room. */
static void push(struct pfs_stock *self, void *const *blocks, uint32_t count)
{
	uint32_t have = pfs_load_relaxed(&self->count); /* relaxed: under lock */
	self->room -= count;
	while (count != 0) {
		uint32_t used = have % PFS_STOCK_CHUNK_BLOCKS; /* 0: a new chunk */
		if (used == 0) {
			struct pfs_stock_chunk *chunk = self->empty;
			self->empty = chunk->below;
			chunk->below = self->top;
			self->top = chunk;
		}
		uint32_t room = PFS_STOCK_CHUNK_BLOCKS - used;
		uint32_t go = count < room ? count : room;
		memcpy(self->top->blocks + used, blocks, go * sizeof(*blocks));
		blocks += go;
		count -= go;
		have += go;
	}
	pfs_store_relaxed(&self->count, have); /* relaxed: under lock */
}

/* A request for a block of an arena must get one of that arena. */
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
	bool is_in = have + count <= count_most(bin->class) && grow(self, count);
	if (is_in)
		push(self, blocks, count);
	pfs_mutex_unlock(&bin->lock);
	return is_in;
}

uint32_t pfs_stock_take(struct pfs_stock *self, void **slots, uint32_t count)
{
	uint32_t have = pfs_load_relaxed(&self->count); /* relaxed: under lock */
	if (have == 0)
		return count;
	while (have != 0 && count != 0) {
		uint32_t used = pfs_stock_in_top(have);
		uint32_t go = used < count ? used : count;
		count -= go;
		have -= go;
		memcpy(slots + count, self->top->blocks + used - go, go * sizeof(*slots));
		self->room += go;
		if (go == used)
			pop_chunk(self);
	}
	pfs_store_relaxed(&self->count, have); /* relaxed: under lock */
	if (self->low > have)
		self->low = have;
	return count;
}

/* Move up to count blocks to the words. */
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

void pfs_stocks_empty(struct pfs_arena *arena)
{
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++)
		pfs_stock_empty(&arena->bins[class], true);
}

/* Move some blocks, of the classes in turn: as the arena grows, all of them. */
static void shrink(struct pfs_arena *arena)
{
	uint32_t left = SHRINK_BLOCKS;
	for (uint32_t tried = 0; tried < PFS_SMALL_COUNT && left != 0; tried++) {
		uint32_t turn = pfs_load_relaxed(&arena->stock_turn); /* relaxed: a guess */
		struct pfs_bin *bin = &arena->bins[turn % PFS_SMALL_COUNT];
		uint32_t count = pfs_load_relaxed(&bin->stock.count); /* relaxed: a guess */
		if (count <= left)
			pfs_store_relaxed(&arena->stock_turn, turn + 1); /* relaxed: a guess */
		give(bin, count < left ? count : left);
		left -= count < left ? count : left;
	}
}

void pfs_stocks_shrink(struct pfs_arena *arena)
{
	uint64_t bytes = 0;
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++) {
		/* relaxed: a guess */
		uint64_t count = pfs_load_relaxed(&arena->bins[class].stock.count);
		bytes += count * pfs_classes[class].size_bytes;
	}
	pfs_mutex_lock(&arena->extents.lock);
	bool is_little = bytes <= arena->extents.active_bytes / SHARE;
	pfs_mutex_unlock(&arena->extents.lock);
	if (!is_little)
		shrink(arena);
}
