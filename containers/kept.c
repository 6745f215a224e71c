/* kept.c - see kept.h. */
#include "kept.h"

#include <stdlib.h>
#include <string.h>

#include "annotate.h"
#include "memory.h"

static struct pfs_page_view view_of(const struct pfs_page *page)
{
	return (struct pfs_page_view){ .records = pfs_page_record(page, 0),
				       .stride_bytes = page->record_stride,
				       .page = page->index,
				       .record_count = page->slot_count,
				       .arrays = page->arrays };
}

bool pfs_page_come(struct pfs_page *page)
{
	const struct pfs_page_hooks *hooks = page->container->config.hooks;
	if (hooks == NULL || hooks->come == NULL)
		return true;
	struct pfs_page_view view = view_of(page);
	bool has_come = hooks->come(hooks->context, &view);
	page->arrays = view.arrays;
	/* come may have written them; the first owner may be another thread. */
	for (uint32_t slot = 0; slot < page->slot_count; slot++)
		pfs_annotate_release(pfs_page_record(page, slot));
	return has_come;
}

void pfs_page_go(struct pfs_page *page)
{
	const struct pfs_page_hooks *hooks = page->container->config.hooks;
	if (hooks == NULL || hooks->go == NULL)
		return;
	struct pfs_page_view view = view_of(page);
	for (uint32_t slot = 0; slot < page->slot_count; slot++)
		pfs_annotate_acquire(pfs_page_record(page, slot));
	hooks->go(hooks->context, &view);
	page->arrays = view.arrays;
}

static void unmap(struct pfs_container *self, struct pfs_page *page)
{
	const struct pfs_page_hooks *hooks = self->config.hooks;
	struct pfs_page_view view = view_of(page);
	if (hooks != NULL && hooks->end != NULL)
		hooks->end(hooks->context, &view);
	self->source->unmap(self->source->context, pfs_page_block(page), self->shape.block_bytes);
	if (self->shape.apart_bytes != 0)
		free(page);
}

/* A pass may own the records as DIRTY. Discarding the memory would clear the words too, but neither
 * ThreadSanitizer nor the simulated machine sees what the system writes. */
static void free_words(struct pfs_page *page, uint32_t version_mask)
{
	for (uint32_t slot = 0; page->words != NULL && slot < page->slot_count; slot++) {
		struct pfs_lock *lock = pfs_page_lock(page, slot);
		/* relaxed, both: no thread owns the record, and a reader outside a section finds
		 * it FREE or DIRTY. */
		uint32_t word = pfs_load_relaxed(&lock->word) & version_mask;
		pfs_store_relaxed(&lock->word, word); /* relaxed: see above */
	}
}

void pfs_kept_or_unmap(struct pfs_container *self, struct pfs_page *page, uint32_t version_base)
{
	const struct pfs_memory_source *source = self->source;
	if (self->config.give_back == PFS_GIVE_BACK_ADDRESSES) {
		unmap(self, page);
		return;
	}
	page->version_base = version_base;
	bool discards = self->config.give_back == PFS_GIVE_BACK_MEMORY;
	free_words(page, discards ? 0 : PFS_VERSION_MASK);
	if (discards)
		source->discard(source->context, pfs_page_granules(page),
				self->shape.granules_bytes);
	pfs_mutex_lock(&self->keeping);
	page->limbo_next = NULL;
	*self->kept_end = page;
	self->kept_end = &page->limbo_next;
	pfs_mutex_unlock(&self->keeping);
}

/*
 * Under `keeping`: the kept page of this index, else the first one. Only one with so many records,
 * because hooks make the arrays of a page for its number of them. A pass keeps pages in the order
 * of their indices, and growth takes the lowest index: mostly the first page of the list is the
 * right one.
 */
static struct pfs_page *unlink_best(struct pfs_container *self, uint32_t index, uint32_t slot_count)
{
	struct pfs_page **best = NULL;
	for (struct pfs_page **link = &self->kept; *link != NULL; link = &(*link)->limbo_next) {
		if ((*link)->slot_count == slot_count && (best == NULL || (*link)->index == index))
			best = link;
		if ((*link)->index == index)
			break;
	}
	if (best == NULL)
		return NULL;
	struct pfs_page *page = *best;
	*best = page->limbo_next;
	if (self->kept_end == &page->limbo_next)
		self->kept_end = best;
	return page;
}

/* The later of two versions. They may have wrapped around, so one is later if it is less than half
 * of all versions ahead. */
static uint32_t later_of(uint32_t a, uint32_t b)
{
	return b - a < UINT32_MAX / 2 ? b : a;
}

/* The node of a page that is used again. With first touch its memory comes anew, from where the
 * caller runs; memory that is bound stays bound. */
static uint32_t node_again(const struct pfs_container *self, const struct pfs_page *page)
{
	bool is_anew = self->config.give_back == PFS_GIVE_BACK_MEMORY &&
		       self->config.memory == PFS_MEMORY_FIRST_TOUCH;
	return is_anew ? pfs_memory_caller_node() : page->node;
}

struct pfs_page *pfs_kept_take(struct pfs_container *self, uint32_t index, uint32_t slot_count)
{
	if (self->config.give_back == PFS_GIVE_BACK_ADDRESSES)
		return NULL;
	pfs_mutex_lock(&self->keeping);
	struct pfs_page *page = unlink_best(self, index, slot_count);
	pfs_mutex_unlock(&self->keeping);
	if (page == NULL)
		return NULL;
	void *block = page->block, *arrays = page->arrays;
	uint32_t node = node_again(self, page);
	uint32_t base = later_of(self->version_bases[index], page->version_base);
	memset(page, 0, self->shape.apart_bytes);
	page = pfs_page_make(page, block, &self->shape, self, index, slot_count, base);
	page->node = node;
	page->arrays = arrays;
	return page;
}

static size_t count_kept(struct pfs_container *self)
{
	size_t count = 0;
	pfs_mutex_lock(&self->keeping);
	for (struct pfs_page *page = self->kept; page != NULL; page = page->limbo_next)
		count++;
	pfs_mutex_unlock(&self->keeping);
	return count;
}

static size_t copy_kept(struct pfs_container *self, void **blocks, size_t room)
{
	size_t count = 0;
	pfs_mutex_lock(&self->keeping);
	for (struct pfs_page *page = self->kept; page != NULL && count < room;
	     page = page->limbo_next)
		blocks[count++] = pfs_page_block(page);
	pfs_mutex_unlock(&self->keeping);
	return count;
}

/* The system is asked without `keeping`: the calls take long, and a thread that needs a page must
 * not wait for them. Blocks stay mapped until the container is destroyed. */
uint64_t pfs_kept_resident(struct pfs_container *self)
{
	const struct pfs_memory_source *source = self->source;
	size_t room = count_kept(self);
	void **blocks = room != 0 ? malloc(room * sizeof(*blocks)) : NULL;
	uint64_t sum = 0;
	size_t count = blocks != NULL ? copy_kept(self, blocks, room) : 0;
	while (count-- > 0)
		sum += source->resident(source->context, blocks[count], self->shape.block_bytes);
	free((void *)blocks);
	return sum;
}

void pfs_kept_end(struct pfs_container *self)
{
	while (self->kept != NULL) {
		struct pfs_page *page = self->kept;
		self->kept = page->limbo_next;
		unmap(self, page);
	}
}
