/*
 * many.h - several records a locked instruction, for pfs_allocate_many and pfs_free_many of
 * policies with occupancy words.
 *
 * allocate takes as many set bits of one word as are wanted by one CAS; words are found by the
 * search of a single allocation, whose proof and growth so hold for each record. free makes
 * records FREE and gathers the bits of those that share a word, to set them by one addition.
 *
 * Stranding: what a CAS took is the caller's, so a thread that stops for ever in allocate keeps
 * what it has, as if the call had returned. In free it keeps, beside those that it did not come
 * to, the records gathered and not yet given: at most PFS_GATHERED_RECORDS.
 */
#ifndef PFS_MANY_H
#define PFS_MANY_H

#include "hints.h"

#define PFS_GATHERED_WORDS 8u
#define PFS_GATHERED_RECORDS 64u

/* FREE records whose bits are still to be set; on the stack of a call. */
struct pfs_gathered {
	struct {
		struct pfs_occupancy_word *word;
		uint64_t bits;
	} groups[PFS_GATHERED_WORDS];
	uint32_t used; /* groups */
	uint32_t next; /* the group to be given when there is no room for another one */
	uint32_t records;
};

/*
 * pfs_many_allocate - as pfs_allocate_many, from the words.
 *
 * Returns   how many claims there are; fewer than count: thread->status says why.
 * Errors    as pfs_occupancy_search.
 * Progress  as pfs_occupancy_search, for each word.
 * Order     acquire [W1].
 */
PFS_COLD uint32_t pfs_many_allocate(struct pfs_thread *thread, struct pfs_claim *claims,
				    uint32_t count);

/* Gather the record of a place, whose pfs_lock the caller made FREE; end: give all that is left.
 * Wait-free. */
void pfs_many_gather(struct pfs_thread *thread, struct pfs_gathered *self, struct pfs_place place);
void pfs_many_end(struct pfs_thread *thread, struct pfs_gathered *self);

#endif
