/*
 * search_rooms.c - the search of the words through their trees.
 */
#include "base/random.h"
#include "hints.h"

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

/* Search the words in [from, to) of a page that may have room. */
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
		if (entry == NULL) /* the tree, read relaxed, may be newer than the entry */
			continue;
		struct pfs_claim claim = search_page(thread, entry);
		if (claim.record != NULL)
			return claim;
		pfs_occupancy_clear_page(room, entry);
	}
	return pfs_claim_none();
}

/* Search one tree, all round from this thread's home page. */
static struct pfs_claim search_room(struct pfs_thread *thread, const struct pfs_room *room)
{
	uint32_t home = thread->home_page < room->width[0] ? thread->home_page : 0;
	/* relaxed: a hint; what is missed is left to the proof. */
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
