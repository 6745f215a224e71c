#include "hidden.h"

#include "arena.h"
#include "lists.h"
#include "system.h"

/* Under the locks of all arenas. */
static uint32_t count;  /* of hidden extents */
static bool is_refused; /* in this fork */

typedef void visit(struct pfs_extents *, struct pfs_extent *, void *pages);

/* Every long extent of a kind, the longest first. One may leave its list when it is visited. */
static void each_of(struct pfs_extents *self, enum pfs_extent_kind kind, visit *visited)
{
	uint32_t least = pfs_length_floor(PFS_HIDDEN_LEAST_BYTES / PFS_OS_PAGE);
	for (uint32_t length = PFS_LENGTH_COUNT; length-- > least;) {
		struct pfs_extent *extent = self->kinds[kind].lengths[length];
		while (extent != NULL) {
			struct pfs_extent *next = extent->next;
			visited(self, extent, (void *)extent->base); /* NOLINT: a number */
			extent = next;
		}
	}
}

static void each(visit *visited)
{
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL) {
		each_of(&arena->extents, PFS_EXTENT_DIRTY, visited);
		each_of(&arena->extents, PFS_EXTENT_MUZZY, visited);
	}
}

static void hide(struct pfs_extents *self, struct pfs_extent *extent, void *pages)
{
	(void)self;
	if (is_refused || count == PFS_HIDDEN_MOST)
		return;
	extent->is_hidden = pfs_system_hide(pages, extent->size_bytes);
	if (extent->is_hidden) {
		count++;
		return;
	}
	is_refused = true;
	/* The system may have hidden a part. To show it takes no further mapping. */
	(void)pfs_system_show(pages, extent->size_bytes);
}

static void leave(struct pfs_extents *self, struct pfs_extent *extent)
{
	pfs_extents_delist(self, extent);
	pfs_extents_note_low(self);
}

/* false: refused. It is held, since a later child would lack a block in it. */
static bool show_again(struct pfs_extents *self, struct pfs_extent *extent, void *pages)
{
	extent->is_hidden = false;
	if (pfs_system_show(pages, extent->size_bytes))
		return true;
	leave(self, extent);
	(void)pfs_system_purge(pages, extent->size_bytes);
	return false;
}

static void show(struct pfs_extents *self, struct pfs_extent *extent, void *pages)
{
	if (extent->is_hidden)
		(void)show_again(self, extent, pages);
}

static void retain(struct pfs_extents *self, struct pfs_extent *extent, void *pages)
{
	if (!extent->is_hidden || !show_again(self, extent, pages))
		return;
	leave(self, extent);
	pfs_extents_insert(self, extent, PFS_EXTENT_RETAINED);
}

/* Of the parent and of the child. */
static void end(visit *visited)
{
	if (count != 0)
		each(visited);
	count = 0;
}

void pfs_hidden_begin(void)
{
	is_refused = false;
	each(hide);
}

void pfs_hidden_end(void)
{
	end(show);
}

void pfs_hidden_child(void)
{
	end(retain);
}
