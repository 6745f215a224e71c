/*
 * descriptors.c - descriptors of extents come from pages and return to them, and idle pages go.
 */
#include "descriptors.h"

#include "apart.h"
#include "base.h"
#include "extent.h"
#include "system.h"

#define CHUNK_MOST_BYTES ((size_t)64 << 20)
#ifdef PFS_SIM_SMALL /* pages of two descriptors, after one that stays */
#define SMALL_COUNT 1u
#define PAGE_BYTES (2 * sizeof(struct pfs_extent))
#define SMALL_BYTES SMALL_COUNT
#define CHUNK_LEAST_BYTES (4 * PAGE_BYTES)
#else
#define SMALL_COUNT 8u /* descriptors of a small chunk */
#define PAGE_BYTES ((size_t)PFS_OS_PAGE)
#define SMALL_BYTES ((size_t)12 << 10) /* of all small chunks of an arena */
#define CHUNK_LEAST_BYTES ((size_t)256 << 10)
#endif

struct pfs_descriptor_chunk {
	struct pfs_descriptor_chunk *older;
	char *memory;
	uint32_t page_count, pages_used;
	uint32_t on_page; /* descriptors; each is on one page */
	bool is_small;    /* one page, which stays */
	struct pfs_descriptor_page pages[];
};

/* ---- pages ---- */

static uint32_t all_of(const struct pfs_descriptor_page *page)
{
	return (UINT32_C(1) << page->chunk->on_page) - 1;
}

static struct pfs_extent *first_of(const struct pfs_descriptor_page *page)
{
	const struct pfs_descriptor_chunk *chunk = page->chunk;
	char *first = chunk->memory + (size_t)(page - chunk->pages) * PAGE_BYTES;
	return (struct pfs_extent *)(void *)first;
}

static bool is_unused(const struct pfs_descriptor_page *page)
{
	return page->free == all_of(page) && !page->chunk->is_small;
}

static bool is_idle(const struct pfs_descriptor_page *page)
{
	return is_unused(page) && !page->is_wiped;
}

static struct pfs_descriptor_list *list_of(struct pfs_descriptors *self,
					   const struct pfs_descriptor_page *page)
{
	if (page->free == 0)
		return NULL;
	if (!is_unused(page))
		return &self->partial;
	return page->is_wiped ? &self->wiped : &self->idle;
}

static void unlist(struct pfs_descriptors *self, struct pfs_descriptor_page *page)
{
	struct pfs_descriptor_list *list = list_of(self, page);
	if (list == NULL)
		return;
	if (page->newer != NULL)
		page->newer->older = page->older;
	else
		list->newest = page->older;
	if (page->older != NULL)
		page->older->newer = page->newer;
	else
		list->oldest = page->newer;
	self->idle_pages -= list == &self->idle;
	if (self->idle_pages < self->idle_low)
		self->idle_low = self->idle_pages;
}

static void enlist(struct pfs_descriptors *self, struct pfs_descriptor_page *page)
{
	struct pfs_descriptor_list *list = list_of(self, page);
	if (list == NULL)
		return;
	page->newer = NULL;
	page->older = list->newest;
	if (list->newest != NULL)
		list->newest->newer = page;
	else
		list->oldest = page;
	list->newest = page;
	self->idle_pages += list == &self->idle;
}

/* ---- chunks ---- */

static struct pfs_descriptor_chunk *make_chunk(struct pfs_descriptors *self, uint32_t page_count)
{
	struct pfs_base_pool none = { NULL };
	struct pfs_descriptor_chunk *chunk = pfs_base_new(
		&none, sizeof(*chunk) + page_count * sizeof(struct pfs_descriptor_page));
	if (chunk == NULL)
		return NULL;
	chunk->older = self->chunks;
	chunk->page_count = page_count;
	return chunk;
}

static struct pfs_descriptor_chunk *small_chunk(struct pfs_descriptors *self)
{
	struct pfs_base_pool none = { NULL };
	size_t bytes = SMALL_COUNT * sizeof(struct pfs_extent);
	char *memory = pfs_base_new(&none, bytes);
	struct pfs_descriptor_chunk *chunk = memory != NULL ? make_chunk(self, 1) : NULL;
	if (chunk == NULL)
		return NULL;
	chunk->memory = memory;
	chunk->on_page = SMALL_COUNT;
	chunk->is_small = true;
	self->bytes += bytes;
	return chunk;
}

/* As large as all before. Its untouched pages, and what would be known of them, have no memory. */
static struct pfs_descriptor_chunk *large_chunk(struct pfs_descriptors *self)
{
	size_t bytes = self->bytes / PAGE_BYTES * PAGE_BYTES;
	if (bytes < CHUNK_LEAST_BYTES)
		bytes = CHUNK_LEAST_BYTES;
	if (bytes > CHUNK_MOST_BYTES)
		bytes = CHUNK_MOST_BYTES;
#ifdef PFS_SIM_SMALL
	struct pfs_base_pool none = { NULL };
	char *memory = pfs_base_new(&none, bytes);
#else
	char *memory = pfs_apart_new(bytes);
	if (memory == NULL) { /* address space is nearly exhausted */
		bytes = CHUNK_LEAST_BYTES;
		memory = pfs_apart_new(bytes);
	}
#endif
	if (memory == NULL)
		return NULL;
	struct pfs_descriptor_chunk *chunk = make_chunk(self, (uint32_t)(bytes / PAGE_BYTES));
	if (chunk == NULL) {
		pfs_apart_free(memory, bytes);
		return NULL;
	}
	chunk->memory = memory;
	chunk->on_page = (uint32_t)(PAGE_BYTES / sizeof(struct pfs_extent));
	self->bytes += bytes;
	return chunk;
}

