/*
 * jemalloc.c - mallocx and its family: malloc with an alignment, an arena, and a thread cache or
 * none, given by flags. Without flags these are malloc's fast paths.
 *
 * A block requested from a numbered arena comes from that arena's slabs. So it bypasses the rings,
 * which hold blocks of any arena.
 */
#include <pfslab/jemalloc.h>
#include <pfslab/malloc.h>
#include <string.h>

#include "choose.h"
#include "explicit.h"
#include "guarded.h"
#include "quick.h"

#ifndef PUBLIC /* a library that counts has its own wrappers of these */
#define PUBLIC __attribute__((visibility("default")))
#endif

#define ALIGN_BITS 0x3fu
#define TCACHE_SHIFT 8
#define TCACHE_BITS 0xfffu
#define ARENA_SHIFT 20

enum way { WAY_RINGS, WAY_PAST_RINGS, WAY_EXPLICIT };

/* The decoded flags. */
struct wish {
	enum way way;
	bool zero;
	size_t align_bytes;      /* 1: no alignment was asked for */
	struct pfs_arena *arena; /* NULL: any arena */
	struct pfs_cache *cache; /* WAY_EXPLICIT */
};

/* A thread cache that does not exist is treated as none: bypassing the rings is also correct. */
static void read_cache(struct wish *wish, uint32_t bits)
{
	if (bits == 0)
		return;
	wish->cache = bits >= 2 ? pfs_explicit_at(bits - 2) : NULL;
	wish->way = wish->cache != NULL ? WAY_EXPLICIT : WAY_PAST_RINGS;
}

/* False: no such arena exists, or there is no memory to create it. */
static bool read_flags(struct wish *wish, int flags)
{
	uint32_t bits = (uint32_t)flags;
	uint32_t arena = bits >> ARENA_SHIFT;
	*wish = (struct wish){ .align_bytes = (size_t)1 << (bits & ALIGN_BITS),
			       .zero = (bits & MALLOCX_ZERO) != 0 };
	read_cache(wish, bits >> TCACHE_SHIFT & TCACHE_BITS);
	if (arena == 0)
		return true;
	pfs_start();
	(void)pfs_arenas_settle();
	wish->arena = pfs_arena_at(arena - 1);
	if (wish->way == WAY_RINGS)
		wish->way = WAY_PAST_RINGS;
	return wish->arena != NULL;
}

/* The size of the block that a wish gets; 0: impossible. It is small if at most PFS_SMALL_MAX and
 * the alignment is at most an OS page. */
static size_t bytes_of(const struct wish *wish, size_t size_bytes)
{
	size_t size = size_bytes != 0 ? size_bytes : 1;
	size_t align = wish->align_bytes;
	if (align > PFS_SIZE_MAX || size > PFS_SIZE_MAX - align)
		return 0;
	size_t small = align <= PFS_OS_PAGE ? pfs_aligned_size(align, size) : SIZE_MAX;
	return small <= PFS_SMALL_MAX ? small : pfs_large_bytes(size, align);
}

static bool is_small(const struct wish *wish, size_t bytes)
{
	return bytes <= PFS_SMALL_MAX && wish->align_bytes <= PFS_OS_PAGE;
}

/* ---- allocate ---- */

static void *from_bin(struct pfs_arena *arena, size_t bytes)
{
	struct pfs_cache *cache = pfs_cache_attached();
	struct pfs_arena *of = arena != NULL ? arena : pfs_cache_arena();
	struct pfs_bin *bin = &of->bins[pfs_class_of(bytes)];
	void *block = pfs_choose_large(of, bytes, 1);
	if (block != NULL)
		return pfs_block_fill(block);
	uint32_t got = pfs_bin_take(bin, &block, 1);
	for (uint32_t i = 0; got == 0 && pfs_tick_emergency(bytes, i); i++)
		got = pfs_bin_take(bin, &block, 1);
	pfs_tick_after_malloc(of, 0, &cache->slow_calls);
	if (got == 0)
		return pfs_no_memory(bytes);
	pfs_cache_bump(cache, &cache->direct_mallocs, 1);
	pfs_cache_note_new(cache, bytes);
	return pfs_block_fill(block);
}

