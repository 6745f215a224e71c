/*
 * slab.h - a slab's words: a bit for each free region, 64 to a word, handled a whole word at a
 * time. Above them are the hints to where there is room: a summary in each slab, a word for each
 * group of 64 slabs, a word for each bin.
 *
 * Any thread gives, without a lock; one thread at a time takes, under the bin's lock. A set hint
 * with nothing free below it costs a look. A clear hint above a free region must not exist once the
 * free has returned. So a giver checks all hints after its word and sets the clear ones. A taker
 * that finds nothing below a hint clears it, then looks again.
 *
 * Invariants
 * 	[SL1] a region's bit goes 1 -> 0 only under the bin's lock, and 0 -> 1 only when the
 * 	     owner of its block frees it. So old & mask != 0 means a block was freed twice.
 * 	[SL2] a slab stays while a thread has not yet given a block of it: it ends under the
 * 	     bin's lock when all its bits are set. After its fetch-add a giver touches only
 * 	     hints. Descriptors, words and groups never become anything else (base.h,
 * 	     descriptors.h: a wiped descriptor is one without room), so a late hint in a later
 * 	     slab is merely a set hint with nothing below.
 * 	[SL3] when a give has returned, and no thread has taken since, the bits above are set.
 *
 * Ordering:  [K1] give: fetch-add, seq    <->  [K4] look again: load, seq
 *            [K2] raise: load, seq        <->  [K3] clear: fetch-and, seq
 *            [K5] set: fetch-or, seq      <->  [K3] clear: fetch-and, seq
 *            the store-buffering pair: giver's word, then hint; taker's hint, then word. Either
 *            the giver sees the bit cleared and sets it, or the taker sees the word [SL3].
 *            [K1] give: fetch-add, seq    <->  [K6] take: fetch-add, seq
 *            carries: the block's last bytes, to its next owner
 * Progress   give: wait-free. Take: under the bin's lock, bounded by the bin's words.
 * Source:    the words of variants/exact/occupancy.h and the paths of room.h without CLEARING,
 *            which one taker at a time does not need; the code is our own.
 */
#ifndef PFS_MALLOC_SLAB_H
#define PFS_MALLOC_SLAB_H

#include "extent.h"

#ifdef PFS_SIM_SMALL /* so that small slabs have several words, and few slabs several groups */
#define PFS_WORD_BITS 1u
#define PFS_GROUP_SLABS 2u
#define PFS_FIRST_GROUP_SLABS 2u
#define PFS_BIN_BITS 2u
#else
#define PFS_WORD_BITS 6u
#define PFS_GROUP_SLABS 64u
#define PFS_FIRST_GROUP_SLABS 4u /* enough for most bins of small programs: one line */
#define PFS_BIN_BITS 64u         /* bits of a bin's word; each stands for every 64th group */
#endif
#define PFS_WORD_REGIONS (1u << PFS_WORD_BITS)
#define PFS_WORD_ALL (UINT64_MAX >> (64 - PFS_WORD_REGIONS))
#define PFS_SLAB_LINES_MOST 4u /* of words: 2048 regions */

struct pfs_bin;

/* 64 slabs of a bin; 4 in the first group. Made with its first slab, never freed. */
struct pfs_group {
	alignas(PFS_LINE) _Atomic(uint64_t) room;
	uint64_t used;              /* under the bin's lock, like slabs */
	struct pfs_bin *bin;        /* made once */
	uint32_t number;            /* made once */
	struct pfs_extent *slabs[]; /* pfs_group_slabs */
};

static inline uint32_t pfs_group_slabs(uint32_t number)
{
	return number == 0 ? PFS_FIRST_GROUP_SLABS : PFS_GROUP_SLABS;
}

static inline uint64_t pfs_group_all(const struct pfs_group *group)
{
	return UINT64_MAX >> (64 - pfs_group_slabs(group->number));
}