/* A page that was never used; NULL: no memory. */
static struct pfs_descriptor_page *fresh(struct pfs_descriptors *self)
{
	struct pfs_descriptor_chunk *chunk = self->chunks;
	if (chunk == NULL || chunk->pages_used == chunk->page_count) {
		chunk = self->bytes >= SMALL_BYTES ? large_chunk(self) : NULL;
		if (chunk == NULL) /* the first ones, or memory is nearly exhausted */
			chunk = small_chunk(self);
		if (chunk == NULL)
			return NULL;
		self->chunks = chunk;
	}
	struct pfs_descriptor_page *page = &chunk->pages[chunk->pages_used++];
	page->chunk = chunk;
	page->free = all_of(page);
	page->is_wiped = true;
	enlist(self, page);
	return page;
}

/* ---- descriptors ---- */

static struct pfs_descriptor_page *page_with_room(struct pfs_descriptors *self)
{
	if (self->partial.newest != NULL)
		return self->partial.newest;
	if (self->idle.newest != NULL)
		return self->idle.newest;
	return self->wiped.newest != NULL ? self->wiped.newest : fresh(self);
}

struct pfs_extent *pfs_descriptors_take(struct pfs_descriptors *self)
{
	struct pfs_descriptor_page *page = page_with_room(self);
	if (page == NULL)
		return NULL;
	unlist(self, page);
	self->memory_pages += page->is_wiped && !page->chunk->is_small;
	struct pfs_extent *extent = first_of(page) + (uint32_t)__builtin_ctz(page->free);
	page->free &= page->free - 1;
	page->is_wiped = false;
	enlist(self, page);
	extent->page = page;
	return extent;
}

void pfs_descriptors_free(struct pfs_descriptors *self, struct pfs_extent *extent)
{
	struct pfs_descriptor_page *page = extent->page;
	unlist(self, page);
	page->free |= UINT32_C(1) << (extent - first_of(page));
	enlist(self, page);
}

/* From a number on, a descriptor of a page that is in use. */
static struct pfs_extent *used_from(const struct pfs_descriptor_page *page, uint32_t from)
{
	uint32_t used = all_of(page) & ~page->free & ~((UINT32_C(1) << from) - 1);
	return used != 0 ? first_of(page) + (uint32_t)__builtin_ctz(used) : NULL;
}

struct pfs_extent *pfs_descriptors_next(struct pfs_descriptors *self, struct pfs_extent *before)
{
	struct pfs_descriptor_page *page = before != NULL ? before->page : NULL;
	struct pfs_descriptor_chunk *chunk = page != NULL ? page->chunk : self->chunks;
	struct pfs_extent *extent = NULL;
	if (page != NULL)
		extent = used_from(page, (uint32_t)(before - first_of(page)) + 1);
	for (; chunk != NULL && extent == NULL; chunk = chunk->older) {
		page = page != NULL ? page + 1 : chunk->pages;
		for (; page < chunk->pages + chunk->pages_used && extent == NULL; page++)
			extent = used_from(page, 0);
		page = NULL;
	}
	return extent;
}

/* ---- pages without a descriptor in use ---- */

/* Return the memory of the longest idle page, and of idle ones beside it. Returns how many. */
static size_t wipe_run(struct pfs_descriptors *self, size_t pages_most)
{
	struct pfs_descriptor_page *page = self->idle.oldest;
	if (page == NULL)
		return 0;
	const struct pfs_descriptor_chunk *chunk = page->chunk;
	struct pfs_descriptor_page *first = page, *end = page + 1;
	while (first > chunk->pages && (size_t)(end - first) < pages_most && is_idle(first - 1))
		first--;
	while (end < chunk->pages + chunk->pages_used && (size_t)(end - first) < pages_most &&
	       is_idle(end))
		end++;
	size_t pages = (size_t)(end - first);
	if (!pfs_system_wipe(first_of(first), pages * PAGE_BYTES))
		return 0;
	self->memory_pages -= pages;
	for (page = first; page < end; page++) {
		unlist(self, page);
		page->is_wiped = true;
		enlist(self, page);
	}
	return pages;
}

size_t pfs_descriptors_wipe(struct pfs_descriptors *self, size_t pages_most)
{
	size_t gone = 0, more = 1;
	if (pages_most > PFS_DESCRIPTORS_TOGETHER)
		pages_most = PFS_DESCRIPTORS_TOGETHER;
	while (gone < pages_most && more != 0) {
		more = wipe_run(self, pages_most - gone);
		gone += more;
	}
	return gone;
}

size_t pfs_descriptors_low(struct pfs_descriptors *self)
{
	size_t pages = self->idle_low;
	self->idle_low = self->idle_pages;
	return pages;
}
