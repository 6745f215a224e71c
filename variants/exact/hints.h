/*
 * hints.h - the words that a thread used last, where it looks first; and the fast paths of allocate
 * and free.
 *
 * A wrong hint costs time, but never makes an answer wrong.
 */
#ifndef PFS_HINTS_H
#define PFS_HINTS_H

#include "occupancy.h"

#ifdef PFS_SIM /* fewer in some searches, so that there are fewer states */
uint32_t pfs_sim_hints(void);
#define PFS_HINTS pfs_sim_hints()
#else
#define PFS_HINTS 16u
#endif
#define PFS_HINTS_MOST 16u
#define PFS_LOSSES 2u /* one lost CAS in this many makes a thread leave a word */

/* A word that a thread used, and its value then. A CAS with the remembered value does not wait for
 * a load of the word after the previous locked instruction. */
struct pfs_hint {
	struct pfs_occupancy_word *word;
	uint64_t seen;
};

struct pfs_hints {
	struct pfs_hint latest;
	struct pfs_hint older[PFS_HINTS_MOST]; /* the latest at `top` */
	uint32_t top;
	uint32_t losses;   /* of the CAS of the latest hint */
	uint32_t next_bit; /* with late_reuse: where to look in the latest word; one more than the
			    * last bit: in the next word */
};

/* A thread's hints, as thread_start and thread_stop of struct pfs_variant. */
enum pfs_status pfs_hints_start(struct pfs_thread *thread);
void pfs_hints_stop(struct pfs_thread *thread);

/* Send a new thread to a random page, so that threads do not meet at the start. */
void pfs_hints_scatter(struct pfs_thread *thread);

/* Remember a word of another node, unless the thread's own node shows room. */
PFS_COLD void pfs_hints_remember_far(struct pfs_thread *thread, struct pfs_occupancy_word *word,
				     uint64_t seen);

/*
 * pfs_occupancy_search - take a record by hints and trees; if none is found, prove that there is
 * none, and add a page. See search.c.
 *
 * Returns   a claim; or none, with thread->status saying why: PFS_FULL only if at a moment of the
 *           call no record of any page was free and no page could be added.
 * Errors    PFS_FULL, PFS_NO_MEMORY.
 * Progress  lock-free while a record is found, and for refusals while no ring is open. Growth, and
 *           refusals while a ring is open, take `growth`. Of two failed rounds in a row at least
 *           one is another thread's completed operation: docs/explanation/exact.md.
 * Order     acq_rel [W1].
 * Cost      with a valid hint one line; otherwise one node a level, up and down, and the word. The
 *           proof: two loads a root, whatever the number of pages.
 */
PFS_COLD struct pfs_claim pfs_occupancy_search(struct pfs_thread *thread);

/* May hints lead to this page? */
PFS_COLD bool pfs_hints_is_preferred(struct pfs_thread *thread, struct pfs_occupancy_page *page);

/* The part of pfs_occupancy_search that searches the trees. */
PFS_COLD struct pfs_claim pfs_occupancy_search_rooms(struct pfs_thread *thread);

static inline void pfs_hints_remember(struct pfs_thread *thread, struct pfs_occupancy_word *word,
				      uint64_t seen)
{
	struct pfs_hints *own = thread->policy;
	if (own->latest.word != word) {
		own->top = (own->top + 1) % PFS_HINTS;
		own->older[own->top] = own->latest;
	}
	own->latest = (struct pfs_hint){ word, seen };
}

static inline bool pfs_occupancy_drains(struct pfs_occupancy_page *page)
{
	return pfs_load_relaxed(&page->draining) != 0; /* relaxed: a preference */
}

static inline bool pfs_occupancy_is_near(struct pfs_thread *thread, struct pfs_occupancy_page *page)
{
	uint32_t node = pfs_load_relaxed(&page->node); /* relaxed: a preference */
	return node == thread->node || node == PFS_NODE_MIXED;
}

/* Hints never lead to pages that drain. */
static inline void pfs_hints_remember_kept(struct pfs_thread *thread,
					   struct pfs_occupancy_word *word, uint64_t seen)
{
	if (!pfs_occupancy_drains(word->page))
		pfs_hints_remember(thread, word, seen);
}

/* The latest hint, if its word may be used and may have room; else NULL. */
PFS_SKELETON struct pfs_hint *pfs_hints_latest(struct pfs_thread *thread)
{
	struct pfs_hints *own = thread->policy;
	struct pfs_hint *hint = &own->latest;
	/* A page may have begun to drain since its word became the hint. */
	if (!pfs_likely(hint->word != NULL && !pfs_occupancy_drains(hint->word->page)))
		return NULL;
	if (!pfs_likely(pfs_occupancy_look(thread, hint->word, &hint->seen)))
		return NULL;
	return hint;
}

/*
 * The fast path of allocate: one CAS on the word that this thread used last. If it fails, others
 * use the word too, and the search decides whether to leave it.
 */
