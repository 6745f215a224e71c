/*
 * block.c - blocks of malloc with a header of 16 bytes in front, which holds size and note.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"

/* The check is of the address: so a block that is freed twice, or a pointer inside of one, is
 * most likely none. */
struct header {
	uint64_t size_and_check; /* 48 bits, 16 bits */
	uint32_t reference;
	uint32_t spare;
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
	(void)fprintf(stderr, "%s: %p is no block of these calls, or was freed already\n", call,
		      block);
	abort();
}

static void *fill(struct header *header, struct pfs_memory_note note, size_t size_bytes)
{
	header->size_and_check = size_bytes | check_of(header) << SIZE_BITS;
	header->reference = note.reference;
	return header + 1;
}

void *pfs_memory_malloc(struct pfs_books *memory, struct pfs_memory_thread *thread,
			pfs_memory_key key, size_t size_bytes)
{
	/* relaxed: a flag, which a tick multiplies by. */
	if (pfs_load_relaxed(&memory->box.head->has_headers) == 0)
		pfs_store_relaxed(&memory->box.head->has_headers, 1); /* relaxed: as above */
	if (size_bytes > SIZE_MOST - sizeof(struct header)) {
		errno = ENOMEM;
		return NULL;
	}
	struct header *header = malloc(sizeof(*header) + size_bytes);
	return header != NULL ? fill(header, pfs_count_allocated(thread, key, size_bytes),
				     size_bytes)
			      : NULL;
}

void pfs_memory_free(struct pfs_books *memory, struct pfs_memory_thread *thread, void *block)
{
	if (block == NULL)
		return;
	struct header *header = header_of(block, "pfs_memory_free");
	struct pfs_memory_note note = { header->reference, 0 };
	size_t size_bytes = header->size_and_check & SIZE_MOST;
	header->size_and_check = 0;
	pfs_count_freed(memory, thread, note, size_bytes);
	free(header);
}

/* The new size first: where there is no memory, the block stays, and is counted as it is. */
void *pfs_memory_realloc(struct pfs_books *memory, struct pfs_memory_thread *thread,
			 pfs_memory_key key, void *block, size_t size_bytes)
{
	if (block == NULL)
		return pfs_memory_malloc(memory, thread, key, size_bytes);
	if (size_bytes == 0) {
		pfs_memory_free(memory, thread, block);
		return NULL;
	}
	struct header *header = header_of(block, "pfs_memory_realloc");
	struct pfs_memory_note note = { header->reference, 0 };
	size_t before_bytes = header->size_and_check & SIZE_MOST;
	if (size_bytes > SIZE_MOST - sizeof(*header)) {
		errno = ENOMEM;
		return NULL;
	}
	header = realloc(header, sizeof(*header) + size_bytes);
	if (header == NULL)
		return NULL;
	return fill(header, pfs_memory_resized(memory, thread, note, before_bytes, size_bytes),
		    size_bytes);
}

void pfs_memory_claim(struct pfs_books *memory, struct pfs_memory_thread *thread, void *block)
{
	struct header *header = header_of(block, "pfs_memory_claim");
	struct pfs_memory_note note = { header->reference, 0 };
	size_t size_bytes = header->size_and_check & SIZE_MOST;
	(void)fill(header, pfs_memory_claimed(memory, thread, note, size_bytes), size_bytes);
}
