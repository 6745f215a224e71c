/*
 * purge.c - the memory of free extents goes back to the system, a piece at a time, and retained
 * address space when it is exhausted.
 */
#include "conf.h"
#include "lists.h"
#include "map.h"
#include "system.h"

#define DIRTY_LEAST_PAGES ((size_t)256) /* fewer are not worth a system call */
/* What one system call purges: 0.2 ms. A piece is what one page table maps, if the extent has all
 * of it. Newer kernels free the table then; else each fork would look through the empty one. */
#define PIECE_BYTES ((size_t)2 << 20)
#define CALLS_MOST 64u /* of purge_some: as many take 0.1 ms on pages without memory */

/* ---- what may stay ---- */

/* The limit. New memory is taken although there are dirty pages: those are in pieces that do not
 * fit. This many may stay, so that the sum of both is bounded. */
static size_t dirty_pages_beside_new(const struct pfs_extents *self)
{
	size_t share = self->active_bytes / 100 / PFS_OS_PAGE * pfs_conf.dirty_percent;
	if (pfs_conf.dirty_percent == 0)
		return SIZE_MAX;
	return share > DIRTY_LEAST_PAGES ? share : DIRTY_LEAST_PAGES;
}

/* The dirty pages beyond the limit. */
static size_t surplus(const struct pfs_extents *self)
{
	size_t dirty = self->kinds[PFS_EXTENT_DIRTY].pages;
	size_t limit = dirty_pages_beside_new(self);
	return dirty > limit ? dirty - limit : 0;
}

/* Pages of new memory were taken (more) or purged for that (less). */
void pfs_extents_owe(struct pfs_extents *self, size_t more, size_t less)
{
	if (more != 0)
		pfs_bump_owned(&self->new_pages, more);
	size_t owed = pfs_load_relaxed(&self->owed_pages) + more; /* relaxed: under lock */
	owed = owed > less ? owed - less : 0;
	if (owed != 0 && surplus(self) == 0)
		owed = 0;
	pfs_store_relaxed(&self->owed_pages, owed); /* relaxed: under lock */
}

/* ---- purging ---- */

static uintptr_t end_of(const struct pfs_extent *extent)
{
	return extent->base + extent->size_bytes;
}

/* Where the last piece of an extent begins. */
static uintptr_t last_piece(const struct pfs_extent *extent)
{
	uintptr_t cut = (end_of(extent) - 1) & ~(PIECE_BYTES - 1);
	return cut > extent->base ? cut : extent->base;
}

static size_t last_piece_pages(const struct pfs_extent *extent)
{
	return (end_of(extent) - last_piece(extent)) / PFS_OS_PAGE;
}

/* Under lock: take the oldest extent of a kind, or its last pages, out of its lists. It is HELD. */
static struct pfs_extent *cut_piece(struct pfs_extents *self, struct pfs_extents_kind *from,
				    size_t pages_most)
{
	struct pfs_extent *extent = from->oldest;
	uintptr_t end = end_of(extent);
	uintptr_t cut = last_piece(extent);
	if (pages_most < (end - cut) / PFS_OS_PAGE)
		cut = end - pages_most * PFS_OS_PAGE;
	if (cut > extent->base) {
		pfs_extents_unlist_length(from, extent);
		struct pfs_extent *piece = pfs_extents_split(self, extent, cut - extent->base);
		pfs_extents_list_length(from, extent);
		if (piece != NULL) {
			from->pages -= pfs_extent_pages(piece);
			return piece;
		}
	}
	pfs_extents_delist(
		self, extent); /* no memory for a descriptor: all of it, in several system calls */
	return extent;
}

static void fly(struct pfs_extents *self, struct pfs_extent *extent)
{
	extent->previous = NULL;
	extent->next = self->in_flight;
	if (extent->next != NULL)
		extent->next->previous = extent;
	self->in_flight = extent;
}

static void land(struct pfs_extents *self, struct pfs_extent *extent)
{
	if (extent->next != NULL)
		extent->next->previous = extent->previous;
	if (extent->previous != NULL)
		extent->previous->next = extent->next;
	else
		self->in_flight = extent->next;
}

