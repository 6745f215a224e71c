/*
 * looks_test.c - before a slab is made, at most 256 caches are examined. The first look finds what
 * so few caches hold. With more caches the looks go round, so that they find what every cache
 * holds. The next look may begin at a cache that is destroyed before.
 */
#include <stdlib.h>

#include "memory/malloc/arena.h"
#include "memory/malloc/cache.h"
#include "memory/malloc/rings.h"
#include "memory/malloc/start.h"
#include "check.h"

#define CACHES 700u
#define WINDOW 256u
#define CLASS 20u
#define HELD_EACH 4u
#define SLABS 40u

static struct pfs_cache *caches[CACHES];

/* Blocks for the rings of `count` caches, taken before any of these holds one. */
static void *blocks[CACHES * HELD_EACH];

static void take_blocks(struct pfs_bin *bin, uint32_t count)
{
	void *kept; /* so that no slab becomes empty */
	for (uint32_t i = 0; i < count * HELD_EACH; i++)
		CHECK(pfs_bin_take(bin, &blocks[i], 1) == 1 && pfs_bin_take(bin, &kept, 1) == 1,
		      "no block");
}

/* Free them through the rings of the caches up to number `last`. */
static void fill(uint32_t count, uint32_t last)
{
	struct pfs_cache *own = pfs_cache_own;
	for (uint32_t i = 0; i < count * HELD_EACH; i++) {
		struct pfs_cache *cache = caches[last - i / HELD_EACH];
		pfs_cache_own = cache;
		if (!pfs_ring_push(&cache->rings[CLASS], blocks[i]))
			pfs_cache_overflow(blocks[i], CLASS, "test");
	}
	pfs_cache_own = own;
}

static uint64_t held(void)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < CACHES; i++)
		sum += caches[i] != NULL ? pfs_ring_counts(&caches[i]->rings[CLASS]).held : 0;
	return sum;
}

/* Take blocks until another slab was made, of new memory. Returns how many caches were examined
 * since the last block before. */
static uint64_t looks_for_slab(struct pfs_bin *bin)
{
	(void)pfs_extents_purge(&bin->arena->extents, PFS_EXTENT_DIRTY, 0, false);
	uint64_t before = 0;
	uint64_t made = bin->slabs_made;
	void *block;
	while (bin->slabs_made == made) {
		before = pfs_registry.looks;
		CHECK(pfs_bin_take(bin, &block, 1) == 1, "no block");
	}
	return pfs_registry.looks - before;
}

static void make(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		caches[i] = pfs_cache_create();
		CHECK(caches[i] != NULL, "no cache");
	}
}

static void destroy(uint32_t from)
{
	for (uint32_t i = from; i < CACHES && caches[i] != NULL; i++) {
		pfs_cache_destroy(caches[i]);
		caches[i] = NULL;
	}
}

/* Is it NULL, or one of the arena's caches? */
static bool is_listed(const struct pfs_arena *arena, const struct pfs_cache *cache)
{
	struct pfs_cache *at = arena->caches;
	for (uint32_t i = 0; i < arena->cache_count && at != cache; i++)
		at = at->next_here;
	return cache == NULL || at == cache;
}

int main(void)
{
	pfs_start();
	(void)pfs_cache_attached();
	struct pfs_bin *bin = &pfs_arena_at(0)->bins[CLASS];

	/* A slab's worth is in the last rings of 255 caches; the thread's own is the 256th. */
	make(WINDOW - 1);
	uint32_t few = pfs_classes[CLASS].regions / HELD_EACH;
	take_blocks(bin, few);
	fill(few, WINDOW - 2);
	(void)looks_for_slab(bin);
	CHECK(held() == 0, "a slab was made while rings hold %llu", (unsigned long long)held());
	destroy(0);

	make(CACHES);
	for (uint32_t i = 0; i < SLABS; i++) {
		uint64_t looks = looks_for_slab(bin);
		CHECK(looks <= WINDOW, "%llu caches were examined", (unsigned long long)looks);
	}

	take_blocks(bin, CACHES);
	fill(CACHES, CACHES - 1);
	(void)looks_for_slab(bin);
	CHECK(held() == 0, "rings still hold %llu", (unsigned long long)held());

	/* Wherever the next look would begin. */
	for (uint32_t left = CACHES; left-- > 0;) {
		(void)looks_for_slab(bin);
		destroy(left);
		CHECK(is_listed(bin->arena, bin->look_next), "a look begins at a freed cache");
	}
	return 0;
}
