/*
 * read.c - readers: look-up by index, untrusted pointers, optimistic reads, walks.
 *
 * Everything here tolerates holes in the directory, and pages that come and go meanwhile.
 */
#include <string.h>

#include "container.h"

/* The record at an index if its page is there; its state is not looked at. */
static void *record_at(struct pfs_container *self, uint64_t index)
{
	uint32_t page_records = self->config.page_records;
	if (index / page_records >= pfs_container_page_limit(self))
		return NULL;
	struct pfs_page *page = pfs_container_page(self, (uint32_t)(index / page_records));
	uint32_t slot = (uint32_t)(index % page_records);
	if (page == NULL || slot >= page->slot_count)
		return NULL;
	return pfs_page_record(page, slot);
}

static bool is_allocated(const void *record)
{
	uint32_t word = pfs_lock_glance(pfs_record_lock(record));
	return pfs_word_state(word) == PFS_STATE_ALLOCATED;
}

void *pfs_lookup(struct pfs_thread *thread, uint64_t index)
{
	pfs_enter(thread);
	void *record = record_at(thread->container, index);
	if (record != NULL && !is_allocated(record))
		record = NULL;
	pfs_leave(thread);
	return record;
}

/* Is pointer the first byte of a record of this page? By arithmetic only. */
static bool page_has(const struct pfs_page *page, uintptr_t pointer)
{
	uintptr_t first = (uintptr_t)pfs_page_record(page, 0);
	size_t distance = pointer - first;
	return pointer >= first && distance % page->record_stride == 0 &&
	       distance / page->record_stride < page->slot_count;
}

bool pfs_owns(struct pfs_thread *thread, const void *pointer)
{
	struct pfs_container *self = thread->container;
	bool found = false;
	if ((thread->traits & PFS_TRAIT_INDEX) == 0)
		return false;
	pfs_enter(thread);
	uint32_t limit = pfs_container_page_limit(self);
	for (uint32_t index = 0; index < limit && !found; index++) {
		struct pfs_page *page = pfs_container_page(self, index);
		if (page != NULL && page_has(page, (uintptr_t)pointer))
			found = is_allocated(pointer);
	}
	pfs_leave(thread);
	return found;
}

uint64_t pfs_index(struct pfs_thread *thread, const void *record)
{
	if ((thread->traits & PFS_TRAIT_INDEX) == 0)
		return PFS_INDEX_NONE;
	const struct pfs_page *page = pfs_record_page(record);
	return (uint64_t)page->index * thread->container->config.page_records +
	       pfs_record_slot(record);
}

uint32_t pfs_version(const void *record)
{
	return pfs_lock_glance(pfs_record_lock(record)) / PFS_VERSION_ONE;
}

struct pfs_reference pfs_reference_of(struct pfs_thread *thread, const void *record)
{
	if ((thread->traits & PFS_TRAIT_INDEX) == 0)
		return (struct pfs_reference){ PFS_INDEX_NONE, 0 };
	return (struct pfs_reference){ pfs_index(thread, record), pfs_version(record) };
}

void *pfs_lookup_reference(struct pfs_thread *thread, struct pfs_reference reference)
{
	pfs_enter(thread);
	void *record = record_at(thread->container, reference.index);
	uint32_t word = record != NULL ? pfs_lock_glance(pfs_record_lock(record)) : 0;
	bool is_it = record != NULL && pfs_word_state(word) == PFS_STATE_ALLOCATED &&
		     word / PFS_VERSION_ONE == reference.version;
	pfs_leave(thread);
	return is_it ? record : NULL;
}

struct pfs_claim pfs_reopen(struct pfs_thread *thread, void *record)
{
	if ((thread->traits & PFS_TRAIT_WORDS) == 0)
		return (struct pfs_claim){ record, 0 };
	return (struct pfs_claim){ record, pfs_lock_allocated_to_dirty(pfs_record_lock(record)) };
}

struct pfs_glance pfs_read_begin(const void *record)
{
	return (struct pfs_glance){ pfs_lock_glance(pfs_record_lock(record)) };
}

bool pfs_read_end(const void *record, struct pfs_glance glance)
{
	return pfs_lock_confirm(pfs_record_lock(record), glance.word);
}

void pfs_bytes_load(void *to, const void *record, size_t size_bytes)
{
	_Atomic(uint64_t) *from = (_Atomic(uint64_t) *)(uintptr_t)record;
	for (size_t i = 0; i < size_bytes / sizeof(uint64_t); i++) {
		/* [L6] acquire, pairs with [L5]: see pfs_lock_confirm. */
		uint64_t value = pfs_load_acquire(&from[i]);
		memcpy((char *)to + i * sizeof(value), &value, sizeof(value));
	}
}

void pfs_bytes_store(void *record, const void *from, size_t size_bytes)
{
	_Atomic(uint64_t) *to = (_Atomic(uint64_t) *)record;
	for (size_t i = 0; i < size_bytes / sizeof(uint64_t); i++) {
		uint64_t value;
		memcpy(&value, (const char *)from + i * sizeof(value), sizeof(value));
		/* [L5] release, pairs with [L6]: the DIRTY word goes before the bytes; without
		 * it a reader could take new bytes and still find the old word. */
		pfs_store_release(&to[i], value);
	}
}

void pfs_walk_begin(struct pfs_walk *walk, struct pfs_thread *thread, enum pfs_walk_kind kind)
{
	*walk = (struct pfs_walk){ .thread = thread, .kind = kind };
	pfs_enter(thread);
}

/*
 * The record just visited was free: by the policy's index, if it has one, go past the free
 * ones that follow. A record that is live all the while has its bit clear all the while, so it
 * is not skipped. Only behind a free record: where all are live, asking would cost each one.
 */
static void skip_free(struct pfs_walk *walk, struct pfs_container *self)
{
	uint64_t page_records = self->config.page_records;
	uint64_t page = walk->index / page_records;
	if (walk->kind != PFS_WALK_LIVE || self->variant->next_used == NULL ||
	    walk->next_index / page_records != page)
		return;
	uint32_t slot = self->variant->next_used(self, (uint32_t)page,
						 (uint32_t)(walk->next_index % page_records));
	walk->next_index = page * page_records + (slot < page_records ? slot : page_records);
}

/*
 * By index: a record that stays live keeps its page at its index, whatever happens to other
 * pages, so it is met once, when the walk reaches its index. The section is renewed where the
 * walk goes on to another page, so that a long walk holds back one page at most.
 */
void *pfs_walk_next(struct pfs_walk *walk)
{
	struct pfs_container *self = walk->thread->container;
	uint32_t page_records = self->config.page_records;

	for (;;) {
		if (walk->next_index % page_records == 0) {
			pfs_leave(walk->thread);
			pfs_enter(walk->thread);
		}
		if (walk->next_index / page_records >= pfs_container_page_limit(self))
			return NULL;
		void *record = record_at(self, walk->next_index);
		if (record == NULL) {
			walk->next_index = (walk->next_index / page_records + 1) * page_records;
			continue;
		}
		walk->index = walk->next_index++;
		walk->glance = pfs_read_begin(record);
		if (walk->kind == PFS_WALK_ALL ||
		    pfs_word_state(walk->glance.word) == PFS_STATE_ALLOCATED)
			return record;
		skip_free(walk, self);
	}
}

void pfs_walk_end(struct pfs_walk *walk)
{
	pfs_leave(walk->thread);
	walk->thread = NULL;
}
