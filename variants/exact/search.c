/*
 * search.c - the search for a free record: hints, then the trees, then the proof of proof.c.
 */
#include <stdlib.h>

#include "containers/random.h"
#include "front.h"
#include "hints.h"
#include "proof.h"
#include "seats.h"

enum pfs_status pfs_hints_start(struct pfs_thread *thread)
{
	thread->policy = calloc(1, sizeof(struct pfs_hints));
	pfs_hints_scatter(thread);
	return thread->policy != NULL ? PFS_OK : PFS_NO_MEMORY;
}

void pfs_hints_scatter(struct pfs_thread *thread)
{
	uint32_t limit = pfs_container_page_limit(thread->container);
	thread->home_page = limit != 0 ? pfs_random_below(&thread->random, limit) : 0;
	pfs_seats_assign(thread);
}

void pfs_hints_stop(struct pfs_thread *thread)
{
	if (thread->left_behind)
		pfs_seats_forget(thread);
	free(thread->policy);
	thread->policy = NULL;
}

/* Does some page of the thread's node that does not drain show room? */
static bool node_has_room(struct pfs_thread *thread)
{
	const struct pfs_room *room =
		pfs_occupancy_room(thread->container->policy, thread->node, false);
	/* relaxed: a preference. */
	return !pfs_room_is_empty(pfs_load_relaxed(pfs_room_root(room)));
}

/* Hints lead to other nodes only while this one shows no room: without them, all threads of a
 * node without pages search the same few nodes of the trees. */
static bool is_preferred(struct pfs_thread *thread, struct pfs_occupancy_page *page)
{
	return !pfs_occupancy_drains(page) &&
	       (pfs_occupancy_is_near(thread, page) || !node_has_room(thread));
}

void pfs_hints_remember_far(struct pfs_thread *thread, struct pfs_occupancy_word *word,
			    uint64_t seen)
{
	if (is_preferred(thread, word->page))
		pfs_hints_remember(thread, word, seen);
}

void pfs_hints_give_latest(struct pfs_thread *thread, struct pfs_occupancy_word *word,
			   uint64_t left)
{
	struct pfs_hints *own = thread->policy;
	own->latest.seen = pfs_occupancy_announce(thread->container, word, left);
	pfs_tally_giving(thread, NULL);
}

void pfs_hints_give_other(struct pfs_thread *thread, struct pfs_occupancy_word *word, uint64_t left)
{
	if ((left & PFS_WORD_ANNOUNCED) == 0)
		left = pfs_occupancy_announce(thread->container, word, left);
	pfs_tally_giving(thread, NULL);
	if (pfs_occupancy_is_near(thread, word->page))
		pfs_hints_remember_kept(thread, word, left);
	else
		pfs_hints_remember_far(thread, word, left);
}

static struct pfs_claim take_and_stay(struct pfs_thread *thread, struct pfs_occupancy_word *word)
{
	uint64_t seen = 0;
	struct pfs_claim claim = pfs_occupancy_take(thread, word, &seen);
	if (claim.record == NULL)
		return claim;
	thread->home_page = word->page->index;
	pfs_hints_remember(thread, word, seen);
	return claim;
}

/* The words in [from, to) of a page that may have room. */
static struct pfs_claim search_words(struct pfs_thread *thread, struct pfs_occupancy_page *entry,
				     uint32_t from, uint32_t to)
{
	uint32_t number = pfs_room_next(&entry->words_room, from);
	for (; number < to; number = pfs_room_next(&entry->words_room, number + 1)) {
		struct pfs_claim claim = take_and_stay(thread, &entry->words[number]);
		if (claim.record != NULL)
			return claim;
		pfs_occupancy_clear(&entry->words[number]);
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

static struct pfs_claim search_pages(struct pfs_thread *thread, const struct pfs_room *room,
				     uint32_t from, uint32_t to)
{
	uint32_t page = pfs_room_next(room, from);
	for (; page < to; page = pfs_room_next(room, page + 1)) {
		struct pfs_occupancy_page *entry = pfs_occupancy_page_at(thread->container, page);
		if (entry == NULL) /* the tree, read relaxed, is ahead of the entry */
			continue;
		struct pfs_claim claim = search_page(thread, entry);
		if (claim.record != NULL)
			return claim;
		pfs_occupancy_clear_page(room, entry);
	}
	return pfs_claim_none();
}

/* One tree, all round from this thread's home page. */
static struct pfs_claim search_room(struct pfs_thread *thread, const struct pfs_room *room)
{
	uint32_t home = thread->home_page < room->width[0] ? thread->home_page : 0;
	/* relaxed: a hint; what is missed is proved. */
	if (pfs_room_is_empty(pfs_load_relaxed(pfs_room_root(room))))
		return pfs_claim_none();
	struct pfs_claim claim = search_pages(thread, room, home, PFS_ROOM_NONE);
	return claim.record != NULL ? claim : search_pages(thread, room, 0, home);
}

/* Kept pages before draining ones, and the caller's node before any other. */
struct pfs_claim pfs_occupancy_search_rooms(struct pfs_thread *thread)
{
	struct pfs_occupancy *index = thread->container->policy;
	uint32_t last = index->node_count - 1;
	uint32_t own = thread->node < last ? thread->node : last;
	struct pfs_claim claim = pfs_claim_none();
	for (uint32_t step = 0; claim.record == NULL && step < index->node_count; step++) {
		uint32_t node = (own + step) % index->node_count;
		claim = search_room(thread, pfs_occupancy_room(index, node, false));
		if (claim.record == NULL)
			claim = search_room(thread, pfs_occupancy_room(index, node, true));
	}
	return claim;
}

/* Older hints: words that this thread used before. Those that fail are forgotten. */
static struct pfs_claim search_hints(struct pfs_thread *thread)
{
	struct pfs_hints *own = thread->policy;
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
	struct pfs_hints *own = thread->policy;
	struct pfs_hint *hint = &own->latest;
	if ((uint32_t)hint->seen == 0 || hint->word == NULL ||
	    pfs_occupancy_drains(hint->word->page) || ++own->losses % PFS_LOSSES == 0)
		return pfs_claim_none();
	return pfs_occupancy_take(thread, hint->word, &hint->seen);
}

struct pfs_claim pfs_occupancy_search(struct pfs_thread *thread)
{
	const struct pfs_occupancy *index = thread->container->policy;
	struct pfs_claim claim = search_latest(thread);
	if (claim.record != NULL)
		return claim;
	for (;;) {
		claim = search_hints(thread);
		if (claim.record == NULL)
			claim = pfs_occupancy_search_rooms(thread);
		if (claim.record == NULL && index->front != NULL)
			claim = index->front->last_resort(thread);
		if (claim.record != NULL)
			return claim;
		switch (pfs_prove_or_grow(thread, &claim)) {
		case PFS_PROOF_CLAIM: return claim;
		case PFS_PROOF_REFUSED: return pfs_container_refuse(thread, thread->growth);
		default: break; /* another thread freed, or cleared, or grew: it made progress */
		}
	}
}
