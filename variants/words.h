/*
 * words.h - publish, abandon and free of all variants whose records have a pfs_lock word.
 *
 * A variant defines `allocate` and then uses PFS_WORDS_VARIANT.
 */
#ifndef PFS_WORDS_H
#define PFS_WORDS_H

#include "kernels.h"
#include "tally.h"

static inline void publish_record(struct pfs_thread *thread, struct pfs_claim claim)
{
	pfs_words_publish(thread, claim);
}

static inline void abandon_record(struct pfs_thread *thread, struct pfs_claim claim)
{
	pfs_words_abandon(thread, claim);
}

static inline void free_record(struct pfs_thread *thread, void *record)
{
	pfs_words_free(thread, record);
}

#endif
