#include "extents.h"

#include <string.h>

#include "conf.h"
#include "containers/compiler.h"
#include "map.h"
#include "system.h"

#define GROW_LEAST_BYTES ((size_t)1 << 20)
#define GROW_MOST_BYTES ((size_t)64 << 20)
#define GROW_SHARE 8u                   /* an arena grows by this fraction of its size */
#define DIRTY_LEAST_PAGES ((size_t)256) /* fewer are not worth a system call */
#define LOOKS_MOST 8u                   /* extents examined in a list where some are too short */

void pfs_extents_init(struct pfs_extents *self, struct pfs_arena *arena)
{
	memset((void *)self, 0, sizeof(*self));
	pfs_mutex_init(&self->lock);
	self->arena = arena;
}

static size_t pages_of(const struct pfs_extent *extent)
{
	return extent->size_bytes / PFS_OS_PAGE;
}

static struct pfs_extents_kind *kind_of(struct pfs_extents *self, struct pfs_extent *extent)
{
	return &self->kinds[pfs_extent_kind(extent)];
}

static void list_by_length(struct pfs_extents_kind *kind, struct pfs_extent *extent)
{
	uint32_t length = pfs_length_floor(pages_of(extent));
	extent->previous = NULL;
	extent->next = kind->lengths[length];
	if (extent->next != NULL)
		extent->next->previous = extent;
	kind->lengths[length] = extent;
	kind->has_length[length / 64] |= UINT64_C(1) << (length % 64);
}

static void unlist_by_length(struct pfs_extents_kind *kind, struct pfs_extent *extent)
{
	uint32_t length = pfs_length_floor(pages_of(extent));
	if (extent->next != NULL)
		extent->next->previous = extent->previous;
	if (extent->previous != NULL)
		extent->previous->next = extent->next;
	else
		kind->lengths[length] = extent->next;
	if (kind->lengths[length] == NULL)
		kind->has_length[length / 64] &= ~(UINT64_C(1) << (length % 64));
}

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
	list_by_length(kind, extent);
	list_by_age(kind, extent);
	kind->pages += pages_of(extent);
	pfs_map_set_ends(extent->base, extent->size_bytes, extent);
}

/* Take an extent out of its lists. It is HELD from now on. */
static void delist(struct pfs_extents *self, struct pfs_extent *extent)
{
	struct pfs_extents_kind *kind = kind_of(self, extent);
	unlist_by_length(kind, extent);
	unlist_by_age(kind, extent);
	kind->pages -= pages_of(extent);
	pfs_extent_set_kind(extent, PFS_EXTENT_HELD);
}

/* Update the low-water marks, after the unused rest of a taken extent is back in its list. */
static void note_low(struct pfs_extents *self)
{
	for (uint32_t i = 0; i < PFS_EXTENT_FREE_KINDS; i++) {
		struct pfs_extents_kind *kind = &self->kinds[i];
		if (kind->pages < kind->pages_low)
			kind->pages_low = kind->pages;
	}
}

static struct pfs_extent *descriptor_new(struct pfs_extents *self)
{
	struct pfs_extent *extent = pfs_base_new(&self->descriptors, sizeof(*extent));
	if (extent == NULL)
		return NULL;
	if (pfs_extent_arena(extent) == NULL) {
		pfs_store_relaxed(&extent->arena, self->arena); /* relaxed: it never changes */
		extent->next_of_all = self->all;
		self->all = extent;
	}
	extent->tags = NULL;
	pfs_extent_set_kind(extent, PFS_EXTENT_HELD);
	return extent;
}

static void descriptor_free(struct pfs_extents *self, struct pfs_extent *extent)
{
	pfs_extent_set_kind(extent, PFS_EXTENT_HELD);
	pfs_base_free(&self->descriptors, extent);
}

/* The arena's free extent of a kind that contains an address; NULL: none. */
static struct pfs_extent *neighbour(struct pfs_extents *self, uintptr_t address,
				    enum pfs_extent_kind kind)
{
	struct pfs_extent *extent = pfs_map_extent(pfs_map_entry_or_none(address));
	bool is_own = extent != NULL && pfs_extent_arena(extent) == self->arena;
	return is_own && pfs_extent_kind(extent) == kind ? extent : NULL;
}

/* Append `right`, which begins where `left` ends, to `left`. */
static void join(struct pfs_extents *self, struct pfs_extent *left, struct pfs_extent *right)
{
	pfs_map_set_ends(left->base, left->size_bytes, NULL);
	pfs_map_set_ends(right->base, right->size_bytes, NULL);
	left->size_bytes += right->size_bytes;
	descriptor_free(self, right);
}

