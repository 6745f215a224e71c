#include "occupancy.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "random.h"

static struct pfs_occupancy_page *entry_of(const struct pfs_page *page)
{
	struct pfs_occupancy_word *words = page->index_words;
	return words[0].page;
}

static uint32_t ceil_div(uint32_t value, uint32_t unit)
{
	return value / unit + (value % unit != 0);
}

enum pfs_status pfs_occupancy_start(struct pfs_container *self)
{
	uint32_t pages = self->config.page_max != 0 ? self->config.page_max : 1;
	struct pfs_occupancy *index = calloc(1, sizeof(*index));
	if (index == NULL)
		return PFS_NO_MEMORY;
	index->set_words = ceil_div(pages, 64);
	index->node_count = pfs_memory_node_count() + 1;
	index->pages = calloc(pages, sizeof(*index->pages));
	index->pages_with_room = calloc((size_t)index->set_words * index->node_count * 2,
					sizeof(*index->pages_with_room));
	self->policy = index;
	if (index->pages != NULL && index->pages_with_room != NULL)
		return PFS_OK;
	pfs_occupancy_stop(self);
	return PFS_NO_MEMORY;
}

static struct pfs_occupancy_page *entry_at(struct pfs_container *self, uint32_t page)
{
	struct pfs_occupancy *index = self->policy;
	/* [W8] acquire, pairs with [W7]: the entry's words are there. */
	return pfs_load_acquire(&index->pages[page]);
}

void pfs_occupancy_stop(struct pfs_container *self)
{
	struct pfs_occupancy *index = self->policy;
	for (uint32_t page = 0; index->pages != NULL && page < self->config.page_max; page++) {
		struct pfs_occupancy_page *entry = entry_at(self, page);
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
	free(index);
}

enum pfs_status pfs_occupancy_thread_start(struct pfs_thread *thread)
{
	thread->policy = calloc(1, sizeof(struct pfs_occupancy_thread));
	/* Spread over the pages that are there, so that threads do not meet at the start. */
	uint32_t limit = pfs_container_page_limit(thread->container);
	thread->home_page = limit != 0 ? pfs_random_below(&thread->random, limit) : 0;
	return thread->policy != NULL ? PFS_OK : PFS_NO_MEMORY;
}

void pfs_occupancy_thread_stop(struct pfs_thread *thread)
{
	free(thread->policy);
	thread->policy = NULL;
}

/* The set of pages with room of a node, and of the pages that drain there or do not. */
static _Atomic(uint64_t) *pages_bits(struct pfs_occupancy *index, uint32_t node, bool draining)
{
	uint32_t set = (node < index->node_count - 1 ? node : index->node_count - 1) * 2;
	return index->pages_with_room + (size_t)(set + draining) * index->set_words;
}

static void bit_set(_Atomic(uint64_t) *words, uint32_t bit)
{
	uint64_t mask = UINT64_C(1) << (bit % 64);
	/* [W6] seq: see the head of occupancy.h. */
	if ((pfs_load_seq(&words[bit / 64]) & mask) == 0)
		(void)pfs_fetch_or_seq(&words[bit / 64], mask);
}

static void bit_clear(_Atomic(uint64_t) *words, uint32_t bit)
{
	/* [W6] seq: see the head of occupancy.h. */
	(void)pfs_fetch_and_seq(&words[bit / 64], ~(UINT64_C(1) << (bit % 64)));
}

static void announce_page(struct pfs_container *self, struct pfs_occupancy_page *entry)
{
	/* relaxed, both: a preference; a page announced in the set that it just left is found
	 * there, or by the proof. */
	uint32_t node = pfs_load_relaxed(&entry->node);
	bool draining = pfs_load_relaxed(&entry->draining) != 0; /* relaxed: likewise */
	bit_set(pages_bits(self->policy, node, draining), entry->index);
}

void pfs_occupancy_announce(struct pfs_container *self, struct pfs_occupancy_word *word)
{
	bit_set(word->page->words_with_room, word->number);
	announce_page(self, word->page);
}

static bool has_room(struct pfs_occupancy_word *word)
{
	/* [W6] seq: see the head of occupancy.h. */
	return (uint32_t)pfs_load_seq(&word->free) != 0;
}

/* A search found the word empty: take its bit back, unless a free came in between. */
static void retract_word(struct pfs_occupancy_word *word)
{
	bit_clear(word->page->words_with_room, word->number);
	if (has_room(word))
		bit_set(word->page->words_with_room, word->number);
}

static bool some_word_announced(struct pfs_occupancy_page *entry)
{
	uint64_t any = 0;
	for (uint32_t i = 0; i < ceil_div(entry->word_count, 64); i++)
		any |= pfs_load_seq(&entry->words_with_room[i]); /* [W6] seq */
	return any != 0;
}

static void retract_page(_Atomic(uint64_t) *pages, struct pfs_occupancy_page *entry)
{
	bit_clear(pages, entry->index);
	if (some_word_announced(entry))
		bit_set(pages, entry->index);
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
		struct pfs_occupancy_page *entry = entry_at(self, page);
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
	_Atomic(uint64_t) *pages = pages_bits(self->policy, node, draining);
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
		struct pfs_claim claim =
			pfs_occupancy_take(thread, own->latest.word, &own->latest.seen);
		if (claim.record != NULL)
			return claim;
	}
	return pfs_claim_none();
}

