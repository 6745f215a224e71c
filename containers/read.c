/*
 * read.c - readers: look-up by index or address, optimistic reads, walks.
 *
 * Everything here tolerates holes in the directory, and pages that come and go meanwhile.
 */
#include <string.h>

#include "lives.h"
#include "place.h"

static const struct pfs_place nowhere = { NULL, 0 };

/* The place of an index if its page exists; does not read the record's state. */
static struct pfs_place place_at(struct pfs_container *self, uint64_t index)
{
	uint32_t page_records = self->config.page_records;
	if (index / page_records >= pfs_container_page_limit(self))
		return nowhere;
	struct pfs_page *page = pfs_container_page(self, (uint32_t)(index / page_records));
	uint32_t slot = (uint32_t)(index % page_records);
	if (page == NULL || slot >= page->slot_count)
		return nowhere;
	return (struct pfs_place){ page, slot };
}

/* The word of a place at this moment; without words, that of a free record. */
static uint32_t word_at(struct pfs_place place)
{
	struct pfs_lock *lock = pfs_page_lock(place.page, place.slot);
	return lock != NULL ? pfs_lock_glance(lock) : PFS_STATE_FREE;
}

/* Without words the policy's index says what may be in use. */
static bool is_live(struct pfs_container *self, struct pfs_place place)
{
	if (place.page->words != NULL)
		return pfs_word_state(word_at(place)) == PFS_STATE_ALLOCATED;
	return self->variant->is_used(self, place.page->index, place.slot);
}

/* The record, if it is live. */
static void *live_record(struct pfs_container *self, struct pfs_place place)
{
	if (place.page == NULL || !is_live(self, place))
		return NULL;
	return pfs_page_record(place.page, place.slot);
}

void *pfs_lookup(struct pfs_thread *thread, uint64_t index)
{
	struct pfs_container *self = thread->container;
	pfs_enter(thread);
	void *record = live_record(self, place_at(self, index));
	pfs_leave(thread);
	return record;
}

/* The place of the record of a page whose user's bytes contain the byte at a pointer. */
static struct pfs_place place_with(const struct pfs_container *self, struct pfs_page *page,
				   const void *pointer)
{
	uintptr_t first = (uintptr_t)pfs_page_record(page, 0);
	size_t distance = (uintptr_t)pointer - first;
	if ((uintptr_t)pointer < first)
		return nowhere;
	uint32_t slot = pfs_page_slot_at(&self->shape, distance);
	if (slot >= page->slot_count ||
	    distance - slot * page->record_stride >= self->config.record_size_bytes)
		return nowhere;
	return (struct pfs_place){ page, slot };
}

void *pfs_lookup_address(struct pfs_thread *thread, const void *pointer)
{
	struct pfs_container *self = thread->container;
	void *record = NULL;
	if ((thread->traits & PFS_TRAIT_INDEX) == 0)
		return NULL;
	pfs_enter(thread);
	struct pfs_page *page = pfs_container_page_with(self, pointer);
	if (page != NULL)
		record = live_record(self, place_with(self, page, pointer));
	pfs_leave(thread);
	return record;
}

void *pfs_record_at(struct pfs_thread *thread, const void *pointer)
{
	struct pfs_container *self = thread->container;
	struct pfs_place place = nowhere;
	if ((thread->traits & PFS_TRAIT_INDEX) == 0)
		return NULL;
	pfs_enter(thread);
	struct pfs_page *page = pfs_container_page_with(self, pointer);
	if (page != NULL)
		place = place_with(self, page, pointer);
	void *record = place.page != NULL ? pfs_page_record(place.page, place.slot) : NULL;
	pfs_leave(thread);
	return record == pointer ? record : NULL;
}

bool pfs_owns(struct pfs_thread *thread, const void *pointer)
{
	return pointer != NULL && pfs_lookup_address(thread, pointer) == pointer;
}

/* The page of a record of any container; NULL: it is gone. The caller owns the record, or looked it
 * up in the current section. */
static struct pfs_page *page_by_map(const void *record)
{
	_Atomic(struct pfs_page *) *place = pfs_page_map_find(record);
	/* [C1] seq, pairs with [C2] and [C4]: as in pfs_container_page. */
	struct pfs_page *page = place != NULL ? pfs_load_seq(place) : NULL;
	bool has = page != NULL && (uintptr_t)record - (uintptr_t)pfs_page_granules(page) <
					   page->container->shape.granules_bytes;
	return has ? page : NULL;
}

/* The word of a record without a handle; NULL: it has none, or its page was given back. */
static struct pfs_lock *lock_by_map(const void *record)
{
	struct pfs_page *page = page_by_map(record);
	if (page == NULL)
		return NULL;
	if (page->is_bare == 0)
		return pfs_record_lock(record);
	struct pfs_place place = place_with(page->container, page, record);
	return place.page != NULL ? pfs_page_lock(place.page, place.slot) : NULL;
}

static struct pfs_lock *lock_of(const void *record)
{
	if (pfs_likely(!pfs_page_map_has_bare()))
		return pfs_record_lock(record);
	return lock_by_map(record);
}

struct pfs_container *pfs_container_of(const void *record)
{
	_Atomic(struct pfs_page *) *place = pfs_page_map_find(record);
	if (place == NULL)
		return NULL;
	/* [C1] seq, pairs with [C2] and [C4]: as in pfs_container_page. */
	const struct pfs_page *page = pfs_load_seq(place);
	return page != NULL ? page->container : NULL;
}

/* A record that was only looked up may have been freed since, and its page unlinked. */
static struct pfs_place bare_place_or_none(struct pfs_thread *thread, const void *record)
{
	struct pfs_page *page = pfs_container_page_with(thread->container, record);
	return page != NULL ? place_with(thread->container, page, record) : nowhere;
}

