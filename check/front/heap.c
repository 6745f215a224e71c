#define _GNU_SOURCE
#include "check/front/heap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check/front/pages.h"
#include "check/front/sizes.h"
#include "check/machine/grow.h"
#include "check/machine/machine.h"
#include "check/machine/snapshot.h"
#include "check/machine/trace.h"
#include "check/search/rewind.h"

#define REGION_BYTES ((size_t)1 << 32)
#define GAP_BYTES ((size_t)16) /* between blocks, so that one past the end is in none */
#define PATTERN 0xA5           /* of new bytes, and of gaps */
#define FREED 0x5A
#define NEW_BYTES_MIN 4u /* fewer may have the value of new bytes by chance */
#define NEW_BYTES_MAX 16u
#define SIZE_LIMIT ((size_t)1 << 30)

struct block {
	uintptr_t first;
	size_t size;
	const struct pfs_sim_place *made, *freed; /* freed: NULL while in use */
	bool reached;
	bool has_atomics; /* a store may leave its buffer when the block is freed already */
};

static struct {
	char *region;
	size_t used;
	struct block *blocks; /* by address */
	uint32_t count, room;
	/* What constructors allocated: before the first execution. */
	size_t kept_used;
	struct block *kept;
	uint32_t kept_count;
	bool looks_for_new; /* reads of bytes that were not written */
} heap;

bool pfs_check_heap_begin(void)
{
	char *region = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (region == MAP_FAILED)
		return false;
	heap.region = region;
	return true;
}

void pfs_check_heap_keep(void)
{
	heap.kept = malloc((heap.count + 1) * sizeof(*heap.kept));
	if (heap.kept == NULL)
		abort();
	heap.kept_used = heap.used;
	heap.kept_count = heap.count;
	if (heap.count == 0)
		return;
	memcpy(heap.kept, heap.blocks, heap.count * sizeof(*heap.kept));
	pfs_pages_add(heap.region, heap.used + GAP_BYTES);
}

void pfs_check_heap_reset(void)
{
	heap.used = heap.kept_used;
	heap.count = heap.kept_count;
	if (heap.count != 0)
		memcpy(heap.blocks, heap.kept, heap.count * sizeof(*heap.kept));
}

void pfs_check_heap_put(struct pfs_machine_snapshot *snapshot)
{
	pfs_snapshot_put(snapshot, &heap.used, sizeof(heap.used));
	pfs_snapshot_put(snapshot, &heap.count, sizeof(heap.count));
	pfs_snapshot_put(snapshot, heap.blocks, heap.count * sizeof(heap.blocks[0]));
	/* Larger heaps are not kept, so their size is enough. */
	size_t bytes = heap.used - heap.kept_used + GAP_BYTES;
	pfs_snapshot_put(snapshot, heap.region + heap.kept_used,
			 bytes < 2 * PFS_REWIND_BYTES_MAX ? bytes : 2 * PFS_REWIND_BYTES_MAX);
}

bool pfs_check_heap_has(const void *address)
{
	return heap.region != NULL && (uintptr_t)address - (uintptr_t)heap.region < REGION_BYTES;
}

void *pfs_check_heap_take(size_t align, size_t size, const struct pfs_sim_place *place)
{
	size_t at = (heap.used + GAP_BYTES + align - 1) / align * align;
	pfs_widenings += heap.count == heap.room; /* snapshots know where the blocks are */
	if (size > SIZE_LIMIT || at + size + GAP_BYTES > REGION_BYTES ||
	    !pfs_grow((void **)&heap.blocks, &heap.room, heap.count + 1, sizeof(struct block)))
		return NULL;
	memset(heap.region + heap.used, PATTERN, at + size + GAP_BYTES - heap.used);
	heap.used = at + size;
	pfs_sizes_forget(heap.region + at, size);
	heap.blocks[heap.count++] =
		(struct block){ (uintptr_t)heap.region + at, size, place, NULL, false, false };
	return heap.region + at;
}