/* Set a hint bit if it is clear. */
static inline void pfs_hint_raise(_Atomic(uint64_t) *hint, uint64_t bit)
{
	/* [K2] seq, pairs with [K3]: an older value would hide that a taker has just cleared the
	 * bit. */
	if ((pfs_load_seq(hint) & bit) == 0)
		(void)pfs_fetch_or_seq(hint, bit); /* [K5] seq, pairs with [K3] and [K4] */
}

/* A taker found nothing below: clear a hint bit, unless something was freed meanwhile. */
static inline void pfs_hint_clear(_Atomic(uint64_t) *hint, uint64_t bit, _Atomic(uint64_t) *below,
				  uint64_t below_mask)
{
	/* [K3] seq, pairs with [K2] and [K5]. */
	(void)pfs_fetch_and_seq(hint, ~bit);
	/* [K4] seq, pairs with [K1]; in the levels above, where `below` is itself a hint, with
	 * [K5]. */
	if ((pfs_load_seq(below) & below_mask) != 0)
		(void)pfs_fetch_or_seq(hint, bit); /* [K5] seq, pairs with [K3] */
}

static inline uint64_t pfs_group_bit(const struct pfs_group *group)
{
	return UINT64_C(1) << (group->number % PFS_BIN_BITS);
}

static inline uint32_t pfs_slab_word_count(const struct pfs_extent *slab)
{
	return slab->word_count;
}

/* The bits of a word's regions: all 64, or fewer in the last word. */
static inline uint64_t pfs_slab_all_bits(const struct pfs_extent *slab, uint32_t word)
{
	return word + 1u == slab->word_count ? slab->last_word : PFS_WORD_ALL;
}

/* Before any word of the slab is used. */
static inline void pfs_slab_set_regions(struct pfs_extent *slab, uint32_t regions)
{
	uint32_t last = (regions - 1) % PFS_WORD_REGIONS + 1;
	slab->regions = (uint16_t)regions;
	slab->word_count = (uint8_t)((regions + PFS_WORD_REGIONS - 1) / PFS_WORD_REGIONS);
	slab->last_word = last == PFS_WORD_REGIONS ? PFS_WORD_ALL : (UINT64_C(1) << last) - 1;
}

/* The part of a slab that may be read after its end: its words stay words forever. */
struct pfs_words {
	_Atomic(uint64_t) *bits;
	uint32_t count;
	uint64_t last; /* all valid bits of the last one */
};

static inline struct pfs_words pfs_slab_words(const struct pfs_extent *slab)
{
	uint32_t count = pfs_slab_word_count(slab);
	return (struct pfs_words){ slab->words, count, pfs_slab_all_bits(slab, count - 1) };
}

/* Are all regions free? Exact under the bin's lock, because no other thread takes. Otherwise a
 * guess. */
static inline bool pfs_words_are_full(struct pfs_words words)
{
	/* [K4] seq, pairs with [K1]: the owners' last accesses come before the slab's end. */
	bool are_full = pfs_load_seq(&words.bits[words.count - 1]) == words.last;
	for (uint32_t word = 0; are_full && word < words.count - 1; word++)
		are_full = pfs_load_seq(&words.bits[word]) == PFS_WORD_ALL; /* [K4] seq, as above */
	return are_full;
}

/* The region that begins at an address in a slab; false: it is inside a region, or beyond the last.
 * */
static inline bool pfs_slab_region(const struct pfs_extent *slab, uintptr_t address,
				   uint32_t *region)
{
	/* reciprocal = (2^32 + e) / size with 0 <= e < size. For offset = i * size + r the product
	 * is i * 2^32 + i * e + r * reciprocal. i * e < regions * size <= 2^17 is less than the
	 * reciprocal, which is at least 2^18; so the low half is below it only for r = 0, and the
	 * high half is i. */
	uint64_t product = (address - slab->base) * slab->reciprocal;
	*region = (uint32_t)(product >> 32);
	return (uint32_t)product < slab->reciprocal && *region < slab->regions;
}

static inline void *pfs_slab_block(const struct pfs_extent *slab, uint32_t region)
{
	/* NOLINT: addresses are numbers here */
	return (void *)(slab->base + (uintptr_t)region * slab->block_bytes);
}

#endif
