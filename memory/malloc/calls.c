/*
 * calls.c - malloc and its family: the fast paths, and the slow ones behind them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pfslab/malloc.h>
#include <string.h>

#include "choose.h"
#include "guard.h"
#include "guarded.h"
#include "last.h"
#include "quick.h"
#include "stats.h"
#include "watch.h"

void *pfs_no_memory(size_t size_bytes)
{
	if (pfs_conf.xmalloc)
		pfs_die("malloc", (void *)size_bytes, "out of memory (xmalloc)");
	errno = ENOMEM;
	return NULL;
}

void *pfs_block_fill(void *block)
{
	if (block != NULL && (pfs_conf.zero || pfs_conf.junk))
		pfs_conf_fill(block, pfs_malloc_usable_size(block));
	return block;
}

/* Allocates for a thread that pfs_die is ending. */
static void *last_block(size_t size_bytes, size_t align_bytes)
{
	void *block = pfs_last_new(size_bytes, align_bytes);
	return block != NULL ? block : pfs_no_memory(size_bytes);
}

PFS_COLD void *pfs_malloc_large_in(struct pfs_arena *arena, size_t size_bytes, size_t align_bytes,
				   size_t *dirty_bytes)
{
	void *block = NULL;
	int errno_before = errno;
	bool may_be = size_bytes <= PFS_SIZE_MAX;
	if (may_be)
		block = pfs_choose_large(arena, size_bytes, align_bytes);
	if (may_be && block == NULL)
		block = pfs_large_new(arena, size_bytes, align_bytes, dirty_bytes);
	for (uint32_t i = 0; may_be && block == NULL && pfs_tick_emergency(size_bytes, i); i++)
		block = pfs_large_new(arena, size_bytes, align_bytes, dirty_bytes);
	pfs_tick_after_malloc(arena, size_bytes, &pfs_cache_own->slow_calls);
	errno = errno_before;
	return block != NULL ? block : pfs_no_memory(size_bytes);
}

PFS_COLD void *pfs_malloc_large(size_t size_bytes, size_t align_bytes, size_t *dirty_bytes)
{
	if (pfs_is_last())
		return last_block(size_bytes, align_bytes);
	return pfs_malloc_large_in(pfs_arena_for_large(pfs_cache_arena(), size_bytes), size_bytes,
				   align_bytes, dirty_bytes);
}

/* ---- the calls of a watched thread ---- */

static PFS_COLD void *malloc_watched(size_t size_bytes)
{
	struct pfs_cache *front = pfs_cache_own;
	uint64_t allocated = pfs_own.allocated, freed = pfs_own.freed;
	pfs_cache_own = front->behind;
	void *block = pfs_malloc_quick(size_bytes);
	pfs_cache_own = front;
	/* The block alone, whichever way it came, and nothing that the call allocated for itself.
	 */
	pfs_own.allocated = allocated + pfs_malloc_usable_size(block);
	pfs_own.freed = freed;
	return block;
}

/* 0: not a block. */
static uint64_t bytes_freed(const void *block)
{
	uint64_t entry = pfs_map_entry_or_none((uintptr_t)block);
	struct pfs_extent *extent = pfs_map_extent(entry);
	if (extent == NULL || pfs_extent_kind(extent) < PFS_EXTENT_LARGE)
		return 0;
	return pfs_map_ring(entry) != 0 ? extent->block_bytes : extent->request_bytes;
}

static PFS_COLD void free_watched(void *block)
{
	struct pfs_cache *front = pfs_cache_own;
	uint64_t allocated = pfs_own.allocated, freed = pfs_own.freed + bytes_freed(block);
	pfs_cache_own = front->behind;
	pfs_free_quick(block);
	pfs_cache_own = front;
	pfs_own.allocated = allocated;
	pfs_own.freed = freed;
}

/* ---- malloc and free ---- */

/* The block is large, or its ring holds few. */
static __attribute__((noinline)) void *malloc_slower(size_t size_bytes)
{
	if (pfs_is_last())
		return last_block(size_bytes, PFS_LINE);
	if (!pfs_likely(!pfs_is_watched()))
		return malloc_watched(size_bytes);
	if (size_bytes > PFS_SMALL_MAX)
		return pfs_block_fill(pfs_malloc_large(size_bytes, 1, NULL));
	int errno_before = errno;
	uint32_t class = pfs_class_of(size_bytes);
	void *block = pfs_choose_small(class, size_bytes);
	if (pfs_likely(block == NULL))
		block = pfs_cache_refill(class);
	for (uint32_t i = 0; block == NULL && pfs_tick_emergency(size_bytes, i); i++)
		block = pfs_cache_take_one(class);
	if (pfs_conf.stats_print)
		pfs_stats_look();
	errno = errno_before;
	return pfs_block_fill(block != NULL ? block : pfs_no_memory(size_bytes));
}

