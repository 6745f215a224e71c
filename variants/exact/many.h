/*
 * many.h - several records per locked instruction, for pfs_allocate_many and pfs_free_many of
 * policies with occupancy words.
 *
 * allocate takes as many set bits of one word as it needs by one CAS. It finds words by the search
 * of a single allocation, so that search's proof and growth hold for each record. free makes
 * records FREE, gathers the bits that belong to the same word, and sets them by one addition.
 *
 * Stranding: what a CAS took belongs to the caller, so a thread that stops for ever in allocate
 * keeps what it has taken, as if the call had returned. In free it keeps the records that it did
 * not reach and those gathered and not yet given, at most PFS_GATHERED_RECORDS.
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
	uint32_t next; /* the group to give when all groups are used */
	uint32_t records;
};

/*
 * pfs_many_allocate - as pfs_allocate_many, from the words.
 *
 * Returns   the number of claims; if it is less than count, thread->status says why.
 * Errors    as pfs_occupancy_search.
 * Progress  as pfs_occupancy_search, for each word.
 * Order     acquire [W1].
 */
PFS_COLD uint32_t pfs_many_allocate(struct pfs_thread *thread, struct pfs_claim *claims,
				    uint32_t count);

/* gather: add the record of a place, whose pfs_lock the caller made FREE. end: give all that is
 * left. Wait-free. */
void pfs_many_gather(struct pfs_thread *thread, struct pfs_gathered *self, struct pfs_place place);
void pfs_many_end(struct pfs_thread *thread, struct pfs_gathered *self);

#endif