/*
 * One round of the double collect: a word with room, or NULL and the sum of all versions.
 *
 * [W5] seq, pairs with [W1] and [W2]: if a take is seen, so is every free that its thread did
 * before; and the rounds are read in order. Without it a free could be missed although the
 * take that it was traded for is seen, and a full container reported that never was.
 */
static struct pfs_occupancy_word *collect(struct pfs_container *self, uint64_t *versions)
{
	uint32_t limit = pfs_container_page_limit(self);
	*versions = 0;
	for (uint32_t page = 0; page < limit; page++) {
		struct pfs_occupancy_page *entry = entry_at(self, page);
		for (uint32_t i = 0; entry != NULL && i < entry->word_count; i++) {
			uint64_t word = pfs_load_seq(&entry->words[i].free); /* [W5] */
			if ((uint32_t)word != 0)
				return &entry->words[i];
			*versions += word >> 32;
		}
	}
	return NULL;
}

/*
 * Under `growth`, so that the pages stay the same. Versions count modulo 2^32, and so does
 * their sum: equal sums mean no free in between, or 2^32 of them.
 */
static struct pfs_occupancy_word *prove_none_free(struct pfs_container *self, bool *proved)
{
	uint64_t first = 0;
	uint64_t second = 0;
	struct pfs_occupancy_word *word = collect(self, &first);
	if (word == NULL)
		word = collect(self, &second);
	*proved = word == NULL && (uint32_t)first == (uint32_t)second;
	return word;
}

int pfs_occupancy_some_free(struct pfs_container *self)
{
	uint64_t versions = 0;
	return collect(self, &versions) != NULL;
}

static struct pfs_occupancy_page *entry_new(struct pfs_container *self, uint32_t page)
{
	struct pfs_occupancy *index = self->policy;
	uint32_t words = ceil_div(self->config.page_records, PFS_WORD_RECORDS);
	struct pfs_occupancy_page *entry = calloc(1, sizeof(*entry));
	if (entry == NULL)
		return NULL;
	entry->word_count = words;
	entry->index = page;
	entry->words = aligned_alloc(PFS_LINE, words * sizeof(*entry->words));
	entry->words_with_room = calloc(ceil_div(words, 64), sizeof(*entry->words_with_room));
	if (entry->words == NULL || entry->words_with_room == NULL) {
		free(entry->words);
		free((void *)entry->words_with_room);
		free(entry);
		return NULL;
	}
	memset((void *)entry->words, 0, words * sizeof(*entry->words));
	for (uint32_t i = 0; i < words; i++) {
		entry->words[i].page = entry;
		entry->words[i].number = i;
		entry->words[i].room = &entry->words_with_room[i / 64];
		entry->words[i].room_bit = UINT64_C(1) << (i % 64);
	}
	/* [W7] release, pairs with [W8]: the words are complete. */
	pfs_store_release(&index->pages[page], entry);
	return entry;
}

