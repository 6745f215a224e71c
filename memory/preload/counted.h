/*
 * counted.h - malloc and free that count each block, instead of those of front.h. A block's tag,
 * stored beside its slab, names the block's cell.
 *
 * tag      place of a cell << 11 | slack. The place is the distance from the start of the cells in
 *          units of 128 bytes, plus 3. So a dummy cell fits before the first one; tag 0 names it,
 *          and means that the block is not counted. The slack is the class size minus the requested
 *          size, less than 2048 for every small class. The extent of a large block stores the
 *          requested size.
 * site     the address of a caller; each thread caches the cells of some sites.
 *
 * Invariants
 *	[TG1] a free block's tag is 0: the tags of a new slab are 0, and a free clears the tag
 *	     before the allocator gets the block. So a block allocated while the thread does not
 *	     count has tag 0, and a double free is credited once. Two concurrent frees of a block
 *	     may both be credited; the allocator reports the error.
 *	[TG2] while a thread is inside the accounts its counter is pfs_counter_none, which has no
 *	     sites and owns no cells. So the accounts' own allocations are not counted, and the
 *	     accounts are not entered twice.
 *	[TG3] a thread that enters the accounts holds no lock of the allocator.
 *	[TG4] pfs_own.last_cell belongs to the calling thread, and last_tag is its tag without
 *	     slack; or last_tag is PFS_NO_TAG. Both are set when a site is new, and last_tag is
 *	     reset at the first free of a block of another cell: a thread that uses several cells
 *	     does not profit from it.
 *	[TG5] what leads the fast paths to a cell is guarded: a site's address, pfs_own.last_tag
 *	     and pfs_own.reference are stored xored with pfs_fork_guard.word, a constant. The
 *	     kernel fills the guard's page with zeroes in every new process that got a copy of the
 *	     memory, however it was made (MADV_WIPEONFORK). There nothing matches, so no fast path
 *	     reaches a store, and child.c decides whether the process counts. A vfork's child
 *	     shares the memory, and with it the guard.
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
	uintptr_t address; /* guarded; 0: none */
	struct pfs_cell *cell;
};

/* A thread's state for counting. */
struct pfs_counter {
	uint32_t reference;  /* of the thread's life; PFS_NOBODY: none */
	uint32_t generation; /* of the box, when it last looked */
	uint32_t slow_calls;
	uint8_t end_rounds;
	bool is_main;
	struct pfs_memory_thread *thread;
	char pool[16];
	struct pfs_site sites[PFS_SITES];
};
#define PFS_NOBODY UINT32_MAX
#define PFS_NO_TAG UINT32_MAX /* names a place after all cells */

/* The counter of a thread while it does not count. */
extern struct pfs_counter pfs_counter_none __attribute__((visibility("hidden")));

/* Per process; written once, before the first block is counted. */
struct pfs_counting {
	char *cells; /* of the box, minus PFS_PLACES_BEFORE; with a rule other than exact: zeroes */
	_Atomic(uint32_t) *generation;
};
extern struct pfs_counting pfs_counting __attribute__((visibility("hidden")));

/* The guard. 0: before the start, and in a forked child until child.c has decided. */
#define PFS_FORK_GUARD (UINT64_C(1) << 63 | UINT64_C(1) << 31)
struct pfs_fork_guard {
	uint64_t word;
	char rest[PFS_OS_PAGE - sizeof(uint64_t)];
};
extern struct pfs_fork_guard pfs_fork_guard __attribute__((visibility("hidden")));

static inline uint64_t pfs_guarded(uint64_t value)
{
	return value ^ pfs_fork_guard.word;
}

/* The reference of the calling thread's life. */
static inline uint32_t pfs_own_reference(void)
{
	const struct pfs_fork_guard *guard = &pfs_fork_guard;
	__asm__("" : "+r"(guard)); /* loads it here, so that free needs no register for it */
	return pfs_own.reference ^ (uint32_t)guard->word;
}

/* The slow paths. block is new and not counted yet, or NULL; it is returned, or freed and NULL
 * returned if a limit refuses it. */
PFS_COLD void *pfs_count_slow(void *block, size_t size_bytes, const void *caller);
PFS_COLD void *pfs_counted_malloc_slow(size_t size_bytes, const void *caller);
/* The same for operator new, which calls `fails` instead of returning NULL. */
typedef void *pfs_front_fails(size_t align_bytes, size_t size_bytes, const void *caller);
PFS_COLD void *pfs_count_new(void *block, size_t size_bytes, const void *caller, size_t align_bytes,
			     pfs_front_fails *fails);
PFS_COLD void *pfs_counted_new_slow(size_t size_bytes, const void *caller, pfs_front_fails *fails);
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

/* The tag without slack. cell->tag caches it once a site has the cell. */
static inline uint32_t pfs_cell_tag(const struct pfs_cell *cell)
{
	size_t distance = (size_t)((const char *)cell - pfs_counting.cells);
	return (uint32_t)(distance << (PFS_SLACK_BITS - PFS_PLACE_BITS));
}

/* pfs_map_entry with a predicted page table, which is known before the block. */
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

