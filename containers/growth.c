/*
 * growth.c - adding pages: mapped, laid out and published under the growth lock, one at a time.
 *
 * There is one lock because, in earlier versions of the Performance Schema, growth by CAS made
 * every waiting thread map a page at once, and the losers discarded theirs.
 */
#include <stdlib.h>
#include <string.h>

#include "container.h"
#include "fork.h"
#include "kept.h"
#include "memory.h"

static uint32_t page_slots(const struct pfs_container *self, uint32_t index)
{
	return index == self->page_capacity - 1 ? self->last_page_records
						: self->config.page_records;
}

static uint32_t wanted_node(const struct pfs_container *self)
{
	switch (self->config.memory) {
	case PFS_MEMORY_NODE: return self->config.memory_node;
	case PFS_MEMORY_INTERLEAVE: return PFS_NODE_MIXED;
	default: return pfs_memory_caller_node();
	}
}

/* Is some record of a published page FREE at this moment? Under `growth`, so no page comes or goes.
 * The words keep changing; one FREE word is enough. */
static bool some_record_is_free(struct pfs_container *self)
{
	if (self->variant->some_free != NULL)
		return self->variant->some_free(self) != 0;
	uint32_t limit = pfs_container_page_limit(self);
	for (uint32_t index = 0; index < limit; index++) {
		struct pfs_page *page = pfs_container_page(self, index);
		for (uint32_t slot = 0; page != NULL && slot < page->slot_count; slot++) {
			/* relaxed: the state at a moment, nothing is read through it. */
			uint32_t word = pfs_load_relaxed(&pfs_page_lock(page, slot)->word);
			if (pfs_word_state(word) == PFS_STATE_FREE)
				return true;
		}
	}
	return false;
}

static void count_needless_growth(struct pfs_container *self)
{
	pfs_metrics_begin();
	if (PFS_COUNTED && some_record_is_free(self))
		pfs_bump_owned(&self->needless_growths, 1);
	pfs_metrics_end();
}

void pfs_growth_publish(struct pfs_container *self, struct pfs_page *page)
{
	/* relaxed: `growth` is held, no other thread writes these. */
	uint32_t pages = pfs_load_relaxed(&self->pages) + 1;
	uint32_t limit = pfs_load_relaxed(&self->page_limit);
	uint64_t growths = pfs_load_relaxed(&self->growths) + 1; /* relaxed: as above */
	count_needless_growth(self);
	page->published = growths;
	pfs_page_map_set(pfs_page_granules(page), self->shape.granules_bytes,
			 (void *)&self->directory[page->index]);
	/* [C2] release, pairs with [C1]: the page's fields and FREE words go first. */
	pfs_store_release(&self->directory[page->index], page);
	/* [C2] release, pairs with [C3]: the directory entry goes first. */
	if (page->index >= limit)
		pfs_store_release(&self->page_limit, page->index + 1);
	/* [C9] release, pairs with [P4]: a proof that counts this page knows that it comes. */
	pfs_store_release(&self->pages, pages);
	if (pages > pfs_load_relaxed(&self->pages_peak))     /* relaxed: a metric */
		pfs_store_relaxed(&self->pages_peak, pages); /* relaxed: a metric */
	pfs_holes_fill(&self->holes, page->index);
	/* [C7] release, pairs with [C8]: a search that counts this page finds it, too. */
	pfs_store_release(&self->growths, growths);
}

/* For a page outside its block. */
static void *page_memory(const struct pfs_page_shape *shape)
{
	void *memory = aligned_alloc(PFS_LINE,
				     (shape->apart_bytes + PFS_LINE - 1) / PFS_LINE * PFS_LINE);
	return memory != NULL ? memset(memory, 0, shape->apart_bytes) : NULL;
}

/* A page of new memory; NULL: there is none. */
static struct pfs_page *map_page(struct pfs_container *self, uint32_t index)
{
	const struct pfs_memory_source *source = self->source;
	uint32_t node = PFS_NODE_MIXED;
	void *block = source->map(source->context, self->shape.block_bytes, self->config.memory,
				  wanted_node(self), &node);
	if (block == NULL)
		return NULL;
	void *apart = self->shape.apart_bytes != 0 ? page_memory(&self->shape) : NULL;
	if (!pfs_page_map_reserve(block, self->shape.block_bytes) ||
	    (apart == NULL && self->shape.apart_bytes != 0)) {
		free(apart);
		source->unmap(source->context, block, self->shape.block_bytes);
		return NULL;
	}
	struct pfs_page *page = pfs_page_make(apart, block, &self->shape, self, index,
					      page_slots(self, index), self->version_bases[index]);
	page->node = node;
	return page;
}

