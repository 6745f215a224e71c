/*
 * guarded.c - allocates and frees guarded blocks.
 */
#include "guarded.h"

#include <string.h>

#include "arena.h"
#include "cache.h"
#include "corruption.h"
#include "die.h"
#include "start.h"
#include "system.h"

#define PATTERN 0xB7

static void place(struct pfs_guard_slot *slot, size_t size_bytes, size_t align_bytes,
		  bool is_at_begin)
{
	size_t least = size_bytes <= 8 ? 8 : 16, align = align_bytes > least ? align_bytes : least;
	size_t rounded = (size_bytes + align - 1) & ~(align - 1);
	char *begin = pfs_guard_begin(slot);
	slot->page_bytes = (rounded + PFS_OS_PAGE - 1) & ~(size_t)(PFS_OS_PAGE - 1);
	slot->pages = is_at_begin ? begin : begin + PFS_GUARD_BYTES_MOST - slot->page_bytes;
	slot->extent.base = (uintptr_t)(is_at_begin ? begin
						    : begin + PFS_GUARD_BYTES_MOST - rounded);
	slot->extent.request_bytes = size_bytes;
	slot->extent.tags = pfs_conf.tags ? &slot->tag : NULL;
	slot->tag = 0;
}

/* What is left of the pages, before and behind the block. */
struct rests {
	unsigned char *before, *behind;
	size_t before_bytes, behind_bytes;
};
static struct rests rests_of(const struct pfs_guard_slot *slot)
{
	unsigned char *pages = (unsigned char *)slot->pages;
	unsigned char *block = (unsigned char *)slot->extent.base; /* NOLINT: as above */
	unsigned char *end = block + slot->extent.request_bytes;
	return (struct rests){ pages, end, (size_t)(block - pages),
			       (size_t)(pages + slot->page_bytes - end) };
}

/* The first byte behind the block that was written, or the last before it; else NULL. */
static const unsigned char *written(const struct rests *rests)
{
	for (size_t i = 0; i < rests->behind_bytes; i++)
		if (rests->behind[i] != PATTERN)
			return &rests->behind[i];
	for (size_t i = rests->before_bytes; i-- > 0;)
		if (rests->before[i] != PATTERN)
			return &rests->before[i];
	return NULL;
}

void *pfs_guard_new(struct pfs_arena *arena, size_t size_bytes, size_t align_bytes)
{
	bool is_first, is_at_begin;
	if (size_bytes > PFS_GUARD_BYTES_MOST || align_bytes > PFS_OS_PAGE)
		return NULL;
	struct pfs_guard_slot *slot = pfs_guard_take(&is_first, &is_at_begin);
	if (slot == NULL)
		return NULL;
	if (is_first)
		pfs_start_handlers();
	/* relaxed: the slot is this thread's [GU2], and [GU5] carries it. */
	pfs_store_relaxed(&slot->extent.kind, PFS_EXTENT_HELD);
	pfs_store_relaxed(&slot->extent.arena, arena); /* relaxed: as above */
	place(slot, size_bytes != 0 ? size_bytes : 1, align_bytes, is_at_begin);
	if (!pfs_system_open(slot->pages, slot->page_bytes)) {
		pfs_guard_give(slot);
		return NULL;
	}
	struct rests rests = rests_of(slot);
	memset(rests.before, PATTERN, rests.before_bytes);
	memset(rests.behind, PATTERN, rests.behind_bytes);
	slot->freed.thread_id = 0;
	pfs_store_relaxed(&slot->is_freed, 0); /* relaxed: as above */
	pfs_trace_take(&slot->allocated, 0);
	pfs_extents_count_guarded(&arena->extents, 0, slot->extent.request_bytes);
	pfs_cache_note_new(pfs_cache_own, slot->extent.request_bytes);
	/* [GU5] release, pairs with [GU4]: without it the thread that frees the block could see an
	 * old record of the slot. */
	pfs_store_release(&slot->extent.kind, PFS_EXTENT_GUARDED);
	return (void *)slot->extent.base; /* NOLINT: addresses are numbers here */
}

void pfs_guard_free(struct pfs_extent *extent, const char *call)
{
	struct pfs_guard_slot *slot = pfs_guard_slot_of(extent);
	uint32_t kind = PFS_EXTENT_GUARDED;
	/* [GU4] acq_rel, pairs with [GU5]: without it see there. */
	if (!pfs_cas_acq_rel(&extent->kind, &kind, PFS_EXTENT_HELD))
		pfs_die(call, (void *)extent->base, PFS_IS_FREE); /* NOLINT: as above */
	struct rests rests = rests_of(slot);
	const unsigned char *at = written(&rests);
	if (at != NULL)
		pfs_corruption_written((uintptr_t)at, call);
	size_t bytes = extent->request_bytes;
	pfs_trace_take(&slot->freed, 0);
	/* [GU5] release, pairs with [GU4]: for a handler that finds the slot freed. */
	pfs_store_release(&slot->is_freed, 1);
	pfs_system_close(slot->pages, slot->page_bytes);
	pfs_extents_count_guarded(&pfs_extent_arena(extent)->extents, bytes, 0);
	pfs_cache_note_freed(pfs_cache_attached(), bytes);
	pfs_guard_give(slot);
}
