/*
 * counted.h - malloc and free that count each block, in the place of front.h's plain ones: a
 * block's tag, beside its slab, says whose it is.
 *
 * tag      place of a cell << 11 | slack. The place is its distance from the cells' begin in units
 *          of 128 bytes, plus 3, so that a cell would fit before the first: it is nobody's, of the
 *          tag 0. The slack is what the block's class has more than was asked for,
 *          which is less than 2048 for every small class; 0: the block is not counted. Of a large
 *          block the extent says what was asked for.
 * site     who calls, as an address: each thread knows its cells of some of them.
 *
 * Invariants
 *	[TG1] a free block's tag is 0: a new slab's are, and who frees a block clears it before the
 *	     allocator has it. So what is allocated while the thread does not count has tag 0 by
 *	     itself, and a block that is freed twice, one after the other, is credited once. Two
 *	     frees of it at one moment may both be credited: the allocator names the mistake.
 *	[TG2] while a thread is inside the accounts its counter is pfs_counter_none, which knows
 *	     no site and owns no cell: what they allocate themselves is not counted, and they are
 *	     not entered twice.
 *	[TG3] the accounts are entered with no lock of the allocator held.
 *	[TG4] pfs_own.last_cell is the calling thread's own, and last_tag its tag without slack; or
 *	     last_tag is PFS_NO_TAG. It is set when a site is met anew, and given up at the first
 *	     free of a block of another cell: a thread that uses several does without.
 */
#ifndef PFS_PRELOAD_COUNTED_H
#define PFS_PRELOAD_COUNTED_H

#include "memory/accounts/cell.h"
#include "memory/malloc/quick.h"

#define PFS_SLACK_BITS 11u
#define PFS_SLACK_MOST ((1u << PFS_SLACK_BITS) - 1)
#define PFS_SITES 256u
#define PFS_PLACE_BITS 7u /* cells, and pages of them, begin at multiples of 128 bytes */
#define PFS_PLACES_BEFORE (sizeof(struct pfs_cell))
_Static_assert(sizeof(struct pfs_cell) % (1u << PFS_PLACE_BITS) == 0, "a cell has a place");

struct pfs_site {
	uintptr_t address; /* 0: none */
	struct pfs_cell *cell;
};

/* What a thread counts with. */
struct pfs_counter {
	uint32_t reference;  /* of its life; PFS_NOBODY: none */
	uint32_t generation; /* of the box, when it last looked */
	uint32_t slow_calls;
	uint8_t end_rounds;
	bool is_main;
	struct pfs_memory_thread *thread;
	char pool[16];
	struct pfs_site sites[PFS_SITES];
};
#define PFS_NOBODY UINT32_MAX
#define PFS_NO_TAG UINT32_MAX /* of a place beyond all cells */

/* What a thread has while it does not count. */
extern struct pfs_counter pfs_counter_none __attribute__((visibility("hidden")));

/* Of the process; written once, before the first block is counted. */
struct pfs_counting {
	char *cells; /* of the box, less PFS_PLACES_BEFORE; another rule than exact: zeroes */
	_Atomic(uint32_t) *generation;
};
extern struct pfs_counting pfs_counting __attribute__((visibility("hidden")));

/* The slow ways; block is a new one that was not counted yet (NULL is fine), and comes back;
 * or NULL, and it is freed, where a limit refuses it. */
PFS_COLD void *pfs_count_slow(void *block, size_t size_bytes, const void *caller);
PFS_COLD void *pfs_counted_malloc_slow(size_t size_bytes, const void *caller);
PFS_COLD void pfs_counted_free_other(void *block);
PFS_COLD void pfs_counted_free_foreign(void *block, uint32_t *tag, uint64_t bytes);

static inline struct pfs_site *pfs_site_of(struct pfs_counter *counter, uintptr_t address)
{
	return &counter->sites[address / 4 % PFS_SITES];
}

static inline struct pfs_cell *pfs_tag_cell(uint32_t tag)
{
	uint32_t place = tag >> PFS_SLACK_BITS;
	/* NOLINTNEXTLINE: a record of the box */
	return (struct pfs_cell *)(void *)(pfs_counting.cells + ((size_t)place << PFS_PLACE_BITS));
}

/* The tag without slack; a cell has its own, once a site knows it. */
static inline uint32_t pfs_cell_tag(const struct pfs_cell *cell)
{
	size_t distance = (size_t)((const char *)cell - pfs_counting.cells);
	return (uint32_t)(distance << (PFS_SLACK_BITS - PFS_PLACE_BITS));
}

/* pfs_map_entry with a guess, which the processor follows while it still waits for the block. */
static inline uint64_t pfs_counted_entry(const void *block)
{
	uintptr_t page = ((uintptr_t)block >> PFS_OS_PAGE_BITS) - pfs_own.first_page;
	if (!pfs_likely(page < PFS_MAP_LEAF_COUNT))
		return pfs_map_entry(block);
	return pfs_load_relaxed(&pfs_own.entries[page]); /* relaxed: as in pfs_map_entry */
}