/* A HELD extent becomes free and is joined with its neighbours of that kind [EX2]. */
static void insert(struct pfs_extents *self, struct pfs_extent *extent, enum pfs_extent_kind kind)
{
	struct pfs_extent *left = neighbour(self, extent->base - 1, kind);
	struct pfs_extent *right = neighbour(self, extent->base + extent->size_bytes, kind);
	if (left != NULL) {
		delist(self, left);
		join(self, left, extent);
		extent = left;
	}
	if (right != NULL) {
		delist(self, right);
		join(self, extent, right);
	}
	pfs_extent_set_kind(extent, kind);
	enlist(self, extent);
}

/* Cut a HELD extent at size_bytes. Returns the rest, HELD; NULL: no memory for its descriptor. */
static struct pfs_extent *split(struct pfs_extents *self, struct pfs_extent *extent,
				size_t size_bytes)
{
	struct pfs_extent *rest = descriptor_new(self);
	if (rest == NULL)
		return NULL;
	rest->base = extent->base + size_bytes;
	rest->size_bytes = extent->size_bytes - size_bytes;
	rest->is_zeroed = extent->is_zeroed;
	extent->size_bytes = size_bytes;
	pfs_map_set_ends(extent->base, extent->size_bytes, extent);
	pfs_map_set_ends(rest->base, rest->size_bytes, rest);
	return rest;
}

static size_t lead_of(const struct pfs_extent *extent, size_t align_bytes)
{
	return -extent->base & (align_bytes - 1);
}

static bool fits(const struct pfs_extent *extent, size_t size_bytes, size_t align_bytes)
{
	return extent->size_bytes >= size_bytes &&
	       extent->size_bytes - size_bytes >= lead_of(extent, align_bytes);
}

static bool is_better(const struct pfs_extent *extent, const struct pfs_extent *best)
{
	if (best == NULL || extent->size_bytes != best->size_bytes)
		return best == NULL || extent->size_bytes < best->size_bytes;
	return extent->base < best->base;
}

/* The shortest extent of a length class that fits, and the lowest of equal ones; examines only
 * some. */
static struct pfs_extent *fit_in(const struct pfs_extents_kind *kind, uint32_t length,
				 size_t size_bytes, size_t align_bytes)
{
	struct pfs_extent *extent = kind->lengths[length];
	struct pfs_extent *best = NULL;
	for (uint32_t looks = 0; extent != NULL && looks < LOOKS_MOST; looks++) {
		if (fits(extent, size_bytes, align_bytes) && is_better(extent, best))
			best = extent;
		extent = extent->next;
	}
	return best;
}

/* The first length class at or after `from` that has an extent; PFS_LENGTH_COUNT: none. */
static uint32_t next_length(const struct pfs_extents_kind *kind, uint32_t from)
{
	for (uint32_t at = from / 64; at < (PFS_LENGTH_COUNT + 63) / 64; at++) {
		uint64_t bits = kind->has_length[at];
		if (at == from / 64)
			bits &= UINT64_MAX << (from % 64);
		if (bits != 0)
			return at * 64 + (uint32_t)__builtin_ctzll(bits);
	}
	return PFS_LENGTH_COUNT;
}

/* In the first length class where one fits. From some class on every extent fits. */
static struct pfs_extent *fit(const struct pfs_extents_kind *kind, size_t size_bytes,
			      size_t align_bytes)
{
	struct pfs_extent *extent = NULL;
	uint32_t length = next_length(kind, pfs_length_floor(size_bytes / PFS_OS_PAGE));
	while (extent == NULL && length < PFS_LENGTH_COUNT) {
		extent = fit_in(kind, length, size_bytes, align_bytes);
		length = next_length(kind, length + 1);
	}
	return extent;
}

/* Map address space as one retained extent. */
static bool map_more(struct pfs_extents *self, size_t size_bytes)
{
	char *pages = pfs_system_map(size_bytes);
	if (pages == NULL)
		return false;
	struct pfs_extent *extent = descriptor_new(self);
	if (extent == NULL || !pfs_map_reserve(pages, size_bytes)) {
		if (extent != NULL)
			descriptor_free(self, extent);
		pfs_system_unmap(pages, size_bytes);
		return false;
	}
	if (pfs_conf.thp == PFS_THP_NEVER)
		pfs_system_small_pages(pages, size_bytes);
	extent->base = (uintptr_t)pages;
	extent->size_bytes = size_bytes;
	self->mapped_bytes += size_bytes;
	insert(self, extent, PFS_EXTENT_RETAINED);
	return true;
}

static bool grow_space(struct pfs_extents *self, size_t need_bytes)
{
	size_t wish_bytes = self->mapped_bytes / GROW_SHARE & ~(size_t)(PFS_OS_PAGE - 1);
	if (wish_bytes < GROW_LEAST_BYTES)
		wish_bytes = GROW_LEAST_BYTES;
	if (wish_bytes > GROW_MOST_BYTES)
		wish_bytes = GROW_MOST_BYTES;
	if (need_bytes < wish_bytes && map_more(self, wish_bytes))
		return true;
	return map_more(self, need_bytes);
}

