#include "extents.h"

#include <string.h>

#include "conf.h"
#include "containers/compiler.h"
#include "lists.h"
#include "map.h"
#include "system.h"

#define GROW_LEAST_BYTES ((size_t)1 << 20)
#define GROW_MOST_BYTES ((size_t)64 << 20)
#define GROW_SHARE 8u /* an arena grows by this fraction of its size */
#define LOOKS_MOST 8u /* extents examined in a list where some are too short */

void pfs_extents_init(struct pfs_extents *self, struct pfs_arena *arena)
{
	memset((void *)self, 0, sizeof(*self));
	pfs_mutex_init(&self->lock);
	self->arena = arena;
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

/* New pages become one retained extent. False: no memory; they are unmapped. */
static bool add_space(struct pfs_extents *self, char *pages, size_t size_bytes)
{
	if (pages == NULL)
		return false;
	struct pfs_extent *extent = pfs_extents_descriptor(self);
	if (extent == NULL || !pfs_map_reserve(pages, size_bytes)) {
		if (extent != NULL)
			pfs_extents_descriptor_free(self, extent);
		(void)pfs_system_unmap(pages, size_bytes);
		return false;
	}
	if (pfs_conf.thp == PFS_THP_NEVER)
		pfs_system_small_pages(pages, size_bytes);
	extent->base = (uintptr_t)pages;
	extent->size_bytes = size_bytes;
	self->mapped_bytes += size_bytes;
	pfs_extents_insert(self, extent, PFS_EXTENT_RETAINED);
	return true;
}

/* In large steps, except near a limit and where the system gives them memory at once: pages that
 * are locked take 0.3 ms for each MiB. */
static bool grow_space(struct pfs_extents *self, size_t need_bytes)
{
	size_t wish_bytes = self->mapped_bytes / GROW_SHARE & ~(size_t)(PFS_OS_PAGE - 1);
	if (wish_bytes < GROW_LEAST_BYTES)
		wish_bytes = GROW_LEAST_BYTES;
	if (wish_bytes > GROW_MOST_BYTES)
		wish_bytes = GROW_MOST_BYTES;
	if (need_bytes < wish_bytes && wish_bytes > GROW_LEAST_BYTES &&
	    add_space(self, pfs_system_map_ahead(wish_bytes), wish_bytes))
		return true;
	if (need_bytes < GROW_LEAST_BYTES &&
	    add_space(self, pfs_system_map(GROW_LEAST_BYTES), GROW_LEAST_BYTES))
		return true;
	return add_space(self, pfs_system_map(need_bytes), need_bytes);
}

/* The extent of a kind to use, shown and out of its lists. One that cannot be shown is lost. */
static struct pfs_extent *find(struct pfs_extents *self, enum pfs_extent_kind kind,
			       size_t size_bytes, size_t align_bytes)
{
	struct pfs_extent *extent = NULL;
	while ((extent = fit(&self->kinds[kind], size_bytes, align_bytes)) != NULL) {
		pfs_extents_delist(self, extent);
		if (pfs_extents_show(self, extent))
			return extent;
	}
	return NULL;
}

/* The same of the kinds after dirty. */
static struct pfs_extent *find_clean(struct pfs_extents *self, size_t size_bytes,
				     size_t align_bytes, enum pfs_extent_kind *kind)
{
	*kind = PFS_EXTENT_MUZZY;
	struct pfs_extent *extent = find(self, *kind, size_bytes, align_bytes);
	if (extent != NULL)
		return extent;
	*kind = PFS_EXTENT_RETAINED;
	return find(self, *kind, size_bytes, align_bytes);
}

/* Cut a HELD extent of a kind down to the wanted range. NULL: no memory for descriptors; the extent
 * is back in its list. */
static struct pfs_extent *trim(struct pfs_extents *self, struct pfs_extent *extent,
			       enum pfs_extent_kind kind, size_t size_bytes, size_t align_bytes)
{
	size_t lead_bytes = lead_of(extent, align_bytes);
	if (lead_bytes != 0) {
		struct pfs_extent *rest = pfs_extents_split(self, extent, lead_bytes);
		pfs_extents_insert(self, extent, kind);
		if (rest == NULL)
			return NULL;
		extent = rest;
	}
	if (extent->size_bytes > size_bytes) {
		struct pfs_extent *rest = pfs_extents_split(self, extent, size_bytes);
		pfs_extents_insert(self, rest != NULL ? rest : extent, kind);
		if (rest == NULL)
			return NULL;
	}
	return extent;
}

/* The free extent that begins at an address, of any kind, with at least size_bytes. */
static struct pfs_extent *behind(struct pfs_extents *self, uintptr_t address, size_t size_bytes)
{
	for (uint32_t kind = 0; kind < PFS_EXTENT_FREE_KINDS; kind++) {
		struct pfs_extent *next = pfs_extents_neighbour(self, address,
								(enum pfs_extent_kind)kind);
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
	pfs_extents_delist(self, next);
	if (!pfs_extents_show(self, next))
		return false;
	next = trim(self, next, kind, more_bytes, PFS_OS_PAGE);
	pfs_extents_note_low(self);
	if (next == NULL)
		return false;
	pfs_extents_join(self, extent, next);
	pfs_map_set_ends(extent->base, extent->size_bytes, extent);
	extent->dirty_bytes = kind == PFS_EXTENT_RETAINED ? end - extent->base : extent->size_bytes;
	self->active_bytes += more_bytes;
	if (kind == PFS_EXTENT_RETAINED)
		pfs_extents_owe(self, more_bytes / PFS_OS_PAGE, 0);
	return true;
}

/* A dirty extent that is too short, but has what is missing behind it: one of the longest. NULL:
 * there is none, or it is not found among those examined. */
static struct pfs_extent *longest_to_grow(struct pfs_extents *self, size_t size_bytes)
{
	struct pfs_extents_kind *dirty = &self->kinds[PFS_EXTENT_DIRTY];
	uint32_t looks = 0;
	uint32_t length = pfs_length_floor(size_bytes / PFS_OS_PAGE) + 1;
	while (length-- != 0 && looks < LOOKS_MOST) {
		struct pfs_extent *extent = dirty->lengths[length];
		for (; extent != NULL && looks < LOOKS_MOST; extent = extent->next, looks++) {
			uintptr_t end = extent->base + extent->size_bytes;
			if (extent->size_bytes < size_bytes &&
			    behind(self, end, size_bytes - extent->size_bytes) != NULL)
				return extent;
		}
	}
	return NULL;
}

/* A dirty extent and the first pages of the free one behind it. So resident pages are used, and
 * fewer new ones. */
static struct pfs_extent *take_grown(struct pfs_extents *self, size_t size_bytes)
{
	struct pfs_extent *extent = longest_to_grow(self, size_bytes);
	if (extent == NULL)
		return NULL;
	pfs_extents_delist(self, extent);
	if (!pfs_extents_show(self, extent))
		return NULL;
	size_t before_bytes = extent->size_bytes;
	if (!grow_locked(self, extent, size_bytes - before_bytes)) {
		pfs_extents_insert(self, extent, PFS_EXTENT_DIRTY);
		return NULL;
	}
	self->active_bytes += before_bytes;
	return extent;
}

static struct pfs_extent *take_locked(struct pfs_extents *self, size_t size_bytes,
				      size_t align_bytes)
{
	enum pfs_extent_kind kind = PFS_EXTENT_DIRTY;
	struct pfs_extent *extent = find(self, kind, size_bytes, align_bytes);
	if (extent == NULL && align_bytes == PFS_OS_PAGE) {
		extent = take_grown(self, size_bytes);
		if (extent != NULL)
			return extent;
	}
	if (extent == NULL)
		extent = find_clean(self, size_bytes, align_bytes, &kind);
	if (extent == NULL && grow_space(self, size_bytes + align_bytes - PFS_OS_PAGE))
		extent = find_clean(self, size_bytes, align_bytes, &kind);
	if (extent == NULL)
		return NULL;
	extent = trim(self, extent, kind, size_bytes, align_bytes);
	pfs_extents_note_low(self);
	if (extent == NULL)
		return NULL;
	extent->dirty_bytes = kind == PFS_EXTENT_RETAINED ? 0 : size_bytes;
	self->active_bytes += size_bytes;
	pfs_map_set_ends(extent->base, extent->size_bytes, extent);
	return extent;
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
	if (extent != NULL && extent->dirty_bytes == 0)
		pfs_extents_owe(self, pfs_extent_pages(extent), 0);
	pfs_mutex_unlock(&self->lock);
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
	extent->noted_bytes = extent->size_bytes;
	pfs_extents_insert(self, extent, kind);
	pfs_mutex_unlock(&self->lock);
}

bool pfs_extents_shrink(struct pfs_extents *self, struct pfs_extent *extent, size_t size_bytes)
{
	pfs_mutex_lock(&self->lock);
	struct pfs_extent *rest = pfs_extents_split(self, extent, size_bytes);
	if (rest != NULL) {
		self->active_bytes -= rest->size_bytes;
		rest->noted_bytes = rest->size_bytes;
		pfs_extents_insert(self, rest, PFS_EXTENT_DIRTY);
	}
	pfs_mutex_unlock(&self->lock);
	return rest != NULL;
}

bool pfs_extents_grow(struct pfs_extents *self, struct pfs_extent *extent, size_t size_bytes)
{
	pfs_mutex_lock(&self->lock);
	bool done = grow_locked(self, extent, size_bytes - extent->size_bytes);
	pfs_mutex_unlock(&self->lock);
	return done;
}

size_t pfs_extents_low(struct pfs_extents *self, enum pfs_extent_kind kind)
{
	pfs_mutex_lock(&self->lock);
	size_t pages = self->kinds[kind].pages_low;
	self->kinds[kind].pages_low = self->kinds[kind].pages;
	pfs_mutex_unlock(&self->lock);
	return pages;
}

void pfs_extents_count_guarded(struct pfs_extents *self, size_t before_bytes, size_t after_bytes)
{
	pfs_mutex_lock(&self->lock);
	pfs_extents_count_large(self, before_bytes, after_bytes);
	self->active_bytes += after_bytes - before_bytes;
	self->mapped_bytes += after_bytes - before_bytes;
	pfs_mutex_unlock(&self->lock);
}
