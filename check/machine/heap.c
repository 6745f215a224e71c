#define _GNU_SOURCE
#include "check/machine/heap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check/machine/blocks.h"
#include "check/machine/snapshot.h"

#define SMALL_BYTES ((size_t)4096)

static void *lists[PFS_BLOCK_LISTS(SMALL_BYTES)];
static struct pfs_blocks heap = { .region_bytes = (size_t)1 << 30,
				  .small_bytes = SMALL_BYTES,
				  .free = lists };
static bool is_on;

bool pfs_heap_begin(void)
{
	is_on = heap.region != NULL || pfs_blocks_begin(&heap);
	pfs_heap_reset();
	return is_on;
}

void pfs_heap_end(void)
{
	is_on = false;
}

void pfs_heap_reset(void)
{
	pfs_blocks_reset(&heap);
}

struct pfs_heap_extent pfs_heap_extent(void)
{
	return (struct pfs_heap_extent){ heap.region, &heap.used, lists, sizeof(lists) };
}

void pfs_heap_keep(struct pfs_machine_snapshot *snapshot)
{
	pfs_snapshot_put(snapshot, &heap.used, sizeof(heap.used));
	pfs_snapshot_put(snapshot, lists, sizeof(lists));
	pfs_snapshot_put(snapshot, heap.region, heap.used);
}

/* Zeroed, so that nothing of another execution is visible. */
static void *take(size_t align, size_t size)
{
	bool is_fresh;
	void *block = pfs_blocks_take(&heap, align, size, &is_fresh);
	return block != NULL ? memset(block, 0, pfs_blocks_size_of(block)) : NULL;
}

void *pfs_machine_heap_malloc(size_t size)
{
	return is_on ? take(PFS_BLOCK_UNIT, size) : malloc(size);
}

void *pfs_heap_calloc(size_t count, size_t size)
{
	if (!is_on)
		return calloc(count, size);
	return size == 0 || count <= SIZE_MAX / size ? take(PFS_BLOCK_UNIT, count * size) : NULL;
}

void *pfs_heap_aligned_alloc(size_t align, size_t size)
{
	if (!is_on)
		return aligned_alloc(align, size);
	return take(align > PFS_BLOCK_UNIT ? align : PFS_BLOCK_UNIT, size);
}

void pfs_machine_heap_free(void *block)
{
	if (pfs_blocks_has(&heap, block)) {
		memset(block, 0, pfs_blocks_size_of(block)); /* equal states must have equal
							      * bytes */
		(void)pfs_blocks_put(&heap, block);
	} else {
		free(block);
	}
}
