#include "lists.h"

#include "map.h"
#include "system.h"

/* Pages of the map without memory cost a call little: 2 us for so many bytes. */
#define FORGET_BESIDE_BYTES ((uintptr_t)2 << 30)

static struct pfs_extents_kind *kind_of(struct pfs_extents *self, struct pfs_extent *extent)
{
	return &self->kinds[pfs_extent_kind(extent)];
}

void pfs_extents_list_length(struct pfs_extents_kind *kind, struct pfs_extent *extent)
{
	uint32_t length = pfs_length_floor(pfs_extent_pages(extent));
	extent->previous = NULL;
	extent->next = kind->lengths[length];
	if (extent->next != NULL)
		extent->next->previous = extent;
	kind->lengths[length] = extent;
	kind->has_length[length / 64] |= UINT64_C(1) << (length % 64);
}

void pfs_extents_unlist_length(struct pfs_extents_kind *kind, struct pfs_extent *extent)
{
	uint32_t length = pfs_length_floor(pfs_extent_pages(extent));
	if (extent->next != NULL)
		extent->next->previous = extent->previous;
	if (extent->previous != NULL)
		extent->previous->next = extent->next;
	else
		kind->lengths[length] = extent->next;
	if (kind->lengths[length] == NULL)
		kind->has_length[length / 64] &= ~(UINT64_C(1) << (length % 64));
}

/* For less, the page tables that a fork copies cost less than fork handlers' 128 KiB: begins.c. */
#define MUCH_PAGES (((size_t)16 << 20) / PFS_OS_PAGE)

_Atomic(uint32_t) pfs_extents_had_much;

static void list_by_age(struct pfs_extents_kind *kind, struct pfs_extent *extent)
{
	extent->newer = NULL;
	extent->older = kind->newest;
	if (kind->newest != NULL)
		kind->newest->newer = extent;
	else
		kind->oldest = extent;
	kind->newest = extent;
}

static void unlist_by_age(struct pfs_extents_kind *kind, struct pfs_extent *extent)
{
	if (extent->newer != NULL)
		extent->newer->older = extent->older;
	else
		kind->newest = extent->older;
	if (extent->older != NULL)
		extent->older->newer = extent->newer;
	else
		kind->oldest = extent->newer;
}

static void enlist(struct pfs_extents *self, struct pfs_extent *extent)
{
	struct pfs_extents_kind *kind = kind_of(self, extent);
	pfs_extents_list_length(kind, extent);
	list_by_age(kind, extent);
	kind->pages += pfs_extent_pages(extent);
	pfs_map_set_ends(extent->base, extent->size_bytes, extent);
	/* relaxed, both: a hint */
	if (pfs_extent_kind(extent) == PFS_EXTENT_DIRTY && kind->pages >= MUCH_PAGES &&
	    pfs_load_relaxed(&pfs_extents_had_much) == 0)
		pfs_store_relaxed(&pfs_extents_had_much, 1); /* relaxed: as above */
}

/* Take an extent out of its lists. It is HELD from now on. */
void pfs_extents_delist(struct pfs_extents *self, struct pfs_extent *extent)
{
	struct pfs_extents_kind *kind = kind_of(self, extent);
	pfs_extents_unlist_length(kind, extent);
	unlist_by_age(kind, extent);
	kind->pages -= pfs_extent_pages(extent);
	pfs_extent_set_kind(extent, PFS_EXTENT_HELD);
}

/* Update the low-water marks, after the unused rest of a taken extent is back in its list. */
void pfs_extents_note_low(struct pfs_extents *self)
{
	for (uint32_t i = 0; i < PFS_EXTENT_FREE_KINDS; i++) {
		struct pfs_extents_kind *kind = &self->kinds[i];
		if (kind->pages < kind->pages_low)
			kind->pages_low = kind->pages;
	}
}

struct pfs_extent *pfs_extents_descriptor(struct pfs_extents *self)
{
	struct pfs_extent *extent = pfs_descriptors_take(&self->descriptors);
	if (extent == NULL)
		return NULL;
	pfs_store_relaxed(&extent->arena, self->arena); /* relaxed: [DS2] */
	extent->tags = NULL;
	extent->is_hidden = false;
	extent->hidden_parts = 0;
	extent->noted_bytes = 0;
	pfs_extent_set_kind(extent, PFS_EXTENT_HELD);
	return extent;
}

void pfs_extents_descriptor_free(struct pfs_extents *self, struct pfs_extent *extent)
{
	pfs_extent_set_kind(extent, PFS_EXTENT_HELD);
	pfs_descriptors_free(&self->descriptors, extent);
}

/* The arena's free extent of a kind that contains an address; NULL: none. */
struct pfs_extent *pfs_extents_neighbour(struct pfs_extents *self, uintptr_t address,
					 enum pfs_extent_kind kind)
{
	struct pfs_extent *extent = pfs_map_extent(pfs_map_entry_or_none(address));
	bool is_own = extent != NULL && pfs_extent_arena(extent) == self->arena;
	return is_own && pfs_extent_kind(extent) == kind ? extent : NULL;
}

/* Append `right`, which begins where `left` ends, to `left`. */
void pfs_extents_join(struct pfs_extents *self, struct pfs_extent *left, struct pfs_extent *right)
{
	pfs_map_set_ends(left->base, left->size_bytes, NULL);
	pfs_map_set_ends(right->base, right->size_bytes, NULL);
	left->size_bytes += right->size_bytes;
	left->noted_bytes += right->noted_bytes;
	left->is_hidden &= right->is_hidden;
	left->hidden_parts += right->hidden_parts;
	if (left->is_hidden)
		pfs_extents_note_hidden(self, left);
	/* Cut and joined again by purges that fail, it would double each time, and overflow. */
	if (left->hidden_parts > pfs_extent_pages(left)) {
		self->hidden_parts -= left->hidden_parts - (uint32_t)pfs_extent_pages(left);
		left->hidden_parts = (uint32_t)pfs_extent_pages(left);
	}
	pfs_extents_descriptor_free(self, right);
}