PFS_COLD void *pfs_malloc_slow(size_t size_bytes)
{
	void *block = NULL;
	if (size_bytes <= PFS_SMALL_MAX)
		block = pfs_cache_fill(pfs_ring_offsets[(size_bytes + 7) / 8]);
	else
		block = pfs_rack_take(size_bytes, true);
	return block != NULL ? block : malloc_slower(size_bytes);
}

PFS_OWN void *pfs_malloc(size_t size_bytes)
{
	return pfs_malloc_quick(size_bytes);
}

/* The pointer is in no slab: NULL, a large or a guarded block, or a mistake. */
static void free_other(void *block, const char *call)
{
	if (block == NULL)
		return;
	struct pfs_extent *extent = pfs_extent_of(block, call);
	enum pfs_extent_kind kind = pfs_extent_kind(extent);
	if (kind == PFS_EXTENT_GUARDED)
		pfs_guard_free(extent, call);
	else if (kind != PFS_EXTENT_LARGE)
		pfs_die(call, block, PFS_NO_BLOCK);
	else if (!pfs_rack_put(extent))
		pfs_large_free(extent, block, call);
	pfs_cache_after_free(pfs_cache_own);
}

PFS_COLD void pfs_free_slow(void *block)
{
	static const char call[] = "free";
	if (pfs_is_last())
		return;
	if (!pfs_likely(!pfs_is_watched())) {
		free_watched(block);
		return;
	}
	int errno_before = errno;
	uint32_t offset = pfs_map_ring(pfs_map_entry(block));
	if (offset != 0)
		pfs_cache_overflow(block, pfs_class_of_offset(offset), call);
	else
		free_other(block, call);
	errno = errno_before;
}

PFS_OWN void pfs_block_free(void *block)
{
	pfs_free_quick(block);
}

struct pfs_extent *pfs_extent_of(const void *block, const char *call)
{
	uint64_t entry = pfs_map_entry_or_none((uintptr_t)block);
	struct pfs_extent *extent = pfs_map_extent(entry);
	if (extent != NULL && pfs_extent_kind(extent) == PFS_EXTENT_CACHED)
		pfs_die(call, block, PFS_IS_FREE);
	if (!pfs_likely(extent != NULL && pfs_extent_kind(extent) >= PFS_EXTENT_LARGE))
		pfs_die(call, block, pfs_guard_was((uintptr_t)block) ? PFS_IS_FREE : PFS_NO_BLOCK);
	if (pfs_extent_kind(extent) != PFS_EXTENT_SLAB && extent->base != (uintptr_t)block)
		pfs_die(call, block, PFS_NOT_START);
	return extent;
}

struct pfs_extent *pfs_large_of(const void *block, const char *call)
{
	struct pfs_extent *extent = pfs_extent_of(block, call);
	if (pfs_extent_kind(extent) != PFS_EXTENT_LARGE)
		pfs_die(call, block, PFS_NO_BLOCK);
	return extent;
}

static size_t extent_block_bytes(struct pfs_extent *extent)
{
	return pfs_extent_kind(extent) == PFS_EXTENT_SLAB ? extent->block_bytes
							  : extent->request_bytes;
}

PFS_OWN size_t pfs_malloc_usable_size(const void *block)
{
	if (block == NULL)
		return 0;
	if (pfs_is_last() && pfs_map_entry_or_none((uintptr_t)block) == 0)
		return pfs_last_size(block);
	return extent_block_bytes(pfs_extent_of(block, "malloc_usable_size"));
}

PFS_OWN void *pfs_calloc(size_t count, size_t size_bytes)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size_bytes, &bytes))
		return pfs_no_memory(SIZE_MAX);
	size_t dirty_bytes = bytes;
	if (bytes <= PFS_SMALL_MAX) {
		void *block = pfs_malloc_quick(bytes);
		return block != NULL ? memset(block, 0, bytes) : NULL;
	}
	void *block = pfs_rack_take(bytes, true);
	if (block == NULL)
		block = pfs_malloc_large(bytes, 1, &dirty_bytes);
	if (block != NULL && dirty_bytes != 0)
		pfs_large_zero(block, dirty_bytes < bytes ? dirty_bytes : bytes);
	return block;
}

static void *move_bytes(void *block, size_t before, size_t size_bytes)
{
	void *moved = pfs_malloc(size_bytes);
	if (moved == NULL)
		return NULL;
	pfs_large_copy(moved, block, before < size_bytes ? before : size_bytes);
	if (pfs_conf.tags)
		*pfs_malloc_tag(moved) = *pfs_malloc_tag(block);
	pfs_block_free(block);
	return moved;
}

