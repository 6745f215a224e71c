/*
 * occupancy.c - the search: hints, summaries, then the proof of proof.c.
 */
#include "occupancy.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "random.h"
#include "summary.h"

enum pfs_status pfs_occupancy_start(struct pfs_container *self)
{
	uint32_t pages = self->config.page_max != 0 ? self->config.page_max : 1;
	struct pfs_occupancy *index = calloc(1, sizeof(*index));
	if (index == NULL)
		return PFS_NO_MEMORY;
	index->set_words = pfs_ceil_div(pages, 64);
	index->node_count = pfs_memory_node_count() + 1;
	index->pages = calloc(pages, sizeof(*index->pages));
	index->pages_with_room = calloc((size_t)index->set_words * index->node_count * 2,
					sizeof(*index->pages_with_room));
	if (PFS_COUNTED)
		index->watched = calloc((size_t)pages * pfs_ceil_div(self->config.page_records,
								     PFS_WORD_RECORDS),
					sizeof(*index->watched));
	self->policy = index;
	if (index->pages != NULL && index->pages_with_room != NULL &&
	    (!PFS_COUNTED || index->watched != NULL))
		return PFS_OK;
	pfs_occupancy_stop(self);
	return PFS_NO_MEMORY;
}

void pfs_occupancy_stop(struct pfs_container *self)
{
	struct pfs_occupancy *index = self->policy;
	for (uint32_t page = 0; index->pages != NULL && page < self->config.page_max; page++) {
		struct pfs_occupancy_page *entry = pfs_summary_page_at(self, page);
		if (entry == NULL)
			continue;
		free((void *)entry->words_with_room);
		free(entry->words);
		free(entry);
	}
	if (index->spare != NULL)
		pfs_container_unmap(self, index->spare);
	free((void *)index->pages);
	free((void *)index->pages_with_room);
	free(index->watched);
	free(index);
}

enum pfs_status pfs_occupancy_thread_start(struct pfs_thread *thread)
{
	thread->policy = calloc(1, sizeof(struct pfs_occupancy_thread));
	pfs_occupancy_scatter(thread);
	return thread->policy != NULL ? PFS_OK : PFS_NO_MEMORY;
}

void pfs_occupancy_scatter(struct pfs_thread *thread)
{
	uint32_t limit = pfs_container_page_limit(thread->container);
	thread->home_page = limit != 0 ? pfs_random_below(&thread->random, limit) : 0;
}

void pfs_occupancy_thread_stop(struct pfs_thread *thread)
{
	free(thread->policy);
	thread->policy = NULL;
}

void pfs_occupancy_announce(struct pfs_container *self, struct pfs_occupancy_word *word)
{
	pfs_summary_set(word->page->words_with_room, word->number);
	pfs_summary_announce_page(self, word->page);
}

static bool has_room(struct pfs_occupancy_word *word)
{
	/* [W9] seq, pairs with [W6]: after the summary was cleared. */
	return (uint32_t)pfs_load_seq(&word->free) != 0;
}

/* A search found the word empty: take its bit back, unless a free came in between. */
static void retract_word(struct pfs_occupancy_word *word)
{
	pfs_summary_clear(word->page->words_with_room, word->number);
	if (has_room(word))
		pfs_summary_set(word->page->words_with_room, word->number);
}

static void retract_page(_Atomic(uint64_t) *pages, struct pfs_occupancy_page *entry)
{
	pfs_summary_clear(pages, entry->index);
	if (pfs_summary_some_word(entry))
		pfs_summary_set(pages, entry->index);
}

/* The next set bit at or after a position, up to count; count if there is none. */
static uint32_t next_bit(_Atomic(uint64_t) *words, uint32_t position, uint32_t count)
{
	while (position < count) {
		/* relaxed: a hint; what is found is looked at, what is missed is proved. */
		uint64_t word = pfs_load_relaxed(&words[position / 64]) >> (position % 64);
		if (word != 0) {
			position += (uint32_t)__builtin_ctzll(word);
			return position < count ? position : count;
		}
		position = (position / 64 + 1) * 64;
	}
	return count;
}