/* From a cache. If an arena is named, the cache is bound to it first, which flushes its other
 * blocks. */
static void *from_explicit(const struct wish *wish, size_t bytes)
{
	struct pfs_cache *own = pfs_explicit_enter(wish->cache);
	if (wish->arena != NULL)
		pfs_cache_bind(wish->arena);
	void *block = pfs_malloc_quick(bytes);
	pfs_explicit_leave(own);
	pfs_cache_note_new(own, block != NULL ? bytes : 0);
	return block;
}

static void *small_new(const struct wish *wish, size_t bytes)
{
	switch (wish->way) {
	case WAY_PAST_RINGS: return from_bin(wish->arena, bytes);
	case WAY_EXPLICIT: return from_explicit(wish, bytes);
	case WAY_RINGS: break;
	}
	return pfs_malloc_quick(bytes);
}

static void *block_new(const struct wish *wish, size_t size_bytes)
{
	size_t bytes = bytes_of(wish, size_bytes);
	size_t dirty_bytes = bytes;
	void *block;
	if (bytes == 0)
		return pfs_no_memory(size_bytes);
	if (is_small(wish, bytes)) {
		block = small_new(wish, bytes);
	} else {
		struct pfs_arena *arena = wish->arena != NULL ? wish->arena : pfs_cache_arena();
		block = pfs_malloc_large_in(arena, bytes, wish->align_bytes, &dirty_bytes);
		if (!wish->zero)
			(void)pfs_block_fill(block);
	}
	if (wish->zero && block != NULL && dirty_bytes != 0)
		pfs_large_zero(block, dirty_bytes < bytes ? dirty_bytes : bytes);
	return block;
}

/* A caller may use what nallocx says, also of a guarded block, and compare it with sallocx. */
static PFS_COLD void *whole_slow(size_t size)
{
	size_t whole = size <= PFS_SIZE_MAX ? pfs_size_of_request(size) : size;
	if (whole <= PFS_SMALL_MAX)
		return pfs_malloc_slow(whole);
	void *block = pfs_rack_take(whole, false);
	return block != NULL ? block : pfs_block_fill(pfs_malloc_large(whole, 1, NULL));
}

PUBLIC void *mallocx(size_t size, int flags)
{
	struct wish wish;
	if (flags == 0)
		return pfs_malloc_quick_or(size, whole_slow);
	return read_flags(&wish, flags) ? block_new(&wish, size) : pfs_no_memory(size);
}

PUBLIC size_t nallocx(size_t size, int flags)
{
	struct wish wish = { .align_bytes = (size_t)1 << ((uint32_t)flags & ALIGN_BITS) };
	return bytes_of(&wish, size);
}

PUBLIC size_t sallocx(const void *block, int flags)
{
	(void)flags;
	return pfs_malloc_usable_size(block);
}

/* ---- free ---- */

/* Past the rings, or to an explicit cache. Large blocks bypass caches. */
static void free_otherwise(const struct wish *wish, void *block)
{
	static const char call[] = "dallocx";
	struct pfs_extent *extent = pfs_extent_of(block, call);
	if (pfs_extent_kind(extent) != PFS_EXTENT_SLAB) {
		if (pfs_extent_kind(extent) == PFS_EXTENT_GUARDED)
			pfs_guard_free(extent, call);
		else
			pfs_large_free(extent, block, call);
		return;
	}
	struct pfs_cache *own = pfs_cache_attached();
	pfs_cache_note_freed(own, extent->block_bytes);
	if (wish->way == WAY_EXPLICIT) {
		(void)pfs_explicit_enter(wish->cache);
		pfs_free_quick(block);
		pfs_explicit_leave(own);
	} else {
		pfs_blocks_give(&block, 1, call);
		pfs_cache_bump(own, &own->direct_frees, 1);
	}
}