/* In place if the class stays the same, or if the block is large and the memory behind it is free;
 * otherwise the bytes are moved. A shrink that finds no memory to move to keeps the block where it
 * is, because programs do not check whether a shrink failed. */
static void *realloc_to(void *block, size_t size_bytes)
{
	struct pfs_extent *extent = pfs_extent_of(block, "realloc");
	uint32_t region;
	if (pfs_extent_kind(extent) == PFS_EXTENT_SLAB &&
	    !pfs_slab_region(extent, (uintptr_t)block, &region))
		pfs_die("realloc", block, PFS_NOT_START);
	size_t before = extent_block_bytes(extent);
	if (pfs_size_of_request(size_bytes) == before) {
		pfs_cache_note_new(pfs_cache_mine(), before);
		pfs_cache_note_freed(pfs_cache_mine(), before);
		return block;
	}
	if (pfs_extent_kind(extent) == PFS_EXTENT_LARGE && size_bytes > PFS_SMALL_MAX &&
	    pfs_large_resize(extent, size_bytes)) {
		pfs_tick_after_malloc(pfs_extent_arena(extent), 0, &pfs_cache_own->slow_calls);
		return block;
	}
	int errno_before = errno;
	void *moved = move_bytes(block, before, size_bytes);
	if (moved != NULL || size_bytes > before)
		return moved;
	errno = errno_before;
	return block;
}

static void *realloc_last(void *block, size_t size_bytes)
{
	size_t before = pfs_malloc_usable_size(block);
	void *moved = last_block(size_bytes, PFS_LINE);
	if (moved != NULL)
		memcpy(moved, block, before < size_bytes ? before : size_bytes);
	return moved;
}

PFS_OWN void *pfs_realloc(void *block, size_t size_bytes)
{
	if (block == NULL)
		return pfs_malloc(size_bytes);
	if (size_bytes == 0) {
		pfs_block_free(block);
		return NULL;
	}
	if (pfs_is_last())
		return realloc_last(block, size_bytes);
	return size_bytes <= PFS_SIZE_MAX ? realloc_to(block, size_bytes)
					  : pfs_no_memory(size_bytes);
}

PFS_OWN void *pfs_reallocarray(void *block, size_t count, size_t size_bytes)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size_bytes, &bytes))
		return pfs_no_memory(SIZE_MAX);
	return pfs_realloc(block, bytes);
}

/* The size of a small class that is a multiple of the alignment; above PFS_SMALL_MAX: none is. */
size_t pfs_aligned_size(size_t align_bytes, size_t size_bytes)
{
	size_t size = size_bytes > align_bytes ? size_bytes : align_bytes;
	while (size <= PFS_SMALL_MAX) {
		size_t class_bytes = pfs_classes[pfs_class_of(size)].size_bytes;
		if ((class_bytes & (align_bytes - 1)) == 0)
			return class_bytes;
		size = class_bytes + 1;
	}
	return size;
}

/* The alignment is a power of two. */
PFS_OWN void *pfs_memalign(size_t align_bytes, size_t size_bytes)
{
	if (pfs_is_last())
		return last_block(size_bytes, align_bytes);
	if (align_bytes > PFS_SIZE_MAX || size_bytes > PFS_SIZE_MAX - align_bytes)
		return pfs_no_memory(size_bytes);
	if (align_bytes <= PFS_OS_PAGE) {
		size_t size = pfs_aligned_size(align_bytes, size_bytes);
		if (size <= PFS_SMALL_MAX)
			return pfs_malloc(size);
	}
	void *block = pfs_malloc_large(size_bytes != 0 ? size_bytes : 1, align_bytes, NULL);
	return pfs_block_fill(block);
}

PFS_OWN int pfs_posix_memalign(void **block, size_t align_bytes, size_t size_bytes)
{
	if (align_bytes % sizeof(void *) != 0 || (align_bytes & (align_bytes - 1)) != 0 ||
	    align_bytes == 0)
		return EINVAL;
	void *aligned = pfs_memalign(align_bytes, size_bytes);
	if (aligned == NULL)
		return ENOMEM;
	*block = aligned;
	return 0;
}

PFS_OWN size_t pfs_malloc_trim_all(void)
{
	pfs_start();
	pfs_cache_flush();
	return pfs_tick_all() * PFS_OS_PAGE;
}

PFS_OWN uint32_t *pfs_malloc_tag(const void *block)
{
	struct pfs_extent *extent = pfs_extent_of(block, "pfs_malloc_tag");
	if (extent->tags == NULL)
		return NULL;
	uint32_t region = 0;
	if (pfs_extent_kind(extent) == PFS_EXTENT_SLAB &&
	    !pfs_slab_region(extent, (uintptr_t)block, &region))
		pfs_die("pfs_malloc_tag", block, PFS_NOT_START);
	return &extent->tags[region];
}