struct pfs_page *pfs_growth_make(struct pfs_thread *thread, uint32_t index)
{
	struct pfs_container *self = thread->container;
	pfs_fork_resume(self);
	struct pfs_page *page = pfs_kept_take(self, index, page_slots(self, index));
	if (page == NULL)
		page = map_page(self, index);
	if (page != NULL && !pfs_page_come(page)) {
		pfs_kept_or_unmap(self, page, page->version_base);
		page = NULL;
	}
	if (page == NULL)
		thread->growth = PFS_NO_MEMORY;
	return page;
}

/* Under `growth`. */
static struct pfs_page *make_page(struct pfs_thread *thread, uint32_t index)
{
	struct pfs_page *page = pfs_growth_make(thread, index);
	if (page != NULL)
		pfs_growth_publish(thread->container, page);
	return page;
}

struct pfs_page *pfs_container_page_at(struct pfs_thread *thread, uint32_t index)
{
	struct pfs_container *self = thread->container;
	struct pfs_page *page = pfs_container_page(self, index);
	/* Above the limit, its publisher is about to raise the limit. A record allocated from it
	 * before that would be live but invisible to look-ups and walks: wait for `growth`. */
	if (page != NULL && index < pfs_container_page_limit(self))
		return page;
	pfs_mutex_lock(&self->growth);
	page = pfs_container_page(self, index);
	thread->growth = thread->stays ? PFS_FULL : PFS_OK;
	if (page == NULL && !thread->stays)
		page = make_page(thread, index);
	pfs_mutex_unlock(&self->growth);
	return page;
}

uint32_t pfs_growth_hole(struct pfs_container *self)
{
	return pfs_holes_find(&self->holes);
}

static struct pfs_page *add_locked(struct pfs_thread *thread, struct pfs_growth_seen seen)
{
	struct pfs_container *self = thread->container;
	thread->growth = PFS_OK;
	/* relaxed: `growth` is held, no other thread writes it. */
	if (pfs_load_relaxed(&self->growths) != seen.growths)
		return NULL;
	/* relaxed: a pass holds records under `growth`, which this thread took after it. A pass
	 * that only changes marks may be met here; that costs a search. */
	if (pfs_load_relaxed(&self->drain_round) != seen.drain_round)
		return NULL;
	uint32_t index = thread->stays ? self->page_capacity : pfs_growth_hole(self);
	if (index < self->page_capacity)
		return make_page(thread, index);
	thread->growth = PFS_FULL;
	return NULL;
}

struct pfs_page *pfs_container_page_add(struct pfs_thread *thread, struct pfs_growth_seen seen)
{
	struct pfs_container *self = thread->container;
	pfs_mutex_lock(&self->growth);
	struct pfs_page *page = add_locked(thread, seen);
	pfs_mutex_unlock(&self->growth);
	return page;
}

/* The newest version of a page whose records the caller all owns, plus one. Newest relative to
 * where the page began, because some versions may have wrapped around and others not. */
static uint32_t version_base_after(const struct pfs_page *page, uint32_t base)
{
	uint32_t farthest = 0;
	if (page->words == NULL)
		return base;
	for (uint32_t slot = 0; slot < page->slot_count; slot++) {
		/* relaxed: the caller owns every record. */
		uint32_t word = pfs_load_relaxed(&pfs_page_lock(page, slot)->word);
		uint32_t distance = (word & PFS_VERSION_MASK) - base;
		if (distance > farthest)
			farthest = distance;
	}
	return base + farthest + PFS_VERSION_ONE;
}

void pfs_growth_unlink(struct pfs_container *self, struct pfs_page *page)
{
	self->version_bases[page->index] = version_base_after(page, page->version_base);
	/* [C4] seq, pairs with [C1]: a thread that enters after the clock moves sees no page. */
	(void)pfs_exchange_seq(&self->directory[page->index], NULL);
	pfs_holes_open(&self->holes, page->index);
	/* [C9] release, pairs with [P4]: as in pfs_growth_publish. */
	pfs_store_release(&self->pages,
			  pfs_load_relaxed(&self->pages) - 1); /* relaxed: `growth` is held */
	/* relaxed: `growth` is held, no other thread writes it. */
	uint32_t limit = pfs_load_relaxed(&self->page_limit);
	while (limit != 0 && pfs_container_page(self, limit - 1) == NULL)
		limit--;
	pfs_store_release(&self->page_limit, limit); /* [C2], only lowered: no page to carry */
}

void pfs_container_unmap(struct pfs_container *self, struct pfs_page *page)
{
	/* Before the source, which may reuse the addresses for another page at once. */
	pfs_page_map_set(pfs_page_granules(page), self->shape.granules_bytes, NULL);
	pfs_page_go(page);
	pfs_kept_or_unmap(self, page, version_base_after(page, page->version_base));
}

struct pfs_claim pfs_container_refuse(struct pfs_thread *thread, enum pfs_status status)
{
	thread->status = status;
	if (!thread->stays)
		pfs_bump_owned(&thread->lost, 1);
	return pfs_claim_none();
}
