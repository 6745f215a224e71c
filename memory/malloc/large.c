#include "large.h"

#include <string.h>

#include "cache.h"
#include "conf.h"
#include "containers/compiler.h"
#include "die.h"
#include "map.h"
#include "rack.h"
#include "system.h"

#define MOVE_LEAST_BYTES ((size_t)128 << 10)
#define MOVE_PIECE_BYTES ((size_t)256 << 10)
#define ZERO_LEAST_BYTES ((size_t)512 << 10) /* the question costs as much as to zero 40 KiB */

/* The size class of a large request; 0: too large. */
static size_t class_bytes(size_t size_bytes)
{
	size_t bytes = pfs_size_round(size_bytes < PFS_LARGE_MIN ? PFS_LARGE_MIN : size_bytes);
	return bytes <= PFS_SIZE_MAX ? bytes : 0;
}

/* A block that is large only because of its alignment is rounded up to whole pages. */
size_t pfs_large_bytes(size_t size_bytes, size_t align_bytes)
{
	if (align_bytes <= PFS_OS_PAGE || size_bytes > PFS_SMALL_MAX)
		return class_bytes(size_bytes);
	return (size_bytes + PFS_OS_PAGE - 1) & ~(size_t)(PFS_OS_PAGE - 1);
}

void *pfs_large_new(struct pfs_arena *arena, size_t size_bytes, size_t align_bytes,
		    size_t *dirty_bytes)
{
	struct pfs_extents *extents = &arena->extents;
	size_t align = align_bytes < PFS_OS_PAGE ? PFS_OS_PAGE : align_bytes;
	size_t bytes = pfs_large_bytes(size_bytes, align);
	/* Before new memory is taken if the thread's own rack has blocks; otherwise after it, so
	 * that the look at the dirty extents costs nothing. */
	if (pfs_rack_has_some(pfs_cache_mine()) && bytes != 0 &&
	    !pfs_extents_has_dirty(extents, bytes))
		pfs_racks_take_back(arena, bytes <= PFS_RACK_MOST);
	struct pfs_extent *extent = bytes != 0 ? pfs_extents_take_large(extents, bytes, align)
					       : NULL;
	if (extent == NULL)
		return NULL;
	if (!pfs_large_tag(extent)) {
		pfs_extents_give(extents, extent, PFS_EXTENT_DIRTY);
		return NULL;
	}
	if (dirty_bytes != NULL)
		*dirty_bytes = extent->dirty_bytes;
	if (extent->dirty_bytes < bytes)
		pfs_racks_take_back(arena, bytes <= PFS_RACK_MOST);
	extent->is_clean = false;
	pfs_cache_note_new(pfs_cache_mine(), bytes);
	pfs_rack_missed(pfs_cache_mine(), bytes);
	return (void *)extent->base; /* NOLINT: addresses are numbers here */
}

/* Another thread may free the block at the same time: the extent is in use for one of them. What
 * the other reads of it afterwards may be of another extent, or zero. */
void pfs_large_free(struct pfs_extent *extent, const void *block, const char *call)
{
	uint32_t kind = PFS_EXTENT_LARGE;
	/* relaxed: one of the two succeeds; the thread that freed it owes the other no order */
	if (!pfs_likely(pfs_cas_relaxed(&extent->kind, &kind, PFS_EXTENT_CACHED)))
		pfs_die(call, block, PFS_IS_FREE);
	pfs_cache_note_freed(pfs_cache_attached(), extent->request_bytes);
	pfs_large_end(extent);
}

bool pfs_large_resize(struct pfs_extent *extent, size_t size_bytes)
{
	struct pfs_arena *arena = pfs_extent_arena(extent);
	size_t before = extent->request_bytes;
	size_t bytes = class_bytes(size_bytes);
	bool done = bytes == before;
	if (bytes == 0 || arena == NULL) /* NULL: another thread frees the block */
		return false;
	struct pfs_extents *extents = &arena->extents;
	if (bytes < before)
		done = pfs_extents_shrink(extents, extent, bytes);
	else if (bytes > before)
		done = pfs_extents_grow(extents, extent, bytes);
	if (!done)
		return false;
	if (bytes > before)
		pfs_conf_fill((char *)extent->base + before, bytes - before); /* NOLINT: as above */
	extent->request_bytes = bytes;
	pfs_mutex_lock(&extents->lock);
	pfs_extents_count_large(extents, before, bytes);
	pfs_mutex_unlock(&extents->lock);
	pfs_cache_note_new(pfs_cache_mine(), bytes);
	pfs_cache_note_freed(pfs_cache_mine(), before);
	return true;
}

void pfs_large_zero(void *from, size_t bytes)
{
	char *at = from;
	char *end = at + bytes;
	if (bytes >= ZERO_LEAST_BYTES) {
		size_t lead = -(uintptr_t)at & (PFS_OS_PAGE - 1);
		memset(at, 0, lead);
		at += lead;
	}
	while (bytes >= ZERO_LEAST_BYTES && end - at >= PFS_OS_PAGE) {
		size_t pages = (size_t)(end - at) / PFS_OS_PAGE;
		uint32_t count = pages < PFS_SYSTEM_LOOK_PAGES ? (uint32_t)pages
							       : PFS_SYSTEM_LOOK_PAGES;
		size_t piece = (size_t)count * PFS_OS_PAGE;
		if (pfs_system_resident(at, count) > count / 2 || !pfs_system_purge(at, piece))
			memset(at, 0, piece);
		at += piece;
	}
	memset(at, 0, (size_t)(end - at));
}

/* Copy and purge a piece at a time. False: part of the memory could not be purged. */
static bool copy_and_purge(char *to, char *from, size_t bytes)
{
	bool is_clean = true;
	for (size_t at = 0; at < bytes; at += MOVE_PIECE_BYTES) {
		size_t piece = bytes - at < MOVE_PIECE_BYTES ? bytes - at : MOVE_PIECE_BYTES;
		memcpy(to + at, from + at, piece);
		is_clean &= pfs_system_purge(from + at, piece);
	}
	return is_clean;
}

void pfs_large_copy(void *to, void *from, size_t bytes)
{
	struct pfs_extent *left = pfs_map_extent(pfs_map_entry(from));
	struct pfs_extent *moved = pfs_map_extent(pfs_map_entry(to));
	/* NULL: another thread frees the block */
	bool is_whole = bytes >= MOVE_LEAST_BYTES && left != NULL && left->size_bytes == bytes;
	if (is_whole && moved->dirty_bytes < moved->size_bytes &&
	    pfs_arena_decay_ms(pfs_extent_arena(left), PFS_EXTENT_DIRTY) != -1)
		left->is_clean = copy_and_purge(to, from, bytes);
	else
		memcpy(to, from, bytes);
}