/* Return the map's memory beside an address in a free extent, where purges work. */
static void forget_beside(struct pfs_extent *extent, uintptr_t address)
{
	uintptr_t from = extent->base, end = from + extent->size_bytes;
	if (address - from > FORGET_BESIDE_BYTES)
		from = address - FORGET_BESIDE_BYTES;
	if (end - address > FORGET_BESIDE_BYTES)
		end = address + FORGET_BESIDE_BYTES;
	pfs_map_forget(from, end - from);
	extent->noted_bytes = 0;
}

/* A gap (hidden.h) was joined with pages that are shown. If the system refuses, it stays hidden. */
static void show_gaps(struct pfs_extents *self, struct pfs_extent *extent)
{
	void *pages = (void *)extent->base; /* NOLINT: addresses are numbers here */
	if (extent->hidden_parts != 0 && pfs_system_show(pages, extent->size_bytes))
		pfs_extents_note_shown(self, extent);
}

/* A HELD extent becomes free and is joined with its neighbours of that kind [EX2]. */
void pfs_extents_insert(struct pfs_extents *self, struct pfs_extent *extent,
			enum pfs_extent_kind kind)
{
	uintptr_t address = extent->base;
	struct pfs_extent *left = pfs_extents_neighbour(self, address - 1, kind);
	struct pfs_extent *right = pfs_extents_neighbour(self, extent->base + extent->size_bytes,
							 kind);
	if (left != NULL) {
		pfs_extents_delist(self, left);
		pfs_extents_join(self, left, extent);
		extent = left;
	}
	if (right != NULL) {
		pfs_extents_delist(self, right);
		pfs_extents_join(self, extent, right);
	}
	pfs_extent_set_kind(extent, kind);
	enlist(self, extent);
	if (kind == PFS_EXTENT_RETAINED && !extent->is_hidden)
		show_gaps(self, extent);
	if (kind == PFS_EXTENT_RETAINED && extent->noted_bytes >= PFS_EXTENTS_NOTED_BYTES)
		forget_beside(extent, address); /* [EX5] */
}

static size_t least(size_t left, size_t right)
{
	return left < right ? left : right;
}

/* Cut a HELD extent at size_bytes. Returns the rest, HELD; NULL: no memory for its descriptor. */
struct pfs_extent *pfs_extents_split(struct pfs_extents *self, struct pfs_extent *extent,
				     size_t size_bytes)
{
	struct pfs_extent *rest = pfs_extents_descriptor(self);
	if (rest == NULL)
		return NULL;
	rest->base = extent->base + size_bytes;
	rest->size_bytes = extent->size_bytes - size_bytes;
	rest->is_hidden = extent->is_hidden;
	rest->hidden_parts = extent->hidden_parts;
	rest->noted_bytes = least(extent->noted_bytes, rest->size_bytes);
	self->hidden_parts += rest->hidden_parts;
	extent->size_bytes = size_bytes;
	extent->noted_bytes = least(extent->noted_bytes, size_bytes);
	pfs_map_set_ends(extent->base, extent->size_bytes, extent);
	pfs_map_set_ends(rest->base, rest->size_bytes, rest);
	return rest;
}

void pfs_extents_note_shown(struct pfs_extents *self, struct pfs_extent *extent)
{
	self->hidden_parts -= extent->hidden_parts;
	extent->hidden_parts = 0;
	extent->is_hidden = false;
}

void pfs_extents_note_hidden(struct pfs_extents *self, struct pfs_extent *extent)
{
	self->hidden_parts += 1 - extent->hidden_parts;
	extent->hidden_parts = 1;
	extent->is_hidden = true;
}

/* If there is a gap at an address beside a run, it belongs to the run. */
static void add_gap(struct pfs_extents *self, struct pfs_extents_run *run, uintptr_t address,
		    bool is_hidden)
{
	struct pfs_extent *gap = pfs_extents_neighbour(self, address, PFS_EXTENT_RETAINED);
	if (gap == NULL || gap->is_hidden != is_hidden || gap->size_bytes >= PFS_EXTENTS_LONG_BYTES)
		return;
	run->extents[run->count++] = gap;
	run->base = least(run->base, gap->base);
	run->size_bytes += gap->size_bytes;
}

struct pfs_extents_run pfs_extents_run(struct pfs_extents *self, struct pfs_extent *extent,
				       bool has_gaps, bool is_hidden)
{
	struct pfs_extents_run run = { { extent }, 1, extent->base, extent->size_bytes };
	if (has_gaps) {
		add_gap(self, &run, extent->base - 1, is_hidden);
		add_gap(self, &run, extent->base + extent->size_bytes, is_hidden);
	}
	return run;
}

bool pfs_extents_show(struct pfs_extents *self, struct pfs_extent *extent)
{
	if (extent->hidden_parts == 0)
		return true;
	struct pfs_extents_run run = pfs_extents_run(self, extent, true, true);
	if (pfs_system_show((void *)run.base, run.size_bytes)) { /* NOLINT: addresses are numbers */
		for (uint32_t i = 0; i < run.count; i++)
			pfs_extents_note_shown(self, run.extents[i]);
		return true;
	}
	pfs_extents_note_low(self);
	(void)pfs_system_purge((void *)extent->base, extent->size_bytes); /* NOLINT: as above */
	return false;
}
