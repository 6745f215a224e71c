#define _GNU_SOURCE
#include "sim/seams/arena.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "check/machine/blocks.h"

#define SMALL_BYTES ((size_t)64 << 10)
#define OS_PAGE ((size_t)4096)

static void *lists[PFS_BLOCK_LISTS(SMALL_BYTES)];
static struct pfs_blocks arena = { .region_bytes = (size_t)64 << 30,
				   .small_bytes = SMALL_BYTES,
				   .free = lists };

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void __real_free(void *block);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void __wrap_free(void *block);

bool pfs_arena_begin(void)
{
	return pfs_blocks_begin(&arena);
}

static void *allocate(size_t align, size_t size, bool *is_fresh)
{
	return pfs_blocks_take(&arena, align, size, is_fresh);
}

void *__wrap_malloc(size_t size)
{
	bool is_fresh;
	return arena.region != NULL ? allocate(PFS_BLOCK_UNIT, size, &is_fresh)
				    : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	bool is_fresh;
	if (arena.region == NULL)
		return __real_calloc(count, size);
	if (size != 0 && count > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	void *block = allocate(PFS_BLOCK_UNIT, count * size, &is_fresh);
	if (block != NULL && !is_fresh)
		memset(block, 0, count * size);
	return block;
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	bool is_fresh;
	size_t at_least = align > PFS_BLOCK_UNIT ? align : PFS_BLOCK_UNIT;
	return arena.region != NULL ? allocate(at_least, size, &is_fresh)
				    : __real_aligned_alloc(align, size);
}

void __wrap_free(void *block)
{
	if (!pfs_blocks_has(&arena, block)) {
		__real_free(block);
		return;
	}
	if (pfs_blocks_put(&arena, block))
		return;
	uintptr_t begin = ((uintptr_t)block + OS_PAGE - 1) / OS_PAGE * OS_PAGE;
	uintptr_t end = ((uintptr_t)block + pfs_blocks_size_of(block)) / OS_PAGE * OS_PAGE;
	if (begin < end)
		(void)madvise((void *)begin, end - begin, MADV_DONTNEED);
}

void *__wrap_realloc(void *block, size_t size)
{
	if (block == NULL)
		return __wrap_malloc(size);
	if (!pfs_blocks_has(&arena, block))
		return __real_realloc(block, size);
	size_t had = pfs_blocks_size_of(block);
	if (size != 0 && size <= had)
		return block;
	void *moved = __wrap_malloc(size);
	if (moved == NULL)
		return NULL;
	memcpy(moved, block, had < size ? had : size);
	__wrap_free(block);
	return moved;
}
