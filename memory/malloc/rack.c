#include "rack.h"

#include <string.h>

#include "arena.h"
#include "base.h"
#include "choose.h"
#include "conf.h"
#include "containers/compiler.h"
#include "large.h"

#define SEEN UINT64_C(32)       /* the last tick has found the block here */
#define CLASS_MASK UINT64_C(31) /* below: the size class, from 0 for 16 KiB to 16 */
#define WORD_BITS (2 * CLASS_MASK + 1)
_Static_assert(WORD_BITS < alignof(struct pfs_extent), "the low bits of an extent's address");

#define FEW_THREADS 16u     /* of an arena: each may have PFS_RACK_BYTES_MOST */
#define MISSES_TO_KEEP 128u /* of a class, until a rack keeps a block of it */
#define REGRETS_LEAST 128u  /* before a rack grows beyond PFS_RACK_BYTES_FIRST */

static struct pfs_base_pool rack_pool;

/* Classes are quarters of a doubling, from the fourth of 8 to 16 KiB on. */
static uint32_t class_of(size_t size_bytes)
{
	size_t last = (size_bytes < PFS_LARGE_MIN ? PFS_LARGE_MIN : size_bytes) - 1;
	uint32_t doubling = 63u - (uint32_t)__builtin_clzll(last);
	uint32_t quarter = (uint32_t)(last >> (doubling - 2)) & 3u;
	return doubling * 4 + quarter - (13 * 4 + 3);
}

static uint32_t bytes_of(uint32_t class)
{
	uint32_t quarters = class + 3; /* behind 16 KiB less one */
	return ((quarters % 4 + 5) << 12 << quarters / 4) / 2;
}

static struct pfs_extent *extent_of(uint64_t word)
{
	/* NOLINTNEXTLINE: addresses are numbers here */
	return (struct pfs_extent *)(uintptr_t)(word & ~WORD_BITS);
}

static struct pfs_rack *rack_of(struct pfs_cache *cache)
{
	return pfs_load_relaxed(&cache->rack); /* relaxed: [RK6] */
}

/* Free what was in a slot, if anything. Returns the bytes. */
static uint64_t end_word(uint64_t word)
{
	if (word == 0)
		return 0;
	pfs_large_end(extent_of(word));
	return bytes_of((uint32_t)(word & CLASS_MASK));
}

static uint64_t empty(_Atomic(uint64_t) *slot)
{
	/* [RK4] acquire, pairs with [RK3]: without it the block's next owner, or the arena, could
	 * have it before its last owner's stores arrive. No CAS, which would fail if a tick marks
	 * the block meanwhile. */
	return pfs_exchange_acquire(slot, 0);
}

/* ---- by the owner ---- */

static void note_used(struct pfs_rack *rack, uint32_t slot, uint32_t class)
{
	rack->used |= UINT64_C(1) << slot;
	rack->of_class[class] |= UINT64_C(1) << slot;
	rack->class[slot] = (uint8_t) class;
	rack->bytes += bytes_of(class);
}

/* Empty a slot that is noted as used. 0: another thread has emptied it. */
static uint64_t empty_noted(struct pfs_rack *rack, uint32_t slot)
{
	uint64_t word = empty(&rack->slots[slot]);
	uint32_t class = rack->class[slot];
	rack->used &= ~(UINT64_C(1) << slot);
	rack->of_class[class] &= ~(UINT64_C(1) << slot);
	rack->bytes -= bytes_of(class);
	return word;
}

/* A block of a class; 0: none is there. */
static uint64_t word_of(struct pfs_rack *rack, uint32_t class)
{
	uint64_t word = 0;
	while (word == 0 && rack->of_class[class] != 0)
		word = empty_noted(rack, (uint32_t)__builtin_ctzll(rack->of_class[class]));
	return word;
}

static void *take_of(struct pfs_cache *cache, struct pfs_rack *rack, uint32_t class,
		     bool may_be_larger)
{
	uint64_t word = word_of(rack, class);
	if (word == 0 && may_be_larger && class + 1 < PFS_RACK_CLASSES)
		word = word_of(rack, ++class);
	if (word == 0)
		return NULL;
	pfs_bump_owned(&cache->rack_takes, 1);
	pfs_choose_pass(cache, 1);
	pfs_cache_note_new(cache, bytes_of(class));
	return pfs_large_again(extent_of(word));
}

