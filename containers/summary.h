/*
 * summary.h - where occupancy words with room may be: bits for words, bits for pages.
 *
 * Hints only: set by frees and by new pages, cleared by searches that found nothing. Between a
 * free (word, then summary) and a search (summary, then word) one sees the other, because both
 * sides are seq; were it not so, a free record would be found later, by the proof.
 *
 * Ordering:  [W6] summary: RMW and load, seq   <->  [W9] word: load, seq; and [W2]
 *            [W7] words of a page: store, release  <->  [W8] look-up: load, acquire
 *            carries: the words, zeroed and numbered
 */
#ifndef PFS_SUMMARY_H
#define PFS_SUMMARY_H

#include "occupancy.h"

static inline struct pfs_occupancy_page *pfs_summary_page_of(const struct pfs_page *page)
{
	struct pfs_occupancy_word *words = page->index_words;
	return words[0].page;
}

static inline uint32_t pfs_ceil_div(uint32_t value, uint32_t unit)
{
	return value / unit + (value % unit != 0);
}

static inline struct pfs_occupancy_page *pfs_summary_page_at(struct pfs_container *self,
							     uint32_t page)
{
	struct pfs_occupancy *index = self->policy;
	/* [W8] acquire, pairs with [W7]: the entry's words are there. */
	return pfs_load_acquire(&index->pages[page]);
}

/* The set of pages with room of a node, and of the pages that drain there or do not. */
static inline _Atomic(uint64_t) *pfs_summary_pages(struct pfs_occupancy *index, uint32_t node,
						   bool draining)
{
	uint32_t set = (node < index->node_count - 1 ? node : index->node_count - 1) * 2;
	return index->pages_with_room + (size_t)(set + draining) * index->set_words;
}

static inline void pfs_summary_set(_Atomic(uint64_t) *words, uint32_t bit)
{
	uint64_t mask = UINT64_C(1) << (bit % 64);
	/* [W6] seq, pairs with [W9]: see the head of this file. */
	if ((pfs_load_seq(&words[bit / 64]) & mask) == 0)
		(void)pfs_fetch_or_seq(&words[bit / 64], mask);
}

static inline void pfs_summary_clear(_Atomic(uint64_t) *words, uint32_t bit)
{
	/* [W6] seq, pairs with [W9]: see the head of this file. */
	(void)pfs_fetch_and_seq(&words[bit / 64], ~(UINT64_C(1) << (bit % 64)));
}

static inline void pfs_summary_announce_page(struct pfs_container *self,
					     struct pfs_occupancy_page *entry)
{
	/* relaxed, both: a preference; a page announced in the set that it just left is found
	 * there, or by the proof. */
	uint32_t node = pfs_load_relaxed(&entry->node);
	bool draining = pfs_load_relaxed(&entry->draining) != 0; /* relaxed: likewise */
	pfs_summary_set(pfs_summary_pages(self->policy, node, draining), entry->index);
}

static inline bool pfs_summary_some_word(struct pfs_occupancy_page *entry)
{
	uint64_t any = 0;
	for (uint32_t i = 0; i < pfs_ceil_div(entry->word_count, 64); i++)
		any |= pfs_load_seq(&entry->words_with_room[i]); /* [W6] seq, pairs with [W9] */
	return any != 0;
}

#endif
