/*
 * search.c - the search of a thread whose latest hint failed: older hints, the trees, then the
 * proof and a new page.
 */
#include "front.h"
#include "hints.h"
#include "proof.h"

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
		if (!pfs_hints_is_preferred(thread, own->latest.word->page))
			continue;
		struct pfs_claim claim = pfs_occupancy_take(thread, own->latest.word,
							    &own->latest.seen);
		if (claim.record != NULL)
			return claim;
	}
	return pfs_claim_none();
}

/*
 * The CAS of the latest hint was lost: other threads use the word too. If they all stayed, they
 * would send its line back and forth for as long as it has room. So one loss in PFS_LOSSES makes
 * the thread leave: the search forgets the hint. After the other losses the thread takes the record
 * here, where it has the line: leaving gains nothing if all words are shared. On the simulated
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
		default: break; /* another thread freed, cleared or grew: it made progress */
		}
	}
}