/* The last block that begins at or before the address, or NULL. */
static struct block *block_before(uintptr_t address)
{
	uint32_t low = 0, high = heap.count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (heap.blocks[middle].first <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low != 0 ? &heap.blocks[low - 1] : NULL;
}

/* Who allocated or freed a block is not kept. */
static struct pfs_finding_side made_by(const struct block *block)
{
	return pfs_side(PFS_THREAD_NONE, "allocated", block->made);
}

static struct pfs_finding_side freed_by(const struct block *block)
{
	return pfs_side(PFS_THREAD_NONE, "freed", block->freed);
}

/*
 * Code that does not report its accesses, such as libc's and small copies that compilers expand, is
 * noticed only if it wrote after the end of a block, or to a freed one.
 */
static void look_at_gap(const struct block *block)
{
	const unsigned char *gap = (const unsigned char *)block->first + block->size;
	for (size_t i = 0; i < GAP_BYTES; i++) {
		if (gap[i] != PATTERN) {
			pfs_machine_find(PFS_FOUND_OUT_OF_BOUNDS, PFS_SIDES(made_by(block)),
					 "out of bounds: byte %zu after a block of %zu bytes was "
					 "written by code that is not watched (-fno-builtin shows "
					 "where); the block was allocated at " PFS_SIDE_1,
					 i, block->size);
			return;
		}
	}
}

static void look_at_freed(const struct block *block)
{
	const unsigned char *byte = (const unsigned char *)block->first;
	if (block->size == 0 || (byte[0] == FREED && memcmp(byte, byte + 1, block->size - 1) == 0))
		return;
	for (size_t i = 0; i < block->size; i++) {
		if (byte[i] != FREED) {
			pfs_machine_find(PFS_FOUND_USE_AFTER_FREE, PFS_SIDES(freed_by(block)),
					 "use after free: byte %zu of a block was written by code "
					 "that is not watched (-fno-builtin shows where) after it "
					 "was freed at " PFS_SIDE_1,
					 i);
			return;
		}
	}
}

void pfs_check_heap_end(void)
{
	for (uint32_t i = 0; i < heap.count; i++) {
		look_at_gap(&heap.blocks[i]);
		if (heap.blocks[i].freed != NULL && !heap.blocks[i].has_atomics)
			look_at_freed(&heap.blocks[i]);
	}
}

size_t pfs_check_heap_give(void *pointer, const struct pfs_sim_place *place)
{
	struct block *block = block_before((uintptr_t)pointer);
	if (block == NULL || block->first != (uintptr_t)pointer)
		pfs_machine_find(PFS_FOUND_BAD_FREE, PFS_SIDES(pfs_side_here("frees", place)),
				 "free at " PFS_SIDE_1 " of a pointer that malloc did not return");
	else if (block->freed != NULL)
		pfs_machine_find(PFS_FOUND_DOUBLE_FREE,
				 PFS_SIDES(pfs_side_here("frees", place), freed_by(block)),
				 "double free: at " PFS_SIDE_1 "; first freed at " PFS_SIDE_2);
	else {
		look_at_gap(block);
		memset(pointer, FREED, block->size);
		block->freed = place;
	}
	return block != NULL ? block->size : 0;
}

size_t pfs_check_heap_size(const void *pointer)
{
	const struct block *block = block_before((uintptr_t)pointer);
	return block != NULL && block->first == (uintptr_t)pointer ? block->size : 0;
}

void pfs_check_heap_note_atomic(const void *address)
{
	struct block *block = pfs_check_heap_has(address) ? block_before((uintptr_t)address) : NULL;
	if (block != NULL)
		block->has_atomics = true;
}

void pfs_check_heap_uninitialized(void)
{
	heap.looks_for_new = true;
}

/* Bytes that malloc returned, and that nothing has written. A copy of many may have gaps. */
static bool is_new(const void *address, size_t size)
{
	const unsigned char *bytes = address;
	return size >= NEW_BYTES_MIN && size <= NEW_BYTES_MAX && bytes[0] == PATTERN &&
	       memcmp(bytes, bytes + 1, size - 1) == 0;
}

void pfs_check_heap_look(const void *address, size_t size, bool writes,
			 const struct pfs_sim_place *place)
{
	if (!pfs_check_heap_has(address) || size == 0)
		return;
	const struct block *block = block_before((uintptr_t)address);
	const char *verb = writes ? "write" : "read";
	const char *does = writes ? "writes" : "reads";
	if (block == NULL)
		pfs_machine_find(PFS_FOUND_OUT_OF_BOUNDS, PFS_SIDES(pfs_side_here(does, place)),
				 "out of bounds: %s of %zu bytes at " PFS_SIDE_1
				 ", outside every block",
				 verb, size);
	else if ((uintptr_t)address - block->first + size > block->size)
		pfs_machine_find(PFS_FOUND_OUT_OF_BOUNDS,
				 PFS_SIDES(pfs_side_here(does, place), made_by(block)),
				 "out of bounds: %s of %zu bytes at " PFS_SIDE_1
				 ", outside every block; the nearest block below it was allocated "
				 "at " PFS_SIDE_2,
				 verb, size);
	else if (block->freed != NULL)
		pfs_machine_find(
			PFS_FOUND_USE_AFTER_FREE,
			PFS_SIDES(pfs_side_here(does, place), freed_by(block), made_by(block)),
			"use after free: %s at " PFS_SIDE_1
			" of a block that was freed at " PFS_SIDE_2 ", allocated at " PFS_SIDE_3,
			verb);
	else if (heap.looks_for_new && !writes && is_new(address, size))
		pfs_machine_find(PFS_FOUND_UNINITIALIZED,
				 PFS_SIDES(pfs_side_here(does, place), made_by(block)),
				 "uninitialized read: of %zu bytes at " PFS_SIDE_1
				 ", in a block that was allocated at " PFS_SIDE_2,
				 size);
}

/* Mark blocks that words of these bytes point into, and append them to those still to be scanned;
 * returns how many these are then. */
static uint32_t reach(uintptr_t first, size_t bytes, uint32_t *waiting, uint32_t count)
{
	uintptr_t at = (first + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
	for (; at + sizeof(void *) <= first + bytes; at += sizeof(void *)) {
		uintptr_t word;
		memcpy(&word, (const void *)at, sizeof(word));
		word &= (UINT64_C(1) << 48) - 1; /* above, a pointer may carry a tag */
		if (!pfs_check_heap_has((const void *)word))
			continue;
		struct block *block = block_before(word);
		if (block == NULL || block->reached || word - block->first > block->size ||
		    block < &heap.blocks[heap.kept_count])
			continue;
		block->reached = true;
		waiting[count++] = (uint32_t)(block - heap.blocks);
	}
	return count;
}

static void reach_all(const struct pfs_check_root *roots, size_t root_count)
{
	uint32_t *waiting = malloc(heap.count * sizeof(*waiting)), count = 0;
	const void *first;
	size_t bytes;
	if (waiting == NULL)
		abort();
	for (uint32_t i = heap.kept_count; i < heap.count; i++)
		heap.blocks[i].reached = false;
	for (size_t i = 0; i < root_count; i++)
		count = reach((uintptr_t)roots[i].first, roots[i].bytes, waiting, count);
	/* Of the program's libraries, and of what constructors allocated. */
	for (uint32_t i = 0; pfs_pages_written(i, &first, &bytes); i++)
		count = reach((uintptr_t)first, bytes, waiting, count);
	while (count != 0) {
		const struct block *block = &heap.blocks[waiting[--count]];
		if (block->freed == NULL)
			count = reach(block->first, block->size, waiting, count);
	}
	free(waiting);
}

bool pfs_check_heap_leak(const struct pfs_check_root *roots, size_t count,
			 const struct pfs_sim_place **place, size_t *size)
{
	if (heap.count != heap.kept_count)
		reach_all(roots, count);
	for (uint32_t i = heap.kept_count; i < heap.count; i++) {
		const struct block *block = &heap.blocks[i];
		if (block->freed != NULL || block->reached)
			continue;
		*place = block->made;
		*size = block->size;
		return true;
	}
	return false;
}

bool pfs_check_heap_name(const void *address, char *name, size_t name_bytes)
{
	const struct block *block = pfs_check_heap_has(address) ? block_before((uintptr_t)address)
								: NULL;
	if (block == NULL)
		return false;
	uint32_t at = (uint32_t)(block - heap.blocks);
	bool is_kept = at < heap.kept_count;
	(void)snprintf(name, name_bytes, "%sblock %u+%zu", is_kept ? "the constructors' " : "",
		       is_kept ? at : at - heap.kept_count,
		       (size_t)((uintptr_t)address - block->first));
	return true;
}

void pfs_check_heap_origin(const void *address, char *name, size_t name_bytes)
{
	const struct block *block = pfs_check_heap_has(address) ? block_before((uintptr_t)address)
								: NULL;
	size_t length = strlen(name);
	if (block != NULL)
		(void)snprintf(name + length, name_bytes - length, " (allocated at %s:%d)",
			       pfs_trace_base_name(block->made->file), block->made->line);
}