uint64_t pfs_index(struct pfs_thread *thread, const void *record)
{
	if ((thread->traits & PFS_TRAIT_INDEX) == 0)
		return PFS_INDEX_NONE;
	struct pfs_place place = pfs_is_bare(thread) ? bare_place_or_none(thread, record)
						     : pfs_header_place(record);
	if (place.page == NULL)
		return PFS_INDEX_NONE;
	return (uint64_t)place.page->index * thread->container->config.page_records + place.slot;
}

uint32_t pfs_version(const void *record)
{
	struct pfs_lock *lock = lock_of(record);
	return lock != NULL ? pfs_lock_glance(lock) / PFS_VERSION_ONE : 0;
}

struct pfs_reference pfs_reference_of(struct pfs_thread *thread, const void *record)
{
	const uint32_t needed = PFS_TRAIT_INDEX | PFS_TRAIT_WORDS;
	if ((thread->traits & needed) != needed)
		return (struct pfs_reference){ PFS_INDEX_NONE, 0 };
	return (struct pfs_reference){ pfs_index(thread, record), pfs_version(record) };
}

/* The word of a place if it is in the life that had this version; else that of a free record. */
static uint32_t word_of_life(struct pfs_place place, uint32_t version)
{
	_Atomic(uint64_t) *life = pfs_life_at(place);
	uint32_t word = word_at(place), seen;
	uint64_t entry;
	if (pfs_word_state(word) == PFS_STATE_ALLOCATED && word / PFS_VERSION_ONE == version)
		return word;
	if (life == NULL)
		return PFS_STATE_FREE;
	do {
		seen = word;
		entry = pfs_load_acquire(life); /* [L4] acquire: before the second look */
		word = word_at(place);
	} while (word != seen);
	return pfs_life_has(word, entry, version) ? word : PFS_STATE_FREE;
}

void *pfs_lookup_reference(struct pfs_thread *thread, struct pfs_reference reference,
			   struct pfs_glance *glance)
{
	pfs_enter(thread);
	struct pfs_place place = place_at(thread->container, reference.index);
	uint32_t word = place.page != NULL && place.page->words != NULL
				? word_of_life(place, reference.version)
				: PFS_STATE_FREE;
	bool is_it = word != PFS_STATE_FREE;
	void *record = is_it ? pfs_page_record(place.page, place.slot) : NULL;
	if (glance != NULL)
		*glance = (struct pfs_glance){ word };
	pfs_leave(thread);
	return record;
}

struct pfs_claim pfs_reopen(struct pfs_thread *thread, void *record)
{
	if ((thread->traits & PFS_TRAIT_WORDS) == 0)
		return (struct pfs_claim){ .record = record };
	struct pfs_lock *lock = pfs_lock_of(thread, record);
	if (!thread->container->config.lasting_references)
		return pfs_claim_of(record, lock, pfs_lock_allocated_to_dirty(lock));
	pfs_life_reopen(pfs_life_at(pfs_place_of(thread, record)),
			pfs_lock_glance(lock) / PFS_VERSION_ONE);
	/* Without an offset publish is a call, which extends the life. */
	return (struct pfs_claim){ .record = record,
				   .dirty_word = pfs_lock_allocated_to_dirty(lock) };
}

struct pfs_glance pfs_read_begin(const void *record)
{
	struct pfs_lock *lock = lock_of(record);
	return (struct pfs_glance){ lock != NULL ? pfs_lock_glance(lock) : PFS_STATE_FREE };
}

bool pfs_read_end(const void *record, struct pfs_glance glance)
{
	struct pfs_lock *lock = lock_of(record);
	return lock != NULL && pfs_lock_confirm(lock, glance.word);
}

void *pfs_tag(struct pfs_thread *thread, const void *record)
{
	struct pfs_container *self = thread->container;
	if (self->shape.tag_bytes == 0)
		return NULL;
	struct pfs_place place = pfs_bare_place(self, record);
	return place.page->tags + place.slot * self->shape.tag_bytes;
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
		/* [L5] release, pairs with [L6]: the DIRTY word goes before the bytes; without it a
		 * reader could take new bytes and still find the old word. */
		pfs_store_release(&to[i], value);
	}
}

void pfs_walk_begin(struct pfs_walk *walk, struct pfs_thread *thread, enum pfs_walk_kind kind)
{
	*walk = (struct pfs_walk){ .thread = thread, .kind = kind };
	pfs_enter(thread);
}

/*
 * The record just visited was free. If the policy has an index, skip the free records that follow.
 * A record that is live throughout has its bit clear throughout, so it is not skipped. Only after a
 * free record: where all are live, the query would cost something for each.
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
 * By index: a record that stays live keeps its page at its index, whatever happens to other pages,
 * so the walk meets it once, when it reaches its index. The section is renewed when the walk moves
 * to another page, so that a long walk holds back one page at most.
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
		struct pfs_place place = place_at(self, walk->next_index);
		if (place.page == NULL) {
			walk->next_index = (walk->next_index / page_records + 1) * page_records;
			continue;
		}
		walk->index = walk->next_index++;
		walk->glance = (struct pfs_glance){ word_at(place) };
		if (walk->kind == PFS_WALK_ALL ||
		    pfs_word_state(walk->glance.word) == PFS_STATE_ALLOCATED ||
		    (place.page->words == NULL && is_live(self, place)))
			return pfs_page_record(place.page, place.slot);
		skip_free(walk, self);
	}
}

void pfs_walk_end(struct pfs_walk *walk)
{
	pfs_leave(walk->thread);
	walk->thread = NULL;
}
