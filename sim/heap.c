#define _GNU_SOURCE
#include "sim/heap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/snapshot.h"

#define REGION_BYTES ((size_t)1 << 30) /* of addresses: far more than a search uses */
#define UNIT ((size_t)16)
#define SMALL_BYTES ((size_t)4096) /* blocks up to here are used again within an execution */

static struct {
	char *region;
	size_t used;
	bool on;
	void *free[SMALL_BYTES / UNIT + 1]; /* lists; by size */
} heap;

bool pfs_heap_begin(void)
{
	if (heap.region == NULL) {
		void *region = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (region == MAP_FAILED)
			return false;
		heap.region = region;
	}
	heap.on = true;
	pfs_heap_reset();
	return true;
}

void pfs_heap_end(void)
{
	heap.on = false;
}

void pfs_heap_reset(void)
{
	heap.used = 0;
	memset(heap.free, 0, sizeof(heap.free));
}

void pfs_heap_keep(struct pfs_snapshot *snapshot)
{
	pfs_snapshot_put(snapshot, &heap, sizeof(heap));
	pfs_snapshot_put(snapshot, heap.region, heap.used);
}

static size_t rounded(size_t size)
{
	return size == 0 ? UNIT : (size + UNIT - 1) / UNIT * UNIT;
}

/* The size stands before a block. */
static size_t *size_of(void *block)
{
	return (size_t *)block - 1;
}

/* Zeroed. */
static void *cut(size_t align, size_t size)
{
	void **list = size <= SMALL_BYTES ? &heap.free[size / UNIT] : NULL;
	if (align <= UNIT && list != NULL && *list != NULL) {
		void *block = *list;
		*list = *(void **)block;
		return memset(block, 0, size);
	}
	size_t first = (heap.used + UNIT + align - 1) / align * align;
	if (first > REGION_BYTES || size > REGION_BYTES - first)
		return NULL;
	heap.used = first + size;
	*size_of(heap.region + first) = size;
	return memset(heap.region + first, 0, size);
}

void *pfs_heap_malloc(size_t size)
{
	return heap.on ? cut(UNIT, rounded(size)) : malloc(size);
}

void *pfs_heap_calloc(size_t count, size_t size)
{
	if (!heap.on)
		return calloc(count, size);
	return size == 0 || count <= REGION_BYTES / size ? cut(UNIT, rounded(count * size)) : NULL;
}

void *pfs_heap_aligned_alloc(size_t align, size_t size)
{
	if (!heap.on)
		return aligned_alloc(align, size);
	return size <= REGION_BYTES ? cut(align < UNIT ? UNIT : align, rounded(size)) : NULL;
}

void pfs_heap_free(void *block)
{
	if (heap.region == NULL || (uintptr_t)block - (uintptr_t)heap.region >= REGION_BYTES) {
		free(block);
		return;
	}
	size_t size = *size_of(block);
	if (size > SMALL_BYTES)
		return;
	*(void **)block = heap.free[size / UNIT];
	heap.free[size / UNIT] = block;
}
