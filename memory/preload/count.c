/*
 * count.c - the slow paths of counting: a new site, a mark that rises, a large block, another
 * thread's block; and all calls other than malloc and free.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pfslab/malloc.h>

#include "counter.h"
#include "from.h"
#include "memory/malloc/last.h"
#include "memory/profile/profile.h"
#include "tag.h"

const char pfs_conf_needs_tags = 1;

/* ---- thread.allocated and its like: without the accounts' own blocks ---- */

static uint64_t class_bytes(struct pfs_extent *extent)
{
	return pfs_tagged_is_large(extent) ? extent->request_bytes : extent->block_bytes;
}

/* A block that is allocated, or will be freed; NULL: no block with a tag. */
static void note_new(struct pfs_extent *extent)
{
	if (extent != NULL && pfs_counter_state == PFS_COUNTER_INSIDE)
		pfs_count_inner(class_bytes(extent), 0);
}

static void note_freed(struct pfs_extent *extent)
{
	if (extent != NULL && pfs_counter_state == PFS_COUNTER_INSIDE)
		pfs_count_inner(0, class_bytes(extent));
}

/* ---- tags ---- */

/* The size to count. A small block with more slack than fits a tag was allocated with an alignment;
 * it counts as larger than requested. */
static uint64_t bytes_to_count(struct pfs_extent *extent, size_t size_bytes)
{
	if (pfs_tagged_is_large(extent) || extent->block_bytes - size_bytes <= PFS_SLACK_MOST)
		return size_bytes;
	return extent->block_bytes - PFS_SLACK_MOST;
}

static void write_tag(struct pfs_extent *extent, const void *block, uint32_t whose, uint64_t bytes)
{
	uint32_t *tag = pfs_tag_at(extent, block);
	if (tag == NULL) /* an error of the program, which the allocator will report */
		return;
	if (pfs_tagged_is_large(extent)) {
		extent->asked_bytes = bytes;
		*tag = whose;
		return;
	}
	*tag = whose + (uint32_t)(extent->block_bytes - bytes);
}

/* ---- allocated ---- */

/* The address under which a site stores a caller. With a rule other than exact, or with a limit, it
 * is inverted, so that the fast path does not find it. */
static uintptr_t address_of(const struct pfs_counter *counter, const void *caller)
{
	bool is_quick = pfs_program.is_exact && !counter->thread->is_limited;
	return is_quick ? (uintptr_t)caller : ~(uintptr_t)caller;
}

static pfs_memory_key key_of(const struct pfs_counter *counter, const struct pfs_site *site,
			     const void *caller)
{
	return site->address == address_of(counter, caller) ? site->cell->instrument
							    : pfs_site_key(caller);
}

/* What the tag of a block just debited to a cell names: the cell, or the block's sample. */
static const struct pfs_cell *sample_or_cell(struct pfs_memory_thread *thread,
					     struct pfs_cell *cell, const void *block,
					     uint64_t bytes, const struct pfs_stack_from *from)
{
	struct pfs_sample_block sampled = { cell, bytes, pfs_sample_due(thread, cell, bytes),
					    block };
	const void *sample = sampled.lg != 0 ? pfs_sample_take(thread, &sampled, from) : NULL;
	return sample != NULL ? sample : cell;
}

/* Counts a block; called inside the accounts. False: a limit refuses it. */
static bool count(struct pfs_counter *counter, struct pfs_extent *extent, const void *block,
		  size_t size_bytes, const struct pfs_stack_from *from)
{
	const void *caller = from->caller;
	struct pfs_site *site = pfs_site_of(counter->quick, (uintptr_t)caller);
	uint64_t bytes = bytes_to_count(extent, size_bytes);
	pfs_memory_key key = key_of(counter, site, caller);
	struct pfs_memory_note note = pfs_memory_allocated(counter->thread, key, bytes);
	if (note.reference == 0) {
		site->address = 0;
		return note.reserved != PFS_MEMORY_REFUSED;
	}
	*site = (struct pfs_site){ address_of(counter, caller), counter->thread->all_cells[key] };
	if (!pfs_program.is_exact) {
		write_tag(extent, block, note.reference << PFS_SLACK_BITS, bytes);
		return true;
	}
	uintptr_t part = (uintptr_t)block >> PFS_MAP_PART_BITS;
	pfs_own.first_page = part << (PFS_MAP_PART_BITS - PFS_OS_PAGE_BITS);
	pfs_own.entries = pfs_load_relaxed(&pfs_map_root[part])->entries; /* relaxed: as ever */
	site->cell->tag = pfs_cell_tag(site->cell);                       /* before its first use */
	counter->quick->last_tag = ~site->cell->tag;
	counter->quick->last_cell = site->cell;
	write_tag(extent, block,
		  pfs_cell_tag(sample_or_cell(counter->thread, site->cell, block, bytes, from)),
		  bytes);
	return true;
}

