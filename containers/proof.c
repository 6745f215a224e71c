/*
 * proof.c - no record is free: proved, and then a page is added; and pages are taken.
 *
 * Everything here runs under `growth`. The edges are those of occupancy.h and summary.h.
 */
#include <stdlib.h>
#include <string.h>

#include "summary.h"

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
		struct pfs_occupancy_page *entry = pfs_summary_page_at(self, page);
		for (uint32_t i = 0; entry != NULL && i < entry->word_count; i++) {
			uint64_t word = pfs_load_seq(&entry->words[i].free); /* [W5] */
			if ((uint32_t)word != 0)
				return &entry->words[i];
			*versions += word >> 32;
		}
	}
	return NULL;
}

static bool caches_are_empty(struct pfs_container *self, uint64_t *frees)
{
	const struct pfs_occupancy *index = self->policy;
	*frees = 0;
	return index->caches == NULL || index->caches->are_empty(self, frees);
}

/*
 * Under `growth`, so that the pages stay the same. Versions count modulo 2^32, and so does
 * their sum: equal sums mean no free in between, or 2^32 of them.
 */
static struct pfs_occupancy_word *prove_none_free(struct pfs_container *self, bool *proved)
{
	const struct pfs_occupancy *index = self->policy;
	uint64_t first[2] = { 0, 0 };
	uint64_t second[2] = { 0, 0 };
	bool caches_empty = caches_are_empty(self, &first[1]);
	struct pfs_occupancy_word *word = collect(self, &first[0]);
	if (word == NULL) {
		if (index->caches != NULL)
			index->caches->catch_up(self);
		caches_empty = caches_are_empty(self, &second[1]) && caches_empty;
		word = collect(self, &second[0]);
	}
	*proved = word == NULL && caches_empty && first[1] == second[1] &&
		  (uint32_t)first[0] == (uint32_t)second[0];
	return word;
}

static struct pfs_occupancy_page *entry_new(struct pfs_container *self, uint32_t page)
{
	struct pfs_occupancy *index = self->policy;
	uint32_t words = pfs_ceil_div(self->config.page_records, PFS_WORD_RECORDS);
	struct pfs_occupancy_page *entry = calloc(1, sizeof(*entry));
	if (entry == NULL)
		return NULL;
	entry->word_count = words;
	entry->index = page;
	entry->words = aligned_alloc(PFS_LINE, words * sizeof(*entry->words));
	entry->words_with_room = calloc(pfs_ceil_div(words, 64), sizeof(*entry->words_with_room));
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
 * failed. NULL with thread->growth. */
static struct pfs_page *spare_page(struct pfs_thread *thread)
{
	struct pfs_container *self = thread->container;
	struct pfs_occupancy *index = self->policy;
	uint32_t hole = thread->stays ? self->page_capacity : pfs_growth_hole(self);
	thread->growth = hole == self->page_capacity ? PFS_FULL : PFS_OK;
	if (thread->growth == PFS_FULL)
		return NULL;
	if (index->spare != NULL && index->spare->index != hole) {
		pfs_container_unmap(self, index->spare);
		index->spare = NULL;
	}
	if (index->spare == NULL)
		index->spare = pfs_growth_make(thread, hole);
	if (index->spare != NULL && pfs_summary_page_at(self, hole) == NULL &&
	    entry_new(self, hole) == NULL)
		thread->growth = PFS_NO_MEMORY;
	return thread->growth == PFS_OK ? index->spare : NULL;
}

/* The bits of a word's records: all of them, or fewer in the last word of a page. */
static uint64_t all_bits(const struct pfs_page *page, uint32_t number)
{
	uint32_t first = number * PFS_WORD_RECORDS;
	uint32_t left = page->slot_count > first ? page->slot_count - first : 0;
	return (UINT64_C(1) << (left < PFS_WORD_RECORDS ? left : PFS_WORD_RECORDS)) - 1;
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
	struct pfs_occupancy_page *entry = pfs_summary_page_at(self, page->index);
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
			pfs_summary_set(entry->words_with_room, i);
	}
	if (pfs_summary_some_word(entry))
		pfs_summary_announce_page(self, entry);
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
	return thread->growth;
}