static struct pfs_extent *find(struct pfs_extents *self, size_t size_bytes, size_t align_bytes)
{
	for (uint32_t kind = 0; kind < PFS_EXTENT_FREE_KINDS; kind++) {
		struct pfs_extent *extent = fit(&self->kinds[kind], size_bytes, align_bytes);
		if (extent != NULL)
			return extent;
	}
	return NULL;
}

/* Cut a HELD extent of a kind down to the wanted range. NULL: no memory for descriptors; the extent
 * is back in its list. */
static struct pfs_extent *trim(struct pfs_extents *self, struct pfs_extent *extent,
			       enum pfs_extent_kind kind, size_t size_bytes, size_t align_bytes)
{
	size_t lead_bytes = lead_of(extent, align_bytes);
	if (lead_bytes != 0) {
		struct pfs_extent *rest = split(self, extent, lead_bytes);
		insert(self, extent, kind);
		if (rest == NULL)
			return NULL;
		extent = rest;
	}
	if (extent->size_bytes > size_bytes) {
		struct pfs_extent *rest = split(self, extent, size_bytes);
		insert(self, rest != NULL ? rest : extent, kind);
		if (rest == NULL)
			return NULL;
	}
	return extent;
}

static struct pfs_extent *take_locked(struct pfs_extents *self, size_t size_bytes,
				      size_t align_bytes)
{
	struct pfs_extent *extent = find(self, size_bytes, align_bytes);
	if (extent == NULL && grow_space(self, size_bytes + align_bytes - PFS_OS_PAGE))
		extent = find(self, size_bytes, align_bytes);
	if (extent == NULL)
		return NULL;
	enum pfs_extent_kind kind = pfs_extent_kind(extent);
	delist(self, extent);
	extent = trim(self, extent, kind, size_bytes, align_bytes);
	note_low(self);
	if (extent == NULL)
		return NULL;
	extent->is_zeroed = kind == PFS_EXTENT_RETAINED;
	self->active_bytes += size_bytes;
	pfs_map_set_ends(extent->base, extent->size_bytes, extent);
	return extent;
}

/* New memory was taken although there are dirty pages: those are in pieces that do not fit. This
 * many may stay, and the rest is purged, so that the sum of both is bounded. */
static size_t dirty_pages_beside_new(const struct pfs_extents *self)
{
	size_t share = self->active_bytes / 100 / PFS_OS_PAGE * pfs_conf.dirty_percent;
	if (pfs_conf.dirty_percent == 0)
		return SIZE_MAX;
	return share > DIRTY_LEAST_PAGES ? share : DIRTY_LEAST_PAGES;
}

static struct pfs_extent *take(struct pfs_extents *self, size_t size_bytes, size_t align_bytes,
			       bool is_large)
{
	size_t most_bytes;
	if (__builtin_add_overflow(size_bytes, align_bytes, &most_bytes) ||
	    most_bytes > PFS_LENGTH_MOST_BYTES)
		return NULL;
	pfs_mutex_lock(&self->lock);
	struct pfs_extent *extent = take_locked(self, size_bytes, align_bytes);
	if (extent != NULL && is_large)
		pfs_extents_count_large(self, 0, size_bytes);
	size_t pages_left = SIZE_MAX;
	if (extent != NULL && extent->is_zeroed)
		pages_left = dirty_pages_beside_new(self);
	bool are_too_many = self->kinds[PFS_EXTENT_DIRTY].pages > pages_left;
	pfs_mutex_unlock(&self->lock);
	if (are_too_many)
		(void)pfs_extents_purge(self, PFS_EXTENT_DIRTY, pages_left, false);
	return extent;
}

struct pfs_extent *pfs_extents_take(struct pfs_extents *self, size_t size_bytes, size_t align_bytes)
{
	return take(self, size_bytes, align_bytes, false);
}

struct pfs_extent *pfs_extents_take_large(struct pfs_extents *self, size_t size_bytes,
					  size_t align_bytes)
{
	struct pfs_extent *extent = take(self, size_bytes, align_bytes, true);
	if (extent == NULL)
		return NULL;
	extent->request_bytes = size_bytes;
	pfs_extent_set_kind(extent, PFS_EXTENT_LARGE);
	return extent;
}

bool pfs_extents_has_dirty(struct pfs_extents *self, size_t size_bytes)
{
	pfs_mutex_lock(&self->lock);
	bool has = fit(&self->kinds[PFS_EXTENT_DIRTY], size_bytes, PFS_OS_PAGE) != NULL;
	pfs_mutex_unlock(&self->lock);
	return has;
}