PFS_SKELETON struct pfs_claim pfs_hints_first(struct pfs_thread *thread)
{
	struct pfs_hint *hint = pfs_hints_latest(thread);
	return pfs_likely(hint != NULL) ? pfs_occupancy_try(thread, hint->word, &hint->seen)
					: pfs_claim_none();
}

/* With config.late_reuse, at the end of a word: the next word of its page, if it has room. */
static inline void pfs_hints_turn(struct pfs_hints *own)
{
	struct pfs_occupancy_word *word = own->latest.word;
	const struct pfs_occupancy_page *page = word->page;
	uint32_t next = word->number + 1 < page->word_count ? word->number + 1 : 0;
	/* relaxed: a hint, which the CAS that follows verifies. */
	uint64_t seen = pfs_load_relaxed(&page->words[next].free);
	own->next_bit = 0;
	if ((uint32_t)seen != 0)
		own->latest = (struct pfs_hint){ &page->words[next], seen };
}

/*
 * The same with config.late_reuse: the free records of a page are taken in turn, so that a record
 * that was just freed is the last one, as far as this thread's calls decide it.
 */
static inline struct pfs_claim pfs_hints_first_late(struct pfs_thread *thread)
{
	struct pfs_hints *own = thread->policy;
	struct pfs_hint *hint = pfs_hints_latest(thread);
	if (hint == NULL)
		return pfs_claim_none();
	if ((uint32_t)hint->seen >> own->next_bit % PFS_WORD_RECORDS == 0 ||
	    own->next_bit == PFS_WORD_RECORDS)
		pfs_hints_turn(own);
	uint32_t free = (uint32_t)hint->seen;
	uint32_t later = free & (UINT32_MAX << own->next_bit);
	uint32_t bit = (uint32_t)__builtin_ctz(later != 0 ? later : free);
	uint64_t left = hint->seen - (UINT64_C(1) << bit);
	if (!pfs_occupancy_take_to(thread, hint->word, &hint->seen, left))
		return pfs_claim_none();
	own->next_bit = bit + 1;
	return pfs_occupancy_claim(thread, hint->word, bit);
}

/* With config.late_reuse, of a claim that was made otherwise: the next one is looked for behind it.
 */
static inline struct pfs_claim pfs_hints_after(struct pfs_thread *thread, struct pfs_claim claim)
{
	struct pfs_hints *own = thread->policy;
	uint64_t unused;
	if (claim.record == NULL)
		return claim;
	struct pfs_place place = pfs_place_of(thread, claim.record);
	struct pfs_occupancy_word *word = pfs_occupancy_word_at(place, &unused);
	own->next_bit = place.slot % PFS_WORD_RECORDS + 1;
	if (own->latest.word != word)
		/* relaxed: a hint, which the CAS that follows verifies. */
		pfs_hints_remember_kept(thread, word, pfs_load_relaxed(&word->free));
	return claim;
}

/* The rare rest of a free, as a tail call, so that the fast path needs no frame. latest: its word
 * was not announced. other: the same, or it is another word that is far or drains. */
PFS_COLD void pfs_hints_give_latest(struct pfs_thread *thread, struct pfs_occupancy_word *word,
				    uint64_t left);
PFS_COLD void pfs_hints_give_other(struct pfs_thread *thread, struct pfs_occupancy_word *word,
				   uint64_t left);

/* Free records to their word, and remember the word. */
PFS_SKELETON void pfs_hints_give_bits(struct pfs_thread *thread, struct pfs_occupancy_word *word,
				      uint64_t bits)
{
	struct pfs_hints *own = thread->policy;
	pfs_tally_giving(thread, word);
	uint64_t before = pfs_occupancy_set(word, bits);
	uint64_t left = before + bits + PFS_WORD_FREES;
	bool is_announced = (before & PFS_WORD_ANNOUNCED) != 0;
	if (own->latest.word == word) {
		/* Correct if no other thread used the word meanwhile; does not wait for the add. */
		own->latest.seen += bits + PFS_WORD_FREES;
		if (!pfs_likely(is_announced))
			pfs_hints_give_latest(thread, word, left);
		else
			pfs_tally_giving(thread, NULL);
		return;
	}
	if (!pfs_likely(is_announced && pfs_occupancy_is_near(thread, word->page) &&
			!pfs_occupancy_drains(word->page))) {
		pfs_hints_give_other(thread, word, left);
		return;
	}
	pfs_tally_giving(thread, NULL);
	pfs_hints_remember(thread, word, left);
}

/* The same for one record. */
PFS_SKELETON void pfs_hints_give(struct pfs_thread *thread, struct pfs_place place)
{
	uint64_t bit;
	struct pfs_occupancy_word *word = pfs_occupancy_word_at(place, &bit);
	pfs_hints_give_bits(thread, word, bit);
}

/* With config.late_reuse: a free leads back to no record, the next allocation goes on behind the
 * last one. */
static inline void pfs_hints_give_late(struct pfs_thread *thread, struct pfs_place place)
{
	struct pfs_hints *own = thread->policy;
	struct pfs_hint before = own->latest;
	pfs_hints_give(thread, place);
	if (before.word != NULL && own->latest.word != before.word)
		own->latest = before;
}

#endif