/* Does some page of the thread's node that does not drain show room? */
static bool node_has_room(struct pfs_thread *thread)
{
	struct pfs_container *self = thread->container;
	uint32_t limit = pfs_container_page_limit(self);
	return next_bit(pfs_summary_pages(self->policy, thread->node, false), 0, limit) < limit;
}

/* Hints lead to other nodes only while this one shows no room: without them, all threads of a
 * node without pages search the same few summary lines. */
static bool is_preferred(struct pfs_thread *thread, struct pfs_occupancy_page *page)
{
	return !pfs_occupancy_drains(page) &&
	       (pfs_occupancy_is_near(thread, page) || !node_has_room(thread));
}

void pfs_occupancy_remember_far(struct pfs_thread *thread, struct pfs_occupancy_word *word,
				uint64_t seen)
{
	if (is_preferred(thread, word->page))
		pfs_occupancy_remember(thread, word, seen);
}

static struct pfs_claim take_and_stay(struct pfs_thread *thread, struct pfs_occupancy_word *word)
{
	uint64_t seen = 0;
	struct pfs_claim claim = pfs_occupancy_take(thread, word, &seen);
	if (claim.record == NULL)
		return claim;
	thread->home_page = word->page->index;
	pfs_occupancy_remember(thread, word, seen);
	return claim;
}

/* The announced words in [from, to) of a page. */
static struct pfs_claim search_words(struct pfs_thread *thread, struct pfs_occupancy_page *entry,
				     uint32_t from, uint32_t to)
{
	uint32_t number = next_bit(entry->words_with_room, from, to);
	for (; number < to; number = next_bit(entry->words_with_room, number + 1, to)) {
		struct pfs_claim claim = take_and_stay(thread, &entry->words[number]);
		if (claim.record != NULL)
			return claim;
		retract_word(&entry->words[number]);
	}
	return pfs_claim_none();
}

/* Threads that come to one page start at different words of it. */
static struct pfs_claim search_page(struct pfs_thread *thread, struct pfs_occupancy_page *entry)
{
	uint32_t start = pfs_random_below(&thread->random, entry->word_count);
	pfs_count(thread, PFS_EVENT_PAGE_PROBES, 1);
	struct pfs_claim claim = search_words(thread, entry, start, entry->word_count);
	return claim.record != NULL ? claim : search_words(thread, entry, 0, start);
}

static struct pfs_claim search_pages(struct pfs_thread *thread, _Atomic(uint64_t) *pages,
				     uint32_t from, uint32_t to)
{
	struct pfs_container *self = thread->container;
	uint32_t page = next_bit(pages, from, to);
	for (; page < to; page = next_bit(pages, page + 1, to)) {
		struct pfs_occupancy_page *entry = pfs_summary_page_at(self, page);
		struct pfs_claim claim = search_page(thread, entry);
		if (claim.record != NULL)
			return claim;
		retract_page(pages, entry);
	}
	return pfs_claim_none();
}

/* One set, all round from this thread's home page. */
static struct pfs_claim search_set(struct pfs_thread *thread, uint32_t node, bool draining)
{
	struct pfs_container *self = thread->container;
	_Atomic(uint64_t) *pages = pfs_summary_pages(self->policy, node, draining);
	uint32_t limit = pfs_container_page_limit(self);
	uint32_t home = thread->home_page < limit ? thread->home_page : 0;
	struct pfs_claim claim = search_pages(thread, pages, home, limit);
	return claim.record != NULL ? claim : search_pages(thread, pages, 0, home);
}

/* Kept pages before draining ones, and the caller's node before any other. */
static struct pfs_claim search_summaries(struct pfs_thread *thread)
{
	struct pfs_occupancy *index = thread->container->policy;
	uint32_t own = thread->node < index->node_count - 1 ? thread->node
							    : index->node_count - 1;
	struct pfs_claim claim = pfs_claim_none();
	for (uint32_t step = 0; claim.record == NULL && step < index->node_count; step++) {
		uint32_t node = (own + step) % index->node_count;
		claim = search_set(thread, node, false);
		if (claim.record == NULL)
			claim = search_set(thread, node, true);
	}
	return claim;
}