PUBLIC void dallocx(void *block, int flags)
{
	struct wish wish = { .way = WAY_RINGS };
	read_cache(&wish, (uint32_t)flags >> TCACHE_SHIFT & TCACHE_BITS);
	if (wish.way != WAY_RINGS && block != NULL)
		free_otherwise(&wish, block);
	else
		pfs_free_quick(block);
}

/* The size is ignored: the page map lookup is as fast. */
PUBLIC void sdallocx(void *block, size_t size, int flags)
{
	(void)size;
	dallocx(block, flags);
}

/* ---- another size ---- */

static bool is_aligned(const void *block, size_t align_bytes)
{
	return ((uintptr_t)block & (align_bytes - 1)) == 0;
}

/* Resize a large block in place; the bytes it gains are zeroed if that was asked for. */
static bool resize(struct pfs_extent *extent, size_t size_bytes, bool zero)
{
	size_t before = extent->request_bytes;
	if (!pfs_large_resize(extent, size_bytes))
		return false;
	if (zero && extent->request_bytes > before)
		pfs_large_zero((char *)extent->base + before, /* NOLINT: addresses are numbers */
			       extent->request_bytes - before);
	return true;
}

static void *move_block(const struct wish *wish, void *block, size_t before, size_t size_bytes,
			int flags)
{
	void *moved = block_new(wish, size_bytes);
	if (moved == NULL)
		return NULL;
	size_t after = pfs_malloc_usable_size(moved);
	pfs_large_copy(moved, block, before < after ? before : after);
	if (pfs_conf.tags)
		*pfs_malloc_tag(moved) = *pfs_malloc_tag(block);
	dallocx(block, flags);
	return moved;
}

PUBLIC void *rallocx(void *block, size_t size, int flags)
{
	struct wish wish;
	if (block == NULL)
		return mallocx(size, flags);
	if (!read_flags(&wish, flags))
		return pfs_no_memory(size);
	struct pfs_extent *extent = pfs_extent_of(block, "rallocx");
	size_t before = pfs_malloc_usable_size(block);
	size_t bytes = bytes_of(&wish, size);
	if (bytes == 0)
		return pfs_no_memory(size);
	if (is_aligned(block, wish.align_bytes)) {
		if (bytes == before) {
			pfs_cache_note_new(pfs_cache_mine(), before);
			pfs_cache_note_freed(pfs_cache_mine(), before);
			return block;
		}
		bool is_large = pfs_extent_kind(extent) == PFS_EXTENT_LARGE;
		if (is_large && size > PFS_SMALL_MAX && resize(extent, size, wish.zero))
			return block;
	}
	return move_block(&wish, block, before, size, flags);
}

PUBLIC size_t xallocx(void *block, size_t size, size_t extra, int flags)
{
	struct pfs_extent *extent = pfs_extent_of(block, "xallocx");
	size_t align = (size_t)1 << ((uint32_t)flags & ALIGN_BITS);
	bool zero = ((uint32_t)flags & MALLOCX_ZERO) != 0;
	size_t before = pfs_malloc_usable_size(block);
	if (pfs_extent_kind(extent) != PFS_EXTENT_LARGE || !is_aligned(block, align) ||
	    size > PFS_SIZE_MAX)
		return before;
	size_t most = extra < PFS_SIZE_MAX - size ? size + extra : PFS_SIZE_MAX;
	size_t most_bytes = most > PFS_SMALL_MAX ? pfs_large_bytes(most, PFS_OS_PAGE) : before;
	if (most_bytes == 0)
		most_bytes = SIZE_MAX; /* cannot be reached; but size may be */
	if (most_bytes < before)
		(void)resize(extent, most, zero);
	else if (most_bytes > before && !resize(extent, most, zero) && size > before)
		(void)resize(extent, size, zero);
	return extent->request_bytes;
}