/* Counts a new block of a slab, if the thread's sites have the caller; false: not counted. */
static inline bool pfs_count_quick(void *block, uint64_t entry, size_t size_bytes,
				   const void *caller)
{
	const struct pfs_site *site = pfs_site_of(pfs_own.counter, (uintptr_t)caller);
	const struct pfs_extent *slab = pfs_map_extent(entry);
	if (!pfs_likely(site->address == pfs_guarded((uintptr_t)caller)))
		return false;
	struct pfs_cell *cell = site->cell;
	if (!pfs_likely(pfs_cell_debit_quick(cell, pfs_counting.generation, size_bytes)))
		return false;
	*pfs_slab_tag(slab, block) = cell->tag + slab->block_bytes - (uint32_t)size_bytes;
	pfs_own.allocated += slab->block_bytes;
	return true;
}

/* Counts a new block whose slack fits a tag, if it is one of a slab and the thread's sites have the
 * caller; NULL is none. */
static inline bool pfs_count_is_quick(void *block, size_t size_bytes, const void *caller)
{
	uint64_t entry = pfs_map_entry(block);
	return pfs_map_ring(entry) != 0 && pfs_count_quick(block, entry, size_bytes, caller);
}

static inline void *pfs_count(void *block, size_t size_bytes, const void *caller)
{
	if (pfs_likely(pfs_count_is_quick(block, size_bytes, caller)))
		return block;
	return pfs_count_slow(block, size_bytes, caller);
}

/* malloc, and with `fails`, a constant, operator new. The slow paths are tail calls. */
static inline __attribute__((always_inline)) void *
pfs_counted_malloc_with(size_t size_bytes, const void *caller, pfs_front_fails *fails)
{
	void *block = NULL;
	if (!pfs_likely(size_bytes <= PFS_SMALL_MAX) ||
	    !pfs_likely(pfs_ring_pop(
		    pfs_ring_at(pfs_cache_own, pfs_ring_offsets[(size_bytes + 7) / 8]), &block)))
		return fails == NULL ? pfs_counted_malloc_slow(size_bytes, caller)
				     : pfs_counted_new_slow(size_bytes, caller, fails);
	if (pfs_likely(pfs_count_quick(block, pfs_counted_entry(block), size_bytes, caller)))
		return block;
	return fails == NULL ? pfs_count_slow(block, size_bytes, caller)
			     : pfs_count_new(block, size_bytes, caller, 1, fails);
}

static inline void *pfs_front_malloc(size_t size_bytes, const void *caller)
{
	return pfs_counted_malloc_with(size_bytes, caller, NULL);
}

static inline void *pfs_front_new(size_t size_bytes, const void *caller, pfs_front_fails *fails)
{
	return pfs_counted_malloc_with(size_bytes, caller, fails);
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
	uint64_t slack = *tag ^ pfs_guarded(pfs_own.last_tag);
	if (!pfs_likely(slack <= PFS_SLACK_MOST)) {
		slack = *tag & PFS_SLACK_MOST;
		cell = pfs_tag_cell(*tag);
		if (!pfs_likely(pfs_cell_is_own(cell, pfs_own_reference()))) {
			pfs_counted_free_foreign(block, tag, slab->block_bytes - slack);
			return;
		}
		pfs_own.last_tag = PFS_NO_TAG;
	}
	*tag = 0;
	pfs_own.freed += slab->block_bytes;
	pfs_cell_credit_own(cell, slab->block_bytes - slack);
	if (!pfs_likely(pfs_ring_push(pfs_ring_at(pfs_cache_own, offset), block)))
		pfs_free_slow(block);
}

void *pfs_front_calloc(size_t count, size_t size_bytes, const void *caller);
void *pfs_front_realloc(void *block, size_t size_bytes, const void *caller);
void *pfs_front_reallocarray(void *block, size_t count, size_t size_bytes, const void *caller);
void *pfs_front_memalign(size_t align_bytes, size_t size_bytes, const void *caller);
void *pfs_front_new_aligned(size_t align_bytes, size_t size_bytes, const void *caller,
			    pfs_front_fails *fails);
int pfs_front_posix_memalign(void **block, size_t align_bytes, size_t size_bytes,
			     const void *caller);

/* ---- for calls with their own allocator functions (jemalloc.c) ---- */

/* The bytes of a block's class. */
static inline uint64_t pfs_counted_class_bytes(struct pfs_extent *extent)
{
	bool is_large = pfs_extent_kind(extent) != PFS_EXTENT_SLAB;
	return is_large ? extent->request_bytes : extent->block_bytes;
}

/* Advance the thread's counters for a new block, or for one that will be freed. NULL: not a block
 * with a tag. */
void pfs_counted_note_new(struct pfs_extent *extent);
void pfs_counted_note_freed(struct pfs_extent *extent);

/* lift takes the tag off a counted block before an operation that may move it. Afterwards put the
 * tag back, or credit the block as freed. */
struct pfs_counted_block {
	uint32_t *tag; /* NULL: not counted */
	struct pfs_extent *extent;
	uint32_t value;
	uint64_t bytes;
};
struct pfs_counted_block pfs_counted_lift(const void *block);
void pfs_counted_put_back(const struct pfs_counted_block *lifted);
void pfs_counted_credit(const struct pfs_counted_block *lifted);

/* Ends a lift: credits the old block if it moved, or puts its tag back (moved is NULL). True: it
 * was counted, so count the new block. */
bool pfs_counted_moved(const struct pfs_counted_block *lifted, const void *moved);
/* Before a resize; false: a limit refuses it, and the block is put back. pfs_counted_resized is
 * called after the new block is counted. */
bool pfs_counted_may_be(const struct pfs_counted_block *lifted, size_t size_bytes);
void pfs_counted_resized(void);

#endif