/* Without a lock. A fork has nothing to copy of retained pages. */
static bool show_retained(const struct pfs_extent *extent, enum pfs_extent_kind kind)
{
	void *pages = (void *)extent->base; /* NOLINT: as above */
	return kind == PFS_EXTENT_RETAINED && extent->hidden_parts != 0 &&
	       pfs_system_show(pages, extent->size_bytes);
}

/* Likewise. Returns what the pages are now. */
static enum pfs_extent_kind purge_pages(const struct pfs_extent *extent, bool lazily)
{
	enum pfs_extent_kind kind = PFS_EXTENT_RETAINED;
	for (size_t at = 0; at < extent->size_bytes; at += PIECE_BYTES) {
		void *pages = (void *)(extent->base + at); /* NOLINT: addresses are numbers here */
		size_t left = extent->size_bytes - at;
		size_t bytes = left < PIECE_BYTES ? left : PIECE_BYTES;
		if (lazily && pfs_system_purge_lazily(pages, bytes))
			kind = kind == PFS_EXTENT_RETAINED ? PFS_EXTENT_MUZZY : kind;
		else if (!pfs_system_purge(pages, bytes))
			kind = PFS_EXTENT_DIRTY;
	}
	return kind;
}

/* Under lock, which is released in between. Returns the pages that went, or that the system refused
 * (they are locked): what a call may do is bounded by both. */
static size_t purge_oldest(struct pfs_extents *self, struct pfs_extents_kind *from,
			   size_t pages_most, bool lazily)
{
	struct pfs_extent *extent = cut_piece(self, from, pages_most);
	size_t pages = pfs_extent_pages(extent);
	fly(self, extent);
	pfs_mutex_unlock(&self->lock);
	enum pfs_extent_kind kind = purge_pages(extent, lazily);
	bool is_shown = show_retained(extent, kind);
	pfs_mutex_lock(&self->lock);
	land(self, extent);
	if (is_shown)
		pfs_extents_note_shown(self, extent);
	self->purges++;
	self->purged_pages += kind != PFS_EXTENT_DIRTY ? pages : 0;
	pfs_extents_insert(self, extent, kind);
	pfs_extents_note_low(self);
	return pages;
}

size_t pfs_extents_purge_some(struct pfs_extents *self, enum pfs_extent_kind kind,
			      size_t pages_left, size_t pages_most, bool lazily)
{
	size_t gone = 0;
	struct pfs_extents_kind *from = &self->kinds[kind];
	pfs_mutex_lock(&self->lock);
	for (uint32_t calls = 0; calls < CALLS_MOST && gone < pages_most; calls++) {
		size_t more = from->pages > pages_left ? from->pages - pages_left : 0;
		if (more == 0)
			break;
		if (more > pages_most - gone)
			more = pages_most - gone;
		if (gone != 0 && more < last_piece_pages(from->oldest))
			break; /* a later call has room for the whole piece */
		gone += purge_oldest(self, from, more, lazily);
	}
	pfs_mutex_unlock(&self->lock);
	return gone;
}

size_t pfs_extents_purge(struct pfs_extents *self, enum pfs_extent_kind kind, size_t pages_left,
			 bool lazily)
{
	pfs_mutex_lock(&self->lock);
	/* Bounded by the pages that exist now: other threads may free as fast as this purges. */
	size_t pages = self->kinds[kind].pages;
	pfs_mutex_unlock(&self->lock);
	size_t most = pages > pages_left ? pages - pages_left : 0;
	size_t all = 0;
	size_t gone = most;
	while (gone != 0 && all < most) {
		gone = pfs_extents_purge_some(self, kind, pages_left, most - all, lazily);
		all += gone;
	}
	return all;
}

