#include "hidden.h"

#include "arena.h"
#include "lists.h"
#include "system.h"

/* Of hidden extents; under the locks of all arenas. They are the first of each visit. */
static uint32_t count;

/* false: the visit ends. */
typedef bool visit(struct pfs_extents *, struct pfs_extent *, void *pages);

/* Every long extent of a kind, the longest first. One may leave its list when it is visited. */
static bool each_of(struct pfs_extents *self, enum pfs_extent_kind kind, visit *visited)
{
	uint32_t least = pfs_length_floor(PFS_HIDDEN_LEAST_BYTES / PFS_OS_PAGE);
	for (uint32_t length = PFS_LENGTH_COUNT; length-- > least;) {
		struct pfs_extent *extent = self->kinds[kind].lengths[length];
		while (extent != NULL) {
			struct pfs_extent *next = extent->next;
			if (!visited(self, extent, (void *)extent->base)) /* NOLINT: a number */
				return false;
			extent = next;
		}
	}
	return true;
}

static void each(visit *visited)
{
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL)
		if (!each_of(&arena->extents, PFS_EXTENT_DIRTY, visited) ||
		    !each_of(&arena->extents, PFS_EXTENT_MUZZY, visited))
			return;
}

static bool hide(struct pfs_extents *self, struct pfs_extent *extent, void *pages)
{
	(void)self;
	if (!pfs_system_hide(pages, extent->size_bytes)) {
		/* The system may have hidden a part. To show it takes no further mapping. */
		(void)pfs_system_show(pages, extent->size_bytes);
		return false;
	}
	return ++count < PFS_HIDDEN_MOST;
}

static void leave(struct pfs_extents *self, struct pfs_extent *extent)
{
	pfs_extents_delist(self, extent);
	pfs_extents_note_low(self);
}

/* false: refused. It is held, since a later child would lack a block in it. */
static bool show_again(struct pfs_extents *self, struct pfs_extent *extent, void *pages)
{
	if (pfs_system_show(pages, extent->size_bytes))
		return true;
	leave(self, extent);
	(void)pfs_system_purge(pages, extent->size_bytes);
	return false;
}

static bool show(struct pfs_extents *self, struct pfs_extent *extent, void *pages)
{
	(void)show_again(self, extent, pages);
	return --count > 0;
}

static bool retain(struct pfs_extents *self, struct pfs_extent *extent, void *pages)
{
	if (show_again(self, extent, pages)) {
		leave(self, extent);
		pfs_extents_insert(self, extent, PFS_EXTENT_RETAINED);
	}
	return --count > 0;
}

void pfs_hidden_begin(void)
{
	each(hide);
}

void pfs_hidden_end(void)
{
	if (count != 0)
		each(show);
}

void pfs_hidden_child(void)
{
	if (count != 0)
		each(retain);
}
