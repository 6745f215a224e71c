/*
 * words.h - publish, abandon and free of all variants whose records have a pfs_lock word.
 *
 * PFS_STRICT_ALLOCATE defines allocate for a policy that consists of strict hooks only.
 */
#ifndef PFS_WORDS_H
#define PFS_WORDS_H

#include "containers/tally.h"

/* The first probe is inlined into the caller; the rest of the search is a direct call. */
#define PFS_STRICT_ALLOCATE(strict_ops)                                                        \
	static __attribute__((noinline)) struct pfs_claim search_rest(                         \
		struct pfs_thread *thread, struct pfs_strict_start start)                      \
	{                                                                                      \
		return pfs_strict_rest_with(thread, start, &(strict_ops));                     \
	}                                                                                      \
	static inline struct pfs_claim allocate(struct pfs_thread *thread)                     \
	{                                                                                      \
		struct pfs_strict_start start;                                                 \
		struct pfs_claim claim = pfs_strict_first_with(thread, &start, &(strict_ops)); \
		return pfs_likely(claim.record != NULL) ? claim : search_rest(thread, start);  \
	}

static inline void publish_record(struct pfs_thread *thread, struct pfs_claim claim)
{
	pfs_words_publish(thread, claim);
}

/* For policies with PFS_TRAIT_BARE: records without words have nothing to publish. Offset 0 is that
 * of a word of the record's own, too. */
static inline void publish_claim(struct pfs_thread *thread, struct pfs_claim claim)
{
	void *at = (char *)claim.record + claim.word_offset;
	if (pfs_likely(claim.word_offset != 0 || (thread->traits & PFS_TRAIT_WORDS) != 0))
		pfs_lock_dirty_to_allocated(at, claim.dirty_word);
}

/*
 * For policies that keep nothing besides the words. A handle of another container frees a record as
 * correctly as one of its own, and finding the record's container costs 7 to 10 % of churn on one
 * thread.
 */
static inline void abandon_by_word(struct pfs_thread *thread, struct pfs_claim claim)
{
	pfs_words_abandon(thread, claim);
}

static inline void free_by_word(struct pfs_thread *thread, void *record)
{
	pfs_words_free(thread, record);
}

static inline void abandon_record(struct pfs_thread *thread, struct pfs_claim claim)
{
	pfs_check_handle(thread, claim.record);
	pfs_words_abandon(thread, claim);
}

static inline void free_record(struct pfs_thread *thread, void *record)
{
	struct pfs_container *home = pfs_record_page(record)->container;
	pfs_tally_free(home, false);
	if (!pfs_likely(pfs_lock_allocated_to_free_if(pfs_record_lock(record),
						      home == thread->container)))
		pfs_free_refused(thread, record);
	pfs_tally_free(home, true);
}

/* Frees a record whose place is known, in any layout. */
static inline void free_at(struct pfs_thread *thread, void *record, struct pfs_place place)
{
	if (pfs_is_bare(thread))
		pfs_bare_free(place);
	else
		free_record(thread, record);
}

/* A record that a list of free records gave to this thread alone: its word is FREE. */
static inline struct pfs_claim claim_listed(struct pfs_thread *thread, struct pfs_page *page,
					    uint32_t slot, const char *bug)
{
	uint32_t dirty_word = 0;
	struct pfs_lock *lock = pfs_page_lock(page, slot);
	enum pfs_take take = pfs_lock_free_to_dirty(lock, &dirty_word);
	PFS_ASSERT(take == PFS_TAKE_WON, bug);
	(void)take;
	pfs_count(thread, PFS_EVENT_PROBES, 1);
	pfs_tally_won(thread, page);
	return pfs_claim_of(pfs_page_record(page, slot), lock, dirty_word);
}

#endif