void *pfs_rack_take(size_t size_bytes, bool may_be_larger)
{
	struct pfs_cache *cache = pfs_cache_mine();
	if (size_bytes > PFS_RACK_MOST || cache->until_guarded <= 1) /* choose.h: elsewhere */
		return NULL;
	uint32_t class = class_of(size_bytes);
	struct pfs_rack *rack = rack_of(cache);
	return pfs_likely(rack != NULL) ? take_of(cache, rack, class, may_be_larger) : NULL;
}

/* How many bytes a rack that is needed may hold. */
static uint32_t bytes_most(struct pfs_arena *arena)
{
	uint32_t threads = pfs_load_relaxed(&arena->threads); /* relaxed: a preference */
	uint32_t share = threads <= FEW_THREADS ? PFS_RACK_BYTES_MOST
						: PFS_RACK_BYTES_MOST / threads * FEW_THREADS;
	return share > PFS_RACK_BYTES_SHARED ? share : PFS_RACK_BYTES_SHARED;
}

/* Would a larger rack have served a miss? */
static bool regrets(struct pfs_rack *rack, uint32_t class)
{
	uint32_t bit = UINT32_C(1) << class;
	if (rack == NULL || (rack->replaced & bit) == 0)
		return false;
	rack->replaced &= ~bit;
	rack->regrets += rack->regrets < REGRETS_LEAST;
	return rack->regrets == REGRETS_LEAST;
}

void pfs_rack_missed(struct pfs_cache *cache, size_t bytes)
{
	if (cache->arena == NULL || bytes > PFS_RACK_MOST)
		return;
	bool grows = regrets(rack_of(cache), class_of(bytes));
	uint32_t most = grows ? bytes_most(cache->arena) : PFS_RACK_BYTES_FIRST;
	uint32_t more = (uint32_t)(grows ? bytes : bytes / MISSES_TO_KEEP);
	if (cache->rack_bytes_most + more < most)
		most = cache->rack_bytes_most + more;
	if (grows || most > cache->rack_bytes_most) /* less, if there are more threads now */
		cache->rack_bytes_most = most;
}

static bool keeps(const struct pfs_cache *cache, struct pfs_extent *extent)
{
	size_t bytes = extent->request_bytes;
	/* the threshold 0 is none */
	return bytes <= PFS_RACK_MOST && bytes >= PFS_LARGE_MIN && cache->is_enabled &&
	       bytes <= cache->rack_bytes_most && bytes - 1 < pfs_conf.oversize_threshold - 1 &&
	       pfs_extent_arena(extent) == cache->arena &&
	       pfs_arena_decay_ms(cache->arena, PFS_EXTENT_DIRTY) != 0;
}

static void forget_notes(struct pfs_rack *rack)
{
	memset((void *)rack, 0, offsetof(struct pfs_rack, slots));
}

static PFS_COLD struct pfs_rack *make(struct pfs_cache *cache)
{
	struct pfs_rack *rack = pfs_base_new(&rack_pool, sizeof(*rack));
	if (rack == NULL)
		return NULL;
	forget_notes(rack);
	pfs_store_relaxed(&cache->rack, rack); /* relaxed: [RK6] */
	/* relaxed, both: a hint. Its line is read for each slab, so it is written once. */
	if (pfs_load_relaxed(&cache->arena->had_rack) == 0)
		pfs_store_relaxed(&cache->arena->had_rack, 1); /* relaxed: as above */
	return rack;
}

/* Free the block of the next used slot. */
static void replace(struct pfs_rack *rack)
{
	uint64_t later = rack->used & UINT64_MAX << rack->turn;
	uint32_t slot = (uint32_t)__builtin_ctzll(later != 0 ? later : rack->used);
	rack->turn = (slot + 1) % PFS_RACK_SLOTS;
	rack->replaced |= UINT32_C(1) << rack->class[slot];
	(void)end_word(empty_noted(rack, slot));
}