/* The tag of a block of a slab. */
static inline uint32_t *pfs_slab_tag(const struct pfs_extent *slab, const void *block)
{
	uint64_t product = ((uintptr_t)block - slab->base) * slab->reciprocal;
	return &slab->tags[product >> 32];
}

/* A new block of a slab, if the thread knows the caller's cell; false: not counted. */
static inline bool pfs_count_quick(void *block, uint64_t entry, size_t size_bytes,
				   const void *caller)
{
	uintptr_t address = (uintptr_t)caller;
	const struct pfs_site *site = pfs_site_of(pfs_own.counter, address);
	const struct pfs_extent *slab = pfs_map_extent(entry);
	if (!pfs_likely(site->address == address))
		return false;
	struct pfs_cell *cell = site->cell;
	if (!pfs_likely(pfs_cell_debit_quick(cell, pfs_counting.generation, size_bytes)))
		return false;
	*pfs_slab_tag(slab, block) = cell->tag + slab->block_bytes - (uint32_t)size_bytes;
	return true;
}

/* A new block; its slack is one that a tag has room for. */
static inline void *pfs_count(void *block, size_t size_bytes, const void *caller)
{
	uint64_t entry = pfs_map_entry(block);
	if (pfs_likely(pfs_map_ring(entry) != 0 &&
		       pfs_count_quick(block, entry, size_bytes, caller)))
		return block;
	return pfs_count_slow(block, size_bytes, caller);
}

static inline void *pfs_front_malloc(size_t size_bytes, const void *caller)
{
	if (!pfs_likely(size_bytes <= PFS_SMALL_MAX))
		return pfs_counted_malloc_slow(size_bytes, caller);
	uint64_t offset = pfs_ring_offsets[(size_bytes + 7) / 8];
	void *block;
	if (!pfs_likely(pfs_ring_pop(pfs_ring_at(pfs_cache_own, offset), &block)))
		return pfs_counted_malloc_slow(size_bytes, caller);
	uint64_t entry = pfs_counted_entry(block);
	if (!pfs_likely(pfs_count_quick(block, entry, size_bytes, caller)))
		return pfs_count_slow(block, size_bytes, caller);
	return block;
}

static inline __attribute__((always_inline)) void pfs_front_free(void *block)
{
	uint64_t entry = pfs_counted_entry(block);
	uint64_t offset = pfs_map_ring(entry);
	if (!pfs_likely(offset != 0)) {
		pfs_counted_free_other(block);
		return;
	}
	const struct pfs_extent *slab = pfs_map_extent(entry);
	uint32_t *tag = pfs_slab_tag(slab, block);
	struct pfs_cell *cell = pfs_own.last_cell;
	uint32_t slack = *tag ^ pfs_own.last_tag;
	if (!pfs_likely(slack <= PFS_SLACK_MOST)) {
		slack = *tag & PFS_SLACK_MOST;
		cell = pfs_tag_cell(*tag);
		if (!pfs_likely(pfs_cell_is_own(cell, pfs_own.reference))) {
			pfs_counted_free_foreign(block, tag, slab->block_bytes - slack);
			return;
		}
		pfs_own.last_tag = PFS_NO_TAG;
	}
	*tag = 0;
	pfs_cell_credit_own(cell, slab->block_bytes - slack);
	if (!pfs_likely(pfs_ring_push(pfs_ring_at(pfs_cache_own, offset), block)))
		pfs_free_slow(block);
}

void *pfs_front_calloc(size_t count, size_t size_bytes, const void *caller);
void *pfs_front_realloc(void *block, size_t size_bytes, const void *caller);
void *pfs_front_reallocarray(void *block, size_t count, size_t size_bytes, const void *caller);
void *pfs_front_memalign(size_t align_bytes, size_t size_bytes, const void *caller);
int pfs_front_posix_memalign(void **block, size_t align_bytes, size_t size_bytes,
			     const void *caller);

/* ---- for calls that have ways of their own (jemalloc.c) ---- */

/* A block that was counted, before something is done with it that may move it: it has no tag then.
 * And after: as it was, or with another size, or freed. */
struct pfs_counted_block {
	uint32_t *tag; /* NULL: not counted */
	struct pfs_extent *extent;
	uint32_t value;
	uint64_t bytes;
};
struct pfs_counted_block pfs_counted_lift(const void *block);
void pfs_counted_put_back(const struct pfs_counted_block *lifted);
void pfs_counted_credit(const struct pfs_counted_block *lifted);

/* What was lifted has moved, or could not (NULL: it is put back). True: it was counted, and is to
 * be counted anew. */
bool pfs_counted_moved(const struct pfs_counted_block *lifted, const void *moved);
/* Ahead of a resize to so many bytes; false: a limit refuses it, and the block is put back. And
 * when it is done, and counted. */
bool pfs_counted_may_be(const struct pfs_counted_block *lifted, size_t size_bytes);
void pfs_counted_resized(void);
/* A new block of any slack. */
void *pfs_count_any(void *block, size_t size_bytes, const void *caller);

#endif