/*
 * The page is made before the proof, so that nothing slow stands between the proof and the
 * publishing.
 */
static enum pfs_proof prove_and_grow(struct pfs_thread *thread, struct pfs_claim *claim,
				     struct pfs_occupancy_word **word)
{
	struct pfs_container *self = thread->container;
	const struct pfs_occupancy *index = self->policy;
	bool proved = false;
	pfs_needless_watch(self);
	if (index->caches != NULL && index->caches->take_back(self) != 0)
		return PFS_PROOF_AGAIN;
	*word = prove_none_free(self, &proved);
	if (*word != NULL)
		return PFS_PROOF_ROOM;
	bool has_page = spare_page(thread) != NULL;
	*word = prove_none_free(self, &proved);
	if (*word != NULL)
		return PFS_PROOF_ROOM;
	if (!proved)
		return PFS_PROOF_AGAIN;
	if (!has_page)
		return PFS_PROOF_REFUSED;
	*claim = open_and_claim(thread);
	return PFS_PROOF_CLAIM;
}

enum pfs_proof pfs_proof_or_growth(struct pfs_thread *thread, struct pfs_claim *claim,
				   struct pfs_occupancy_word **word)
{
	struct pfs_container *self = thread->container;
	pfs_mutex_lock(&self->growth);
	enum pfs_proof proof = prove_and_grow(thread, claim, word);
	pfs_mutex_unlock(&self->growth);
	return proof;
}

/*
 * [W3] Own every record of the page: each word from all free to none, version unchanged. The
 * words already taken are freed again if one is not all free. Under `growth`, so that no proof
 * takes these records for used ones.
 */
static bool take_page(struct pfs_container *self, struct pfs_page *page)
{
	struct pfs_occupancy_page *entry = pfs_summary_page_of(page);
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
		pfs_summary_set(entry->words_with_room, taken);
	}
	pfs_summary_announce_page(self, entry);
	return false;
}

static bool retire(struct pfs_container *self, struct pfs_page *page)
{
	bool taken = take_page(self, page);
	if (taken)
		pfs_growth_unlink(self, page);
	return taken;
}

static void marked(struct pfs_container *self, struct pfs_page *page)
{
	struct pfs_occupancy_page *entry = pfs_summary_page_of(page);
	/* relaxed, both: written by passes alone, and a preference. */
	uint32_t draining = pfs_load_relaxed(&page->draining);
	pfs_store_relaxed(&entry->draining, draining); /* relaxed: a preference */
	pfs_summary_clear(pfs_summary_pages(self->policy, page->node, draining == 0), entry->index);
	if (pfs_summary_some_word(entry))
		pfs_summary_announce_page(self, entry);
}

/* Records in caches keep their pages: take them back first. */
static void begin(struct pfs_container *self)
{
	const struct pfs_occupancy *index = self->policy;
	if (index->caches == NULL)
		return;
	pfs_mutex_lock(&self->growth);
	(void)index->caches->take_back(self);
	pfs_mutex_unlock(&self->growth);
}

static void trim(struct pfs_container *self)
{
	struct pfs_occupancy *index = self->policy;
	pfs_mutex_lock(&self->growth);
	if (index->spare != NULL)
		pfs_container_unmap(self, index->spare);
	index->spare = NULL;
	pfs_mutex_unlock(&self->growth);
}

static const struct pfs_reclaim_ops by_occupancy = {
	.begin = begin,
	.retire = retire,
	.marked = marked,
	.trim = trim,
};

uint32_t pfs_occupancy_reclaim(struct pfs_thread *thread, enum pfs_reclaim_kind kind)
{
	return pfs_reclaim_run(thread, kind, &by_occupancy);
}
