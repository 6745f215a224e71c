#include "rack.h"

#include "arena.h"
#include "choose.h"
#include "conf.h"
#include "containers/compiler.h"
#include "large.h"

#define SEEN UINT64_C(32)       /* the last tick has found the block here */
#define CLASS_MASK UINT64_C(31) /* below: the size class, from 0 for 16 KiB to 16 */
#define WORD_BITS (2 * CLASS_MASK + 1)
_Static_assert(WORD_BITS < alignof(struct pfs_extent), "the low bits of an extent's address");

struct group {
	uint8_t first, count; /* slots */
};
static const struct group groups[] = { { 0, 4 }, { 4, 8 }, { 12, 4 }, { 16, 2 }, { 18, 1 } };

static const struct group *group_of(uint32_t class)
{
	return &groups[(class + 3) / 4];
}

/* bytes: a large size class. */
static uint32_t class_of(size_t bytes)
{
	uint32_t doubling = 63u - (uint32_t)__builtin_clzll(bytes - 1);
	uint32_t quarter = (uint32_t)((bytes - ((size_t)1 << doubling)) >> (doubling - 2));
	return doubling * 4 + quarter - 14 * 4;
}

static uint64_t bytes_of(uint64_t word)
{
	uint64_t class = (word & CLASS_MASK) +
			 3; /* quarters of a doubling, behind 16 KiB less one */
	return ((class % 4 + 5) << 12 << class / 4) / 2;
}

static struct pfs_extent *extent_of(uint64_t word)
{
	/* NOLINTNEXTLINE: addresses are numbers here */
	return (struct pfs_extent *)(uintptr_t)(word & ~WORD_BITS);
}

/* Empty a slot if it still holds the word. */
static bool take_word(_Atomic(uint64_t) *slot, uint64_t word)
{
	/* [RK4] acquire, pairs with [RK3]. */
	return pfs_cas_acquire(slot, &word, 0);
}

/* 0: another thread has emptied the slot. */
static void end_word(uint64_t word)
{
	if (word != 0)
		pfs_large_end(extent_of(word));
}

void *pfs_rack_take(size_t size_bytes)
{
	struct pfs_cache *cache = pfs_cache_mine();
	if (size_bytes > PFS_RACK_MOST || cache->until_guarded <= 1) /* choose.h: elsewhere */
		return NULL;
	size_t bytes = pfs_size_round(size_bytes < PFS_LARGE_MIN ? PFS_LARGE_MIN : size_bytes);
	uint32_t class = class_of(bytes);
	const struct group *group = group_of(class);
	for (uint32_t i = group->first; i < (uint32_t)group->first + group->count; i++) {
		uint64_t word = pfs_load_relaxed(&cache->rack[i]); /* relaxed: [RK4] decides */
		if (word == 0 || (word & CLASS_MASK) != class || !take_word(&cache->rack[i], word))
			continue;
		pfs_bump_owned(&cache->rack_takes, 1);
		pfs_choose_pass(cache, 1);
		pfs_cache_note_new(cache, bytes);
		return pfs_large_again(extent_of(word));
	}
	return NULL;
}

static bool keeps(const struct pfs_cache *cache, struct pfs_extent *extent)
{
	size_t bytes = extent->request_bytes;
	/* the threshold 0 is none */
	return bytes <= PFS_RACK_MOST && bytes >= PFS_LARGE_MIN && cache->is_enabled &&
	       bytes - 1 < pfs_conf.oversize_threshold - 1 &&
	       pfs_extent_arena(extent) == cache->arena &&
	       pfs_arena_decay_ms(cache->arena, PFS_EXTENT_DIRTY) != 0;
}

/* An empty slot of a group. If there is none, the next one in turn is emptied; NULL: a tick has
 * marked that one meanwhile. */
static _Atomic(uint64_t) *empty_slot(struct pfs_cache *cache, const struct group *group)
{
	_Atomic(uint64_t) *first = &cache->rack[group->first];
	for (uint32_t i = 0; i < group->count; i++)
		if (pfs_load_relaxed(&first[i]) == 0) /* relaxed: [RK1] */
			return &first[i];
	first += cache->rack_turn++ % group->count;
	uint64_t word = pfs_load_relaxed(first); /* relaxed: [RK4] decides */
	if (take_word(first, word))
		end_word(word);
	return pfs_load_relaxed(first) == 0 ? first : NULL; /* relaxed: [RK1] */
}

bool pfs_rack_put(struct pfs_extent *extent)
{
	struct pfs_cache *cache = pfs_cache_mine();
	if (!keeps(cache, extent))
		return false;
	uint32_t class = class_of(extent->request_bytes);
	_Atomic(uint64_t) *slot = empty_slot(cache, group_of(class));
	if (slot == NULL)
		return false;
	pfs_extent_set_kind(extent, PFS_EXTENT_CACHED);
	pfs_cache_note_freed(cache, extent->request_bytes);
	/* [RK3] release, pairs with [RK4]: without it a thread could free or return the block
	 * before its owner's last stores. */
	pfs_store_release(slot, (uint64_t)(uintptr_t)extent | class);
	pfs_store_relaxed(&cache->rack_is_used, 1); /* relaxed: a hint; ticks look without */
	/* relaxed, both: a hint. Its line is read for each slab, so it is written once. */
	if (pfs_load_relaxed(&cache->arena->had_rack) == 0)
		pfs_store_relaxed(&cache->arena->had_rack, 1); /* relaxed: as above */
	return true;
}

/* ---- by any thread ---- */

bool pfs_rack_tick(struct pfs_cache *cache, bool all)
{
	bool do_stay = false;
	for (uint32_t i = 0; i < PFS_RACK_SLOTS; i++) {
		_Atomic(uint64_t) *slot = &cache->rack[i];
		uint64_t word = pfs_load_relaxed(slot); /* relaxed: [RK4] decides */
		if (word == 0)
			continue;
		do_stay |= !all && (word & SEEN) == 0;
		if (!all && (word & SEEN) == 0)
			/* relaxed: the same block, and [RK3] stays the head of the sequence */
			(void)pfs_cas_relaxed(slot, &word, word | SEEN);
		else if (all)
			/* [RK4] acquire, pairs with [RK3]. No CAS, which would fail if a tick marks
			 * the block meanwhile. */
			end_word(pfs_exchange_acquire(slot, 0));
		else if (take_word(slot, word))
			end_word(word);
	}
	return do_stay;
}

void pfs_rack_count(struct pfs_cache_counts *counts, struct pfs_cache *cache)
{
	for (uint32_t i = 0; i < PFS_RACK_SLOTS; i++) {
		uint64_t word = pfs_load_relaxed(&cache->rack[i]); /* relaxed: a count */
		counts->rack_blocks += word != 0;
		counts->rack_bytes += word != 0 ? bytes_of(word) : 0;
	}
	counts->rack_takes += pfs_load_relaxed(&cache->rack_takes); /* relaxed: a count */
}