void *pfs_count_from(void *block, size_t size_bytes, const struct pfs_stack_from *from)
{
	struct pfs_extent *extent = block != NULL ? pfs_tagged_extent(block) : NULL;
	if (extent == NULL)
		return block;
	int errno_before = errno;
	note_new(extent);
	struct pfs_counter *counter = pfs_counter_enter();
	if (counter != NULL) {
		pfs_counter_look(counter);
		bool is_granted = count(counter, extent, block, size_bytes, from);
		pfs_counter_leave(counter);
		if (!pfs_likely(is_granted)) {
			pfs_count_inner(class_bytes(extent), class_bytes(extent));
			pfs_block_free(block);
			return pfs_no_memory(size_bytes);
		}
	} else {
		pfs_counter_lose(size_bytes);
	}
	errno = errno_before;
	return block;
}

void *pfs_count_slow(void *block, size_t size_bytes, const void *caller)
{
	struct pfs_stack_from from = PFS_FROM_OF(caller);
	return pfs_count_from(block, size_bytes, &from);
}

void *pfs_count_new(void *block, size_t size_bytes, const void *caller, size_t align_bytes,
		    pfs_front_fails *fails)
{
	struct pfs_stack_from from = PFS_FROM_OF(caller);
	void *counted = pfs_count_from(block, size_bytes, &from);
	return pfs_likely(counted != NULL) ? counted : fails(align_bytes, size_bytes, caller);
}

/* The ring is empty, or the block is large. */
void *pfs_counted_malloc_slow(size_t size_bytes, const void *caller)
{
	return pfs_count(pfs_malloc_slow(size_bytes), size_bytes, caller);
}

void *pfs_counted_new_slow(size_t size_bytes, const void *caller, pfs_front_fails *fails)
{
	void *block = pfs_malloc_slow(size_bytes);
	if (pfs_likely(pfs_count_is_quick(block, size_bytes, caller)))
		return block;
	return pfs_count_new(block, size_bytes, caller, 1, fails);
}

/* ---- resized ---- */

static bool reserve(const struct pfs_counted_block *lifted, size_t size_bytes)
{
	int errno_before = errno;
	struct pfs_counter *counter = pfs_counter_enter();
	if (counter == NULL)
		return true;
	const struct pfs_cell *cell = pfs_tagged_cell(lifted->value);
	bool is_granted = pfs_limits_reserve(counter->thread, cell != NULL ? cell->instrument : 0,
					     size_bytes, cell, lifted->bytes);
	pfs_counter_leave(counter);
	errno = errno_before;
	return is_granted;
}

bool pfs_counted_may_be(const struct pfs_counted_block *lifted, size_t size_bytes)
{
	if (lifted->tag == NULL || !pfs_program.is_exact ||
	    !pfs_may_be_limited(pfs_own.counter->thread) || reserve(lifted, size_bytes))
		return true;
	pfs_counted_put_back(lifted);
	return false;
}

void pfs_counted_resized(void)
{
	struct pfs_memory_thread *thread = pfs_own.counter->thread;
	if (thread == NULL || pfs_likely(thread->reserved == 0))
		return;
	struct pfs_counter *counter = pfs_counter_enter();
	if (counter == NULL)
		return;
	pfs_limits_drop(thread);
	pfs_counter_leave(counter);
}

/* ---- freed ---- */

