#include "hidden.h"

#include "arena.h"
#include "lists.h"
#include "map.h"
#include "system.h"

#define WIPED_MOST 512u /* pages of descriptors, in one fork: 0.1 ms, or 0.5 scattered */

static void forget_map(struct pfs_extent *extent)
{
	if (extent->noted_bytes < PFS_EXTENTS_NOTED_BYTES)
		return;
	pfs_map_forget(extent->base, extent->size_bytes);
	extent->noted_bytes = 0;
}

/* False: the system refuses. It may have hidden a part. */
static bool hide(struct pfs_extents *self, struct pfs_extent *extent, bool has_gaps)
{
	struct pfs_extents_run run = pfs_extents_run(self, extent, has_gaps, false);
	bool is_partial;
	/* NOLINTNEXTLINE: addresses are numbers here */
	bool done = pfs_system_hide((void *)run.base, run.size_bytes, &is_partial);
	for (uint32_t i = 0; i < run.count; i++) {
		if (done) {
			pfs_extents_note_hidden(self, run.extents[i]);
		} else {
			run.extents[i]->hidden_parts += is_partial;
			self->hidden_parts += is_partial;
		}
	}
	if (done)
		forget_map(extent);
	return done;
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
			uint32_t before = self->hidden_parts;
			bool has_gaps = others + 3 <= PFS_HIDDEN_MOST / 2; /* [HD2] */
			if (hiding->looks++ == PFS_HIDDEN_MOST || others >= PFS_HIDDEN_MOST ||
			    (!extent->is_hidden && !hide(self, extent, has_gaps)))
				return false;
			hiding->parts += self->hidden_parts - before;
		}
	}
	return true;
}

bool pfs_hidden_hide_in(struct pfs_hiding *hiding, struct pfs_extents *self)
{
	return hide_kind(hiding, self, PFS_EXTENT_DIRTY) &&
	       hide_kind(hiding, self, PFS_EXTENT_MUZZY);
}

/* The descriptors of blocks that are long free would be copied too. A page that the parent uses
 * again takes a page fault, as it would after being copied. */
static void wipe_descriptors(void)
{
	size_t left = WIPED_MOST;
	struct pfs_arena *arena = NULL;
	while ((arena = pfs_arena_next(arena)) != NULL) {
		struct pfs_descriptors *descriptors = &arena->extents.descriptors;
		size_t gone = left;
		if (pfs_arena_decay_ms(arena, PFS_EXTENT_DIRTY) == -1)
			continue;
		while (gone != 0 && descriptors->idle_pages > PFS_DESCRIPTORS_FEW) {
			gone = pfs_descriptors_wipe(descriptors, left);
			left -= gone;
		}
	}
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
	wipe_descriptors();
}