bool pfs_rack_put(struct pfs_extent *extent)
{
	struct pfs_cache *cache = pfs_cache_mine();
	if (!pfs_likely(keeps(cache, extent)))
		return false;
	struct pfs_rack *rack = rack_of(cache);
	if (!pfs_likely(rack != NULL) && (rack = make(cache)) == NULL)
		return false;
	uint32_t bytes = (uint32_t)extent->request_bytes;
	uint32_t class = class_of(bytes);
	while (rack->used == PFS_RACK_FULL || rack->bytes + bytes > cache->rack_bytes_most)
		replace(rack);
	uint32_t slot = (uint32_t)__builtin_ctzll(~rack->used);
	rack->used |= UINT64_C(1) << slot;
	rack->of_class[class] |= UINT64_C(1) << slot;
	rack->class[slot] = (uint8_t) class;
	rack->bytes += bytes;
	pfs_extent_set_kind(extent, PFS_EXTENT_CACHED);
	pfs_cache_note_freed(cache, bytes);
	/* [RK3] release, pairs with [RK4]: without it a thread could free or return the block
	 * before its owner's last stores. */
	pfs_store_release(&rack->slots[slot], (uint64_t)(uintptr_t)extent | class);
	pfs_store_relaxed(&rack->has_some, 1); /* relaxed: a hint; ticks look without */
	return true;
}

/* ---- by any thread ---- */

bool pfs_rack_has_some(struct pfs_cache *cache)
{
	struct pfs_rack *rack = rack_of(cache);
	return rack != NULL && pfs_load_relaxed(&rack->has_some) != 0; /* relaxed: a hint */
}

bool pfs_rack_tick(struct pfs_cache *cache)
{
	struct pfs_rack *rack = rack_of(cache);
	bool do_stay = false;
	for (uint32_t i = 0; rack != NULL && i < PFS_RACK_SLOTS; i++) {
		_Atomic(uint64_t) *slot = &rack->slots[i];
		uint64_t word = pfs_load_relaxed(slot); /* relaxed: the CAS decides */
		if (word == 0)
			continue;
		do_stay |= (word & SEEN) == 0;
		if ((word & SEEN) == 0)
			/* relaxed: the same block, and [RK3] stays the head of the sequence */
			(void)pfs_cas_relaxed(slot, &word, word | SEEN);
		else if (pfs_cas_acquire(slot, &word, 0)) /* [RK4] acquire, pairs with [RK3] */
			(void)end_word(word);
	}
	return do_stay;
}

uint64_t pfs_rack_empty(struct pfs_cache *cache)
{
	struct pfs_rack *rack = rack_of(cache);
	uint64_t bytes = 0;
	if (rack == NULL)
		return 0;
	pfs_store_relaxed(&rack->has_some, 0); /* relaxed: a hint */
	for (uint32_t i = 0; i < PFS_RACK_SLOTS; i++)
		/* relaxed: [RK4] decides */
		if (pfs_load_relaxed(&rack->slots[i]) != 0)
			bytes += end_word(empty(&rack->slots[i]));
	return bytes;
}

void pfs_rack_settle(struct pfs_cache *cache)
{
	struct pfs_rack *rack = rack_of(cache);
	if (rack == NULL)
		return;
	forget_notes(rack);
	for (uint32_t i = 0; i < PFS_RACK_SLOTS; i++) {
		uint64_t word = pfs_load_relaxed(&rack->slots[i]); /* relaxed: fork's child */
		if (word != 0)
			note_used(rack, i, (uint32_t)(word & CLASS_MASK));
	}
}

void pfs_rack_end(struct pfs_cache *cache)
{
	struct pfs_rack *rack = rack_of(cache);
	if (rack != NULL)
		pfs_base_free(&rack_pool, rack);
}

void pfs_rack_count(struct pfs_cache_counts *counts, struct pfs_cache *cache)
{
	struct pfs_rack *rack = rack_of(cache);
	for (uint32_t i = 0; rack != NULL && i < PFS_RACK_SLOTS; i++) {
		uint64_t word = pfs_load_relaxed(&rack->slots[i]); /* relaxed: a count */
		counts->rack_blocks += word != 0;
		counts->rack_bytes += word != 0 ? bytes_of((uint32_t)(word & CLASS_MASK)) : 0;
	}
	counts->rack_takes += pfs_load_relaxed(&cache->rack_takes); /* relaxed: a count */
}