/* Under `growth`: the page for the lowest hole, made now or left over from a proof that
 * failed. NULL with thread->status. */
static struct pfs_page *spare_page(struct pfs_thread *thread)
{
	struct pfs_container *self = thread->container;
	struct pfs_occupancy *index = self->policy;
	uint32_t hole = pfs_growth_hole(self);
	thread->status = hole == self->page_capacity ? PFS_FULL : PFS_OK;
	if (thread->status == PFS_FULL)
		return NULL;
	if (index->spare != NULL && index->spare->index != hole) {
		pfs_container_unmap(self, index->spare);
		index->spare = NULL;
	}
	if (index->spare == NULL)
		index->spare = pfs_growth_make(thread, hole);
	if (index->spare != NULL && entry_at(self, hole) == NULL && entry_new(self, hole) == NULL)
		thread->status = PFS_NO_MEMORY;
	return thread->status == PFS_OK ? index->spare : NULL;
}

/* The bits of a word's records: all 32, or fewer in the last word of a page. */
static uint64_t all_bits(const struct pfs_page *page, uint32_t number)
{
	uint32_t left = page->slot_count - number * PFS_WORD_RECORDS;
	if (page->slot_count <= number * PFS_WORD_RECORDS)
		return 0;
	return left >= PFS_WORD_RECORDS ? UINT32_MAX : (UINT64_C(1) << left) - 1;
}

/*
 * Under `growth`: publish the spare page, with the bits of all its records set but those of
 * the first word that the caller keeps for itself.
 */
static struct pfs_occupancy_page *open_page(struct pfs_thread *thread, uint64_t kept)
{
	struct pfs_container *self = thread->container;
	struct pfs_occupancy *index = self->policy;
	struct pfs_page *page = index->spare;
	struct pfs_occupancy_page *entry = entry_at(self, page->index);
	index->spare = NULL;
	page->index_words = entry->words;
	pfs_store_relaxed(&entry->node, page->node); /* relaxed: a preference */
	pfs_store_relaxed(&entry->draining, 0);      /* relaxed: a preference */
	pfs_growth_publish(self, page);
	for (uint32_t i = 0; i < entry->word_count; i++) {
		struct pfs_occupancy_word *word = &entry->words[i];
		word->first_record = pfs_page_record(page, i * PFS_WORD_RECORDS);
		word->first_lock = (char *)pfs_page_lock(page, i * PFS_WORD_RECORDS);
		word->record_stride = (uint32_t)page->record_stride;
		word->lock_stride = (uint32_t)page->word_stride;
		/* relaxed: no record of the page is out, so nobody else writes the word. */
		uint64_t version = (pfs_load_relaxed(&word->free) >> 32) + 1;
		uint64_t bits = all_bits(page, i) & ~(i == 0 ? kept : 0);
		/* [W4] release, pairs with [W1]: first_record and the page's words go first. */
		pfs_store_release(&word->free, version << 32 | bits);
		if (bits != 0)
			bit_set(entry->words_with_room, i);
	}
	if (some_word_announced(entry))
		announce_page(self, entry);
	return entry;
}

/* Under `growth`: whoever adds a page gets a record of it. */
static struct pfs_claim open_and_claim(struct pfs_thread *thread)
{
	struct pfs_occupancy_page *entry = open_page(thread, 1);
	thread->home_page = entry->index;
	return pfs_occupancy_claim(thread, &entry->words[0], 0);
}

enum pfs_status pfs_occupancy_add_page(struct pfs_thread *thread)
{
	struct pfs_container *self = thread->container;
	pfs_mutex_lock(&self->growth);
	if (spare_page(thread) != NULL)
		(void)open_page(thread, 0);
	pfs_mutex_unlock(&self->growth);
	return thread->status;
}

