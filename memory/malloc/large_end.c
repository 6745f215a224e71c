/*
 * large_end.c - a large block without its thread: its tag, its end, and its use again.
 */
#include "conf.h"
#include "containers/compiler.h"
#include "die.h"
#include "large.h"
#include "system.h"

static struct pfs_base_pool tag_pool;

bool pfs_large_tag(struct pfs_extent *extent)
{
	if (!pfs_conf.tags)
		return true;
	extent->tags = pfs_base_new(&tag_pool, sizeof(*extent->tags));
	if (extent->tags != NULL)
		*extent->tags = 0;
	return extent->tags != NULL;
}

void *pfs_large_again(struct pfs_extent *extent)
{
	extent->is_clean = false;
	extent->dirty_bytes = extent->size_bytes;
	if (extent->tags != NULL)
		*extent->tags = 0;
	pfs_extent_set_kind(extent, PFS_EXTENT_LARGE);
	return (void *)extent->base; /* NOLINT: addresses are numbers here */
}

void pfs_large_end(struct pfs_extent *extent)
{
	struct pfs_arena *arena = pfs_extent_arena(extent);
	if (!pfs_likely(pfs_extent_kind(extent) == PFS_EXTENT_CACHED))
		pfs_die("free", (void *)extent->base, PFS_IS_FREE); /* NOLINT: as above */
	struct pfs_extents *extents = &arena->extents;
	size_t bytes = extent->request_bytes;
	if (extent->tags != NULL)
		pfs_base_free(&tag_pool, extent->tags);
	extent->tags = NULL;
	bool is_clean = extent->is_clean;
	if (pfs_conf.oversize_threshold != 0 && bytes >= pfs_conf.oversize_threshold)
		is_clean = pfs_system_purge((void *)extent->base, bytes); /* NOLINT: as above */
	pfs_extents_give(extents, extent, is_clean ? PFS_EXTENT_RETAINED : PFS_EXTENT_DIRTY);
	if (pfs_arena_decay_ms(arena, PFS_EXTENT_DIRTY) == 0)
		(void)pfs_extents_purge(extents, PFS_EXTENT_DIRTY, 0,
					pfs_arena_decay_ms(arena, PFS_EXTENT_MUZZY) != 0);
}