/* Older hints: words that this thread used before. Those that fail are forgotten. */
static struct pfs_claim search_hints(struct pfs_thread *thread)
{
	struct pfs_occupancy_thread *own = thread->policy;
	for (uint32_t tried = 0; tried < PFS_HINTS; tried++) {
		own->latest = own->older[own->top];
		if (own->latest.word == NULL)
			break;
		own->older[own->top].word = NULL;
		own->top = (own->top + PFS_HINTS - 1) % PFS_HINTS;
		if (!is_preferred(thread, own->latest.word->page))
			continue;
		struct pfs_claim claim =
			pfs_occupancy_take(thread, own->latest.word, &own->latest.seen);
		if (claim.record != NULL)
			return claim;
	}
	return pfs_claim_none();
}

/*
 * The CAS of the latest hint was lost: other threads use the word too. Threads that stayed
 * would send its line to and fro for as long as it has room, so one loss in PFS_LOSSES makes
 * the thread leave: the search forgets the hint. After the others the record is taken here,
 * where the line is now: leaving gains nothing where all words are shared. On the simulated
 * machine leaving always was no better for 2 threads, and worse for 16 threads on 8 words.
 */
static struct pfs_claim search_latest(struct pfs_thread *thread)
{
	struct pfs_occupancy_thread *own = thread->policy;
	struct pfs_occupancy_hint *hint = &own->latest;
	if ((uint32_t)hint->seen == 0 || hint->word == NULL ||
	    pfs_occupancy_drains(hint->word->page) || ++own->losses % PFS_LOSSES == 0)
		return pfs_claim_none();
	return pfs_occupancy_take(thread, hint->word, &hint->seen);
}

/* The clear bits of two neighbouring words: records that may be in use. */
static uint64_t used_bits(struct pfs_occupancy_page *entry, uint32_t number)
{
	/* relaxed, both: a record that is live all the while is clear in every value that this
	 * may return; its word is read by the optimistic protocol afterwards. */
	uint64_t all = (UINT64_C(1) << PFS_WORD_RECORDS) - 1;
	uint64_t used = ~pfs_load_relaxed(&entry->words[number].free) & all;
	if (number + 1 < entry->word_count) /* relaxed: as above */
		used |= (~pfs_load_relaxed(&entry->words[number + 1].free) & all)
			<< PFS_WORD_RECORDS;
	return used;
}

uint32_t pfs_occupancy_next_used(struct pfs_container *self, uint32_t page, uint32_t slot)
{
	struct pfs_occupancy_page *entry = pfs_summary_page_at(self, page);
	if (entry == NULL)
		return UINT32_MAX;
	uint32_t number = slot / PFS_WORD_RECORDS;
	uint64_t mask = UINT64_MAX << (slot % PFS_WORD_RECORDS);
	for (; number < entry->word_count; number += 2, mask = UINT64_MAX) {
		uint64_t used = used_bits(entry, number) & mask;
		if (used != 0)
			return number * PFS_WORD_RECORDS + (uint32_t)__builtin_ctzll(used);
	}
	return UINT32_MAX;
}

struct pfs_claim pfs_occupancy_search(struct pfs_thread *thread)
{
	struct pfs_container *self = thread->container;
	struct pfs_claim latest = search_latest(thread);
	if (latest.record != NULL)
		return latest;
	for (;;) {
		struct pfs_occupancy_word *word = NULL;
		struct pfs_claim claim = search_hints(thread);
		if (claim.record == NULL)
			claim = search_summaries(thread);
		if (claim.record != NULL)
			return claim;
		enum pfs_proof proof = pfs_proof_or_growth(thread, &claim, &word);
		if (proof == PFS_PROOF_CLAIM)
			return claim;
		if (proof == PFS_PROOF_REFUSED)
			return pfs_container_refuse(thread, thread->growth);
		if (proof == PFS_PROOF_ROOM) {
			pfs_occupancy_announce(self, word);
			claim = take_and_stay(thread, word);
			if (claim.record != NULL)
				return claim;
		}
		/* A record was freed or taken by another thread meanwhile: it made progress. */
	}
}