void pfs_extents_give(struct pfs_extents *self, struct pfs_extent *extent,
		      enum pfs_extent_kind kind)
{
	pfs_mutex_lock(&self->lock);
	self->active_bytes -= extent->size_bytes;
	if (pfs_extent_is_large(extent))
		pfs_extents_count_large(self, extent->request_bytes, 0);
	insert(self, extent, kind);
	pfs_mutex_unlock(&self->lock);
}

bool pfs_extents_shrink(struct pfs_extents *self, struct pfs_extent *extent, size_t size_bytes)
{
	pfs_mutex_lock(&self->lock);
	struct pfs_extent *rest = split(self, extent, size_bytes);
	if (rest != NULL) {
		self->active_bytes -= rest->size_bytes;
		insert(self, rest, PFS_EXTENT_DIRTY);
	}
	pfs_mutex_unlock(&self->lock);
	return rest != NULL;
}

/* The free extent that begins at an address, of any kind, with at least size_bytes. */
static struct pfs_extent *behind(struct pfs_extents *self, uintptr_t address, size_t size_bytes)
{
	for (uint32_t kind = 0; kind < PFS_EXTENT_FREE_KINDS; kind++) {
		struct pfs_extent *next = neighbour(self, address, (enum pfs_extent_kind)kind);
		if (next != NULL && next->size_bytes >= size_bytes)
			return next;
	}
	return NULL;
}

static bool grow_locked(struct pfs_extents *self, struct pfs_extent *extent, size_t more_bytes)
{
	uintptr_t end = extent->base + extent->size_bytes;
	struct pfs_extent *next = behind(self, end, more_bytes);
	if (next == NULL)
		return false;
	enum pfs_extent_kind kind = pfs_extent_kind(next);
	delist(self, next);
	next = trim(self, next, kind, more_bytes, PFS_OS_PAGE);
	note_low(self);
	if (next == NULL)
		return false;
	join(self, extent, next);
	pfs_map_set_ends(extent->base, extent->size_bytes, extent);
	extent->is_zeroed = false;
	self->active_bytes += more_bytes;
	return true;
}

bool pfs_extents_grow(struct pfs_extents *self, struct pfs_extent *extent, size_t size_bytes)
{
	pfs_mutex_lock(&self->lock);
	bool done = grow_locked(self, extent, size_bytes - extent->size_bytes);
	pfs_mutex_unlock(&self->lock);
	return done;
}

size_t pfs_extents_purge(struct pfs_extents *self, enum pfs_extent_kind kind, size_t pages_left,
			 bool lazily)
{
	size_t gone = 0;
	pfs_mutex_lock(&self->lock);
	struct pfs_extents_kind *from = &self->kinds[kind];
	/* Bounded by the pages that exist now: other threads may free as fast as this purges. */
	size_t most = from->pages > pages_left ? from->pages - pages_left : 0;
	while (gone < most && from->oldest != NULL) {
		struct pfs_extent *extent = from->oldest;
		delist(self, extent);
		pfs_mutex_unlock(&self->lock);
		void *pages = (void *)extent->base; /* NOLINT: addresses are numbers here */
		gone += pages_of(extent);
		bool is_lazy = lazily && pfs_system_purge_lazily(pages, extent->size_bytes);
		bool done = is_lazy || pfs_system_purge(pages, extent->size_bytes);
		pfs_mutex_lock(&self->lock);
		self->purges++;
		self->purged_pages += pages_of(extent);
		insert(self, extent,
		       !done     ? PFS_EXTENT_DIRTY
		       : is_lazy ? PFS_EXTENT_MUZZY
				 : PFS_EXTENT_RETAINED);
	}
	note_low(self);
	pfs_mutex_unlock(&self->lock);
	return gone;
}

size_t pfs_extents_unmap(struct pfs_extents *self)
{
	size_t gone = 0;
	pfs_mutex_lock(&self->lock);
	struct pfs_extent *extent;
	while ((extent = self->kinds[PFS_EXTENT_RETAINED].oldest) != NULL) {
		delist(self, extent);
		pfs_map_set_ends(extent->base, extent->size_bytes, NULL);
		pfs_system_unmap((void *)extent->base, extent->size_bytes); /* NOLINT */
		self->mapped_bytes -= extent->size_bytes;
		gone += extent->size_bytes;
		descriptor_free(self, extent);
	}
	pfs_mutex_unlock(&self->lock);
	return gone;
}

size_t pfs_extents_low(struct pfs_extents *self, enum pfs_extent_kind kind)
{
	pfs_mutex_lock(&self->lock);
	size_t pages = self->kinds[kind].pages_low;
	self->kinds[kind].pages_low = self->kinds[kind].pages;
	pfs_mutex_unlock(&self->lock);
	return pages;
}
