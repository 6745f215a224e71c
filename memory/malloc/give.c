/*
 * give.c - blocks are freed by setting their regions' bits, a word at a time.
 */
#include "bin.h"
#include "containers/compiler.h"
#include "die.h"
#include "map.h"

/* Free regions of one word, in one step. */
static void give_word(struct pfs_extent *slab, uint32_t word, uint64_t mask, const char *call)
{
	struct pfs_group *group = slab->group;
	struct pfs_words words = pfs_slab_words(slab);
	uint32_t slot = slab->slot;
	uint64_t all = pfs_slab_all_bits(slab, word);
	/* [K1] seq, pairs with [K4] and [K6]. From here on the slab may end [SL2]. An addition does
	 * the work of an OR: the bits are clear, or the program ends below. Its old value comes
	 * with one instruction, that of an OR with a loop. */
	uint64_t before = pfs_fetch_add_seq(&words.bits[word], mask);
	if (!pfs_likely((before & mask) == 0)) {
		uint64_t twice = before & mask;
		uint32_t region = word * PFS_WORD_REGIONS + (uint32_t)__builtin_ctzll(twice);
		pfs_die(call, pfs_slab_block(slab, region), "the block is already free");
	}
	pfs_hint_raise(&slab->summary, UINT64_C(1) << word);
	pfs_hint_raise(&group->room, UINT64_C(1) << slot);
	pfs_hint_raise(&group->bin->room, pfs_group_bit(group));
	/* Only a guess if the slab has ended meanwhile: pfs_bin_settle looks again. */
	if ((before | mask) == all && pfs_words_are_full(words))
		pfs_bin_settle(group->bin, group, slot);
}

/* One of these blocks of a word is wrong: find out which one, and why. */
static PFS_COLD PFS_NORETURN void die_of(const struct pfs_extent *slab, void *const *blocks,
					 uint32_t count, const char *call)
{
	uint64_t seen = 0;
	uint32_t i = 0;
	for (; i < count; i++) {
		uint32_t region;
		if (!pfs_slab_region(slab, (uintptr_t)blocks[i], &region))
			pfs_die(call, blocks[i], "the pointer is not to the start of a block");
		if ((seen & UINT64_C(1) << (region % PFS_WORD_REGIONS)) != 0)
			break;
		seen |= UINT64_C(1) << (region % PFS_WORD_REGIONS);
	}
	pfs_die(call, blocks[i < count ? i : 0], "the block is already free");
}

/* On processors without the instruction the builtin would be a function call. */
static inline uint32_t count_bits(uint64_t word)
{
	word -= word >> 1 & UINT64_C(0x5555555555555555);
	word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
	word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (uint32_t)(word * UINT64_C(0x0101010101010101) >> 56);
}

/* The word with the bit set whose number is taken modulo 64. */
static inline uint64_t with_bit(uint64_t word, uint64_t number)
{
/* one instruction in the place of three, of about twenty for each block */
#if defined(__x86_64__) && !defined(PFS_SIM)
	__asm__("btsq %1, %0" : "+r"(word) : "r"(number) : "cc");
	return word;
#else
	return word | UINT64_C(1) << (number % PFS_WORD_REGIONS);
#endif
}

/*
 * Free the leading blocks that belong to the same word of a slab, and return how many. It is fast
 * while blocks are of the word of the one before: no page map lookup, and the products of
 * pfs_slab_region without its comparisons. For a valid pointer the low half is less than 2^17, for
 * one into a block at least 2^18, so the OR of all low halves shows whether one is wrong.
 */
static uint32_t give_run(struct pfs_extent *slab, void *const *blocks, uint32_t count,
			 const char *call)
{
	uintptr_t base = slab->base;
	uint64_t span = (uint64_t)slab->regions * slab->block_bytes;
	uint64_t reciprocal = slab->reciprocal;
	uint64_t word = (((uintptr_t)blocks[0] - base) * reciprocal) >> (32 + PFS_WORD_BITS);
	uint64_t mask = 0;
	uint32_t low_halves = 0;
	void *const *at = blocks;
	void *const *end = blocks + count;
	for (; at != end; at++) {
		uint64_t offset = (uintptr_t)*at - base;
		uint64_t product = offset * reciprocal;
		if (!pfs_likely(offset < span) ||
		    !pfs_likely(product >> (32 + PFS_WORD_BITS) == word))
			break;
		low_halves |= (uint32_t)product;
		mask = with_bit(mask, product >> 32);
	}
	uint32_t run = (uint32_t)(at - blocks);
	if (run == 0) /* beyond the last region */
		pfs_die(call, blocks[0], "the pointer is not to the start of a block");
	if (low_halves >= reciprocal || count_bits(mask) != run)
		die_of(slab, blocks, run, call);
	give_word(slab, (uint32_t)word, mask, call);
	return run;
}

void pfs_blocks_give(void *const *blocks, uint32_t count, const char *call)
{
	uint32_t given = 0;
	while (given != count) {
		struct pfs_extent *slab = pfs_map_extent(pfs_map_entry(blocks[given]));
		/* Another thread has also freed it, and its slab has ended since. */
		if (!pfs_likely(slab != NULL && pfs_extent_kind(slab) == PFS_EXTENT_SLAB))
			pfs_die(call, blocks[given], "the block is already free");
		given += give_run(slab, &blocks[given], count - given, call);
	}
}