static void credit(uint32_t tag, uint64_t bytes)
{
	if (!pfs_child_counts())
		return;
	struct pfs_memory_note note = { tag >> PFS_SLACK_BITS, 0 };
	if (pfs_program.is_exact) { /* does not enter the accounts, and needs no life */
		struct pfs_cell *cell = pfs_tag_cell(tag);
		struct pfs_box_sample *sample = pfs_sample_of(cell);
		if (sample != NULL)
			cell = pfs_sample_give(pfs_program.books, pfs_own.counter->thread, sample);
		if (!pfs_likely(!pfs_box_is_cut(&pfs_program.books->box)))
			return; /* the sample named no cell */
		note.reference = cell->line;
		if (pfs_cell_is_own(cell, ~pfs_own.quick->reference))
			pfs_cell_credit_own(cell, bytes);
		else
			pfs_memory_freed(pfs_program.books, NULL, note, bytes);
		return;
	}
	int errno_before = errno;
	struct pfs_counter *counter = pfs_counter_enter();
	pfs_memory_freed(pfs_program.books, counter != NULL ? counter->thread : NULL, note, bytes);
	if (counter != NULL)
		pfs_counter_leave(counter);
	errno = errno_before;
}

/* Notes a free of an uncounted block, except the accounts' own, which are freed inside them. */
static void note_uncounted(void)
{
	if (pfs_own.counter != &pfs_counter_none && pfs_child_counts())
		/* relaxed: a count */
		(void)pfs_fetch_add_relaxed(&pfs_program.books->box.head->lost[PFS_LOST_FOREIGN],
					    1);
}

void pfs_counted_free_foreign(void *block, uint32_t *tag, uint64_t bytes)
{
	uint32_t value = *tag;
	if (pfs_counter_state == PFS_COUNTER_INSIDE)
		pfs_count_inner(0, bytes + (value & PFS_SLACK_MOST));
	if (!pfs_child_counts()) {
		*tag = 0;
	} else if (value != 0 && pfs_program.is_exact &&
		   pfs_sample_of(pfs_tag_cell(value)) == NULL) {
		/* The tag's cache line is at the other processor, and a locked addition waits for
		 * all earlier stores. So clear the tag after it. */
		struct pfs_cell *cell = pfs_tag_cell(value);
		if (pfs_cell_credit_foreign(cell, bytes))
			pfs_cell_finish(pfs_program.books, cell);
		*tag = 0;
	} else if (value != 0) {
		*tag = 0;
		credit(value, bytes);
	} else {
		note_uncounted();
	}
	pfs_free_quick(block);
}

void pfs_counted_free_cell(void *block, const struct pfs_extent *slab, uint32_t *tag,
			   uint64_t offset)
{
	struct pfs_quick *quick = pfs_own.quick;
	struct pfs_cell *cell = pfs_tag_cell(*tag);
	uint64_t bytes = slab->block_bytes - (*tag & PFS_SLACK_MOST);
	if (!pfs_likely(pfs_cell_is_own(cell, ~quick->reference))) {
		pfs_counted_free_foreign(block, tag, bytes);
		return;
	}
	quick->last_tag = 0;
	*tag = 0;
	pfs_cell_credit_own(cell, bytes);
	if (!pfs_likely(pfs_ring_push(pfs_ring_at(pfs_cache_own, offset), block)))
		pfs_free_slow(block);
}

struct pfs_counted_block pfs_counted_lift(const void *block)
{
	struct pfs_counted_block lifted = { .extent = pfs_tagged_extent(block) };
	if (lifted.extent == NULL)
		return lifted;
	uint32_t *tag = pfs_tag_at(lifted.extent, block);
	if (tag == NULL || *tag == 0)
		return lifted;
	lifted.tag = tag;
	lifted.value = *tag;
	lifted.bytes = pfs_tagged_bytes(lifted.extent, lifted.value);
	*tag = 0;
	return lifted;
}

void pfs_counted_put_back(const struct pfs_counted_block *lifted)
{
	if (lifted->tag != NULL)
		*lifted->tag = lifted->value;
}

