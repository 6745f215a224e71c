/*
 * hints.c - see hints.h: the rare parts.
 */
#include "hints.h"

#include <stdlib.h>

#include "base/random.h"
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

/* Does a page of the thread's node that does not drain show room? */
static bool node_has_room(struct pfs_thread *thread)
{
	const struct pfs_room *room = pfs_occupancy_room(thread->container->policy, thread->node,
							 false);
	/* relaxed: a preference. */
	return !pfs_room_is_empty(pfs_load_relaxed(pfs_room_root(room)));
}

/* Hints lead to other nodes only while this node shows no room. Without hints to other nodes, all
 * threads of a node without pages would search the same few nodes of the trees. */
bool pfs_hints_is_preferred(struct pfs_thread *thread, struct pfs_occupancy_page *page)
{
	return !pfs_occupancy_drains(page) &&
	       (pfs_occupancy_is_near(thread, page) || !node_has_room(thread));
}

void pfs_hints_remember_far(struct pfs_thread *thread, struct pfs_occupancy_word *word,
			    uint64_t seen)
{
	if (pfs_hints_is_preferred(thread, word->page))
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