/* Purge at most pages_most of the dirty pages beyond the limit. *beyond: how many there were. */
static size_t purge_beyond(struct pfs_extents *self, size_t pages_most, size_t *beyond)
{
	pfs_mutex_lock(&self->lock);
	*beyond = surplus(self);
	size_t left = self->kinds[PFS_EXTENT_DIRTY].pages - *beyond;
	pfs_mutex_unlock(&self->lock);
	size_t gone = *beyond == 0 ? 0
				   : pfs_extents_purge_some(self, PFS_EXTENT_DIRTY, left,
							    pages_most, false);
	pfs_mutex_lock(&self->lock);
	pfs_extents_owe(self, 0, gone);
	pfs_mutex_unlock(&self->lock);
	return gone;
}

size_t pfs_extents_pay(struct pfs_extents *self)
{
	size_t beyond = 0;
	size_t owed = pfs_load_relaxed(&self->owed_pages); /* relaxed: an amount to pay */
	if (owed > PFS_EXTENTS_PAY_PAGES)
		owed = PFS_EXTENTS_PAY_PAGES;
	(void)purge_beyond(self, owed, &beyond);
	return beyond;
}

size_t pfs_extents_purge_surplus(struct pfs_extents *self)
{
	size_t beyond;
	return purge_beyond(self, PFS_EXTENTS_PAY_PAGES, &beyond);
}

size_t pfs_extents_wipe(struct pfs_extents *self, size_t pages_most)
{
	size_t gone = 0, more = pages_most;
	while (more != 0) {
		pfs_mutex_lock(&self->lock);
		more = pfs_descriptors_wipe(&self->descriptors, pages_most - gone);
		pfs_mutex_unlock(&self->lock);
		gone += more;
	}
	return gone;
}

size_t pfs_extents_idle(struct pfs_extents *self, size_t *now)
{
	pfs_mutex_lock(&self->lock);
	size_t pages = pfs_descriptors_low(&self->descriptors);
	*now = self->descriptors.idle_pages;
	pfs_mutex_unlock(&self->lock);
	return pages;
}

/* Take a retained extent out of the map and of the counts. */
static struct pfs_extent *unmap_begin(struct pfs_extents *self)
{
	struct pfs_extent *extent = self->kinds[PFS_EXTENT_RETAINED].oldest;
	if (extent == NULL)
		return NULL;
	pfs_extents_delist(self, extent);
	pfs_map_set_ends(extent->base, extent->size_bytes, NULL);
	self->mapped_bytes -= extent->size_bytes;
	return extent;
}

/* done: the addresses may already be another mapping's. Otherwise the system refused (it may lack
 * room for the two mappings that are left), and the extent is retained again. */
static void unmap_end(struct pfs_extents *self, struct pfs_extent *extent, bool done)
{
	if (done) {
		pfs_extents_note_shown(self, extent);
		pfs_extents_descriptor_free(self, extent);
		return;
	}
	self->mapped_bytes += extent->size_bytes;
	pfs_extents_insert(self, extent, PFS_EXTENT_RETAINED);
}

size_t pfs_extents_unmap(struct pfs_extents *self)
{
	size_t gone = 0, tried = 0;
	pfs_mutex_lock(&self->lock);
	/* Bounded by what exists now, of which some may be refused and come back. */
	size_t all = self->kinds[PFS_EXTENT_RETAINED].pages * PFS_OS_PAGE;
	struct pfs_extent *extent = NULL;
	while (tried < all && (extent = unmap_begin(self)) != NULL) {
		size_t bytes = extent->size_bytes;
		pfs_mutex_unlock(&self->lock);
		bool done = pfs_system_unmap((void *)extent->base, bytes); /* NOLINT */
		pfs_mutex_lock(&self->lock);
		unmap_end(self, extent, done);
		gone += done ? bytes : 0;
		tried += bytes;
	}
	pfs_extents_note_low(self);
	pfs_mutex_unlock(&self->lock);
	return gone;
}

void pfs_extents_child(struct pfs_extents *self)
{
	pfs_mutex_lock(&self->lock);
	while (self->in_flight != NULL) {
		struct pfs_extent *extent = self->in_flight;
		land(self, extent);
		extent->is_hidden = false; /* perhaps: it was to be shown next */
		pfs_extents_insert(self, extent, PFS_EXTENT_DIRTY);
	}
	pfs_mutex_unlock(&self->lock);
}
