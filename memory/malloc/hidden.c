#include "hidden.h"

#include "arena.h"
#include "lists.h"
#include "map.h"
#include "system.h"

/* The page map has a page of entries for each 2 MiB. Fewer pages take fork less time to copy than a
 * system call. */
#define FORGET_LEAST_BYTES ((size_t)64 << 20)

/* False: the system refuses. It may have hidden a part; to show that part takes no mapping. */
static bool hide(struct pfs_extents *self, struct pfs_extent *extent)
{
	void *pages = (void *)extent->base; /* NOLINT: addresses are numbers here */
	bool is_partial;
	if (pfs_system_hide(pages, extent->size_bytes, &is_partial)) {
		pfs_extents_note_hidden(self, extent);
		if (extent->size_bytes >= FORGET_LEAST_BYTES)
			pfs_map_forget(extent->base, extent->size_bytes);
		return true;
	}
	extent->hidden_parts += is_partial;
	self->hidden_parts += is_partial;
	return false;
}

/* Every long extent of a kind, the longest first. False: no more may be hidden. */
static bool hide_kind(struct pfs_hiding *hiding, struct pfs_extents *self,
		      enum pfs_extent_kind kind)
{
	uint32_t least = pfs_length_floor(PFS_EXTENTS_LONG_BYTES / PFS_OS_PAGE);
	for (uint32_t length = PFS_LENGTH_COUNT; length-- > least;) {
		struct pfs_extent *extent = self->kinds[kind].lengths[length];
		for (; extent != NULL; extent = extent->next) {
			uint32_t others = hiding->parts - extent->hidden_parts;
			if (hiding->looks++ == PFS_HIDDEN_MOST || others >= PFS_HIDDEN_MOST ||
			    (!extent->is_hidden && !hide(self, extent)))
				return false;
			hiding->parts = others + extent->hidden_parts;
		}
	}
	return true;
}

bool pfs_hidden_hide_in(struct pfs_hiding *hiding, struct pfs_extents *self)
{
	return hide_kind(hiding, self, PFS_EXTENT_DIRTY) &&
	       hide_kind(hiding, self, PFS_EXTENT_MUZZY);
}

void pfs_hidden_hide(void)
{
	struct pfs_hiding hiding = { 0, 0 };
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL)
		hiding.parts += arena->extents.hidden_parts;
	bool is_more = true;
	while (is_more && (arena = pfs_arena_next(arena)) != NULL)
		is_more = pfs_hidden_hide_in(&hiding, &arena->extents);
}
