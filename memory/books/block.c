/*
 * block.c - blocks of malloc with a header of 16 bytes: the size, the note, the profile's sample.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "memory/accounts/count.h"
#include "memory/profile/profile.h"

/* The check is a hash of the address: it notices most double frees and inner pointers. */
struct header {
	uint64_t size_and_check; /* 48 bits, 16 bits */
	uint32_t reference;
	uint32_t sample; /* 0: it is not sampled */
};
_Static_assert(sizeof(struct header) == 16, "blocks stay aligned to 16");

#define SIZE_BITS 48u
#define SIZE_MOST ((UINT64_C(1) << SIZE_BITS) - 1)

static uint64_t check_of(const struct header *header)
{
	uint64_t mixed = (uint64_t)(uintptr_t)header * UINT64_C(0x9E3779B97F4A7C15);
	return mixed >> SIZE_BITS | 1;
}

static struct header *header_of(void *block, const char *call)
{
	struct header *header = (struct header *)block - 1;
	if (header->size_and_check >> SIZE_BITS == check_of(header))
		return header;
	(void)fprintf(stderr, "%s: %p was not allocated by these calls, or was already freed\n",
		      call, block);
	abort();
}

/* Samples a block that was just debited, if it is due. Returns the sample's reference, or 0. */
static uint32_t sample_of(struct pfs_memory_thread *thread, pfs_memory_key key, const void *block,
			  size_t size_bytes, const void *caller)
{
	struct pfs_cell *cell = thread->all_cells[key];
	struct pfs_sample_block sampled = { cell, size_bytes,
					    pfs_sample_due(thread, cell, size_bytes), block };
	struct pfs_stack_from from = { caller, 0, 0 };
	struct pfs_box_sample *sample = sampled.lg != 0 ? pfs_sample_take(thread, &sampled, &from)
							: NULL;
	return sample != NULL ? sample->reference : 0;
}

static void *fill(struct header *header, struct pfs_memory_note note, uint32_t sample,
		  size_t size_bytes)
{
	header->size_and_check = size_bytes | check_of(header) << SIZE_BITS;
	header->reference = note.reference;
	header->sample = sample;
	return header + 1;
}

/* Counts a block and fills its header. NULL: a limit refuses a new block, which is freed. */
static void *count(struct pfs_memory_thread *thread, pfs_memory_key key, struct header *header,
		   size_t size_bytes, const void *caller, bool is_new)
{
	struct pfs_memory_note note = pfs_count_allocated(thread, key, size_bytes);
	if (is_new && !pfs_likely(note.reserved != PFS_MEMORY_REFUSED)) {
		free(header);
		errno = ENOMEM;
		return NULL;
	}
	uint32_t sample = note.reference != 0 && !pfs_likely(thread->memory->profile == NULL)
				  ? sample_of(thread, key, header + 1, size_bytes, caller)
				  : 0;
	return fill(header, note, sample, size_bytes);
}

/* Called before the block is credited: its sample names the cell, which exists until then. */
static void give_sample(struct pfs_books *memory, struct pfs_memory_thread *thread,
			const struct header *header)
{
	if (!pfs_likely(header->sample == 0))
		(void)pfs_sample_give(memory, thread, pfs_sample_at(memory, header->sample));
}

static void *allocate(struct pfs_books *memory, struct pfs_memory_thread *thread,
		      pfs_memory_key key, size_t size_bytes, const void *caller)
{
	/* relaxed: a flag, which a tick reads. */
	if (pfs_load_relaxed(&memory->box.head->has_headers) == 0)
		pfs_store_relaxed(&memory->box.head->has_headers, 1); /* relaxed: as above */
	if (size_bytes > SIZE_MOST - sizeof(struct header)) {
		errno = ENOMEM;
		return NULL;
	}
	struct header *header = malloc(sizeof(*header) + size_bytes);
	return header != NULL ? count(thread, key, header, size_bytes, caller, true) : NULL;
}

void *pfs_memory_malloc(struct pfs_books *memory, struct pfs_memory_thread *thread,
			pfs_memory_key key, size_t size_bytes)
{
	return allocate(memory, thread, key, size_bytes, __builtin_return_address(0));
}

void pfs_memory_free(struct pfs_books *memory, struct pfs_memory_thread *thread, void *block)
{
	if (block == NULL)
		return;
	struct header *header = header_of(block, "pfs_memory_free");
	struct pfs_memory_note note = { header->reference, 0 };
	size_t size_bytes = header->size_and_check & SIZE_MOST;
	header->size_and_check = 0;
	give_sample(memory, thread, header);
	pfs_count_freed(memory, thread, note, size_bytes);
	free(header);
}

/* As pfs_memory_resized: counts for the same instrument, and for the calling thread. The header
 * still has its old contents, perhaps at a new address. */
static void *count_again(struct pfs_books *memory, struct pfs_memory_thread *thread,
			 struct header *header, size_t before_bytes, size_t after_bytes,
			 const void *caller)
{
	struct pfs_memory_note note = { header->reference, 0 };
	if (note.reference == 0)
		return fill(header, note, 0, after_bytes);
	pfs_memory_key key = memory->rule->instrument(memory, note.reference);
	if (pfs_may_be_limited(thread))
		pfs_limits_force(thread, after_bytes); /* the resize is already done */
	give_sample(memory, thread, header);
	pfs_count_freed(memory, thread, note, before_bytes);
	void *block = count(thread, key, header, after_bytes, caller, false);
	if (thread != NULL && thread->reserved != 0)
		pfs_limits_drop(thread);
	return block;
}

/* False: a limit refuses it. */
static bool may_grow(struct pfs_memory_thread *thread, const struct header *header,
		     size_t before_bytes, size_t after_bytes)
{
	if (header->reference == 0 || !pfs_may_be_limited(thread) ||
	    thread->memory->rule != &pfs_rule_exact)
		return true;
	const struct pfs_cell *cell = pfs_cell_at(thread->memory, header->reference);
	return pfs_limits_reserve(thread, cell->instrument, after_bytes, cell, before_bytes);
}

/* Resizes first: without memory, the block stays and remains counted. */
void *pfs_memory_realloc(struct pfs_books *memory, struct pfs_memory_thread *thread,
			 pfs_memory_key key, void *block, size_t size_bytes)
{
	if (block == NULL)
		return allocate(memory, thread, key, size_bytes, __builtin_return_address(0));
	if (size_bytes == 0) {
		pfs_memory_free(memory, thread, block);
		return NULL;
	}
	struct header *header = header_of(block, "pfs_memory_realloc");
	size_t before_bytes = header->size_and_check & SIZE_MOST;
	if (size_bytes > SIZE_MOST - sizeof(*header)) {
		errno = ENOMEM;
		return NULL;
	}
	if (!may_grow(thread, header, before_bytes, size_bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	struct header *moved = realloc(header, sizeof(*header) + size_bytes);
	if (moved != NULL)
		return count_again(memory, thread, moved, before_bytes, size_bytes,
				   __builtin_return_address(0));
	if (thread != NULL && thread->reserved != 0)
		pfs_limits_drop(thread);
	return NULL;
}

void pfs_memory_claim(struct pfs_books *memory, struct pfs_memory_thread *thread, void *block)
{
	struct header *header = header_of(block, "pfs_memory_claim");
	size_t size_bytes = header->size_and_check & SIZE_MOST;
	(void)count_again(memory, thread, header, size_bytes, size_bytes,
			  __builtin_return_address(0));
}