enum outcome { OUTCOME_CLAIM, OUTCOME_WORD, OUTCOME_AGAIN, OUTCOME_REFUSED };

/*
 * Under `growth`. The page is made before the proof, so that nothing slow stands between the
 * proof and the publishing.
 */
static enum outcome prove_and_grow(struct pfs_thread *thread, struct pfs_claim *claim,
				   struct pfs_occupancy_word **word)
{
	struct pfs_container *self = thread->container;
	bool proved = false;
	*word = prove_none_free(self, &proved);
	if (*word != NULL)
		return OUTCOME_WORD;
	bool has_page = spare_page(thread) != NULL;
	*word = prove_none_free(self, &proved);
	if (*word != NULL)
		return OUTCOME_WORD;
	if (!proved)
		return OUTCOME_AGAIN;
	if (!has_page)
		return OUTCOME_REFUSED;
	*claim = open_and_claim(thread);
	return OUTCOME_CLAIM;
}

struct pfs_claim pfs_occupancy_search(struct pfs_thread *thread)
{
	struct pfs_container *self = thread->container;
	for (;;) {
		struct pfs_occupancy_word *word = NULL;
		struct pfs_claim claim = search_hints(thread);
		if (claim.record == NULL)
			claim = search_summaries(thread);
		if (claim.record != NULL)
			return claim;
		pfs_mutex_lock(&self->growth);
		enum outcome outcome = prove_and_grow(thread, &claim, &word);
		pfs_mutex_unlock(&self->growth);
		if (outcome == OUTCOME_CLAIM)
			return claim;
		if (outcome == OUTCOME_REFUSED)
			return pfs_container_refuse(thread, thread->status);
		if (outcome == OUTCOME_WORD) {
			pfs_occupancy_announce(self, word);
			claim = take_and_stay(thread, word);
			if (claim.record != NULL)
				return claim;
		}
		/* A record was freed or taken by another thread meanwhile: it made progress. */
	}
}

/*
 * [W3] Own every record of the page: each word from all free to none, version unchanged. The
 * words already taken are freed again if one is not all free. Under `growth`, so that no proof
 * takes these records for used ones.
 */
static bool take_page(struct pfs_page *page)
{
	struct pfs_occupancy_page *entry = entry_of(page);
	uint32_t taken = 0;
	for (; taken < entry->word_count; taken++) {
		struct pfs_occupancy_word *word = &entry->words[taken];
		uint64_t seen = pfs_load_relaxed(&word->free); /* relaxed: [W3] verifies it */
		uint64_t bits = all_bits(page, taken);
		/* [W3] acq_rel, pairs with [W2]: the last owners' accesses to the page come
		 * before its memory goes. */
		if ((uint32_t)seen != bits || !pfs_cas_acq_rel(&word->free, &seen, seen - bits))
			break;
	}
	if (taken == entry->word_count)
		return true;
	while (taken-- > 0) {
		/* [W2] seq: as any free. */
		(void)pfs_fetch_add_seq(&entry->words[taken].free,
					all_bits(page, taken) + PFS_WORD_FREES);
		bit_set(entry->words_with_room, taken);
	}
	return false;
}

static bool retire(struct pfs_container *self, struct pfs_page *page)
{
	pfs_mutex_lock(&self->growth);
	bool taken = take_page(page);
	if (taken)
		pfs_growth_unlink(self, page);
	pfs_mutex_unlock(&self->growth);
	return taken;
}

static void marked(struct pfs_container *self, struct pfs_page *page)
{
	struct pfs_occupancy_page *entry = entry_of(page);
	/* relaxed, both: written by passes alone, and a preference. */
	uint32_t draining = pfs_load_relaxed(&page->draining);
	pfs_store_relaxed(&entry->draining, draining); /* relaxed: a preference */
	bit_clear(pages_bits(self->policy, page->node, draining == 0), entry->index);
	if (some_word_announced(entry))
		announce_page(self, entry);
}

const struct pfs_reclaim_ops pfs_reclaim_by_occupancy = { .retire = retire, .marked = marked };