void pfs_counted_credit(const struct pfs_counted_block *lifted)
{
	if (lifted->tag != NULL)
		credit(lifted->value, lifted->bytes);
}

bool pfs_counted_moved(const struct pfs_counted_block *lifted, const void *moved)
{
	if (lifted->tag == NULL)
		return false;
	if (moved == NULL)
		pfs_counted_put_back(lifted);
	else
		pfs_counted_credit(lifted);
	return moved != NULL;
}

/* A large block, NULL, or an invalid pointer, which the allocator reports. */
void pfs_counted_free_other(void *block)
{
	struct pfs_counted_block lifted = { .tag = NULL };
	if (block != NULL && !pfs_is_last())
		lifted = pfs_counted_lift(block);
	note_freed(lifted.extent);
	if (lifted.extent != NULL && lifted.tag == NULL)
		note_uncounted();
	pfs_counted_credit(&lifted);
	pfs_block_free(block);
}

/* ---- the others ---- */

void *pfs_front_calloc(size_t number, size_t size_bytes, const void *caller)
{
	/* If the product overflows, the block is NULL. */
	return pfs_count(pfs_calloc(number, size_bytes), number * size_bytes, caller);
}

/* An uncounted block stays uncounted. A counted one is the caller's from now on. Called by a tail
 * call, so the stack begins here. */
static __attribute__((noinline)) void *resize(void *block, size_t size_bytes, const void *caller)
{
	struct pfs_stack_from from = PFS_FROM_OF(caller);
	struct pfs_counted_block lifted = pfs_counted_lift(block);
	if (!pfs_likely(pfs_counted_may_be(&lifted, size_bytes)))
		return pfs_no_memory(size_bytes);
	uint64_t before_bytes = lifted.extent != NULL ? class_bytes(lifted.extent) : 0;
	void *moved = pfs_realloc(block, size_bytes);
	if (pfs_counted_moved(&lifted, moved)) {
		struct pfs_extent *extent = pfs_tagged_extent(moved);
		uint64_t bytes = extent != NULL ? bytes_to_count(extent, size_bytes) : 0;
		if (extent != NULL && !pfs_count_is_quick(moved, bytes, caller))
			moved = pfs_count_from(moved, bytes, &from);
	} else if (moved != NULL) {
		if (pfs_counter_state == PFS_COUNTER_INSIDE)
			pfs_count_inner(class_bytes(pfs_tagged_extent(moved)), before_bytes);
		pfs_counter_lose(size_bytes);
	}
	pfs_counted_resized();
	return moved;
}

void *pfs_front_realloc(void *block, size_t size_bytes, const void *caller)
{
	if (block == NULL)
		return pfs_front_malloc(size_bytes, caller);
	if (size_bytes == 0) {
		pfs_front_free(block);
		return NULL;
	}
	if (pfs_is_last())
		return pfs_realloc(block, size_bytes);
	return resize(block, size_bytes, caller);
}

void *pfs_front_reallocarray(void *block, size_t number, size_t size_bytes, const void *caller)
{
	size_t bytes;
	if (__builtin_mul_overflow(number, size_bytes, &bytes))
		return pfs_no_memory(SIZE_MAX);
	return pfs_front_realloc(block, bytes, caller);
}

void *pfs_front_memalign(size_t align_bytes, size_t size_bytes, const void *caller)
{
	return pfs_count_slow(pfs_memalign(align_bytes, size_bytes), size_bytes, caller);
}

void *pfs_front_new_aligned(size_t align_bytes, size_t size_bytes, const void *caller,
			    pfs_front_fails *fails)
{
	return pfs_count_new(pfs_memalign(align_bytes, size_bytes), size_bytes, caller, align_bytes,
			     fails);
}

int pfs_front_posix_memalign(void **block, size_t align_bytes, size_t size_bytes,
			     const void *caller)
{
	struct pfs_stack_from from = PFS_FROM_OF(caller);
	int error = pfs_posix_memalign(block, align_bytes, size_bytes);
	int errno_before = errno;
	if (error != 0 || pfs_count_from(*block, size_bytes, &from) != NULL)
		return error;
	errno = errno_before;
	*block = NULL;
	return ENOMEM;
}
