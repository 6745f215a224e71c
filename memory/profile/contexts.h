/*
 * contexts.h - the records of a sample's stack and context: equal ones are found, new ones are made
 */
#ifndef PFS_PROFILE_CONTEXTS_H
#define PFS_PROFILE_CONTEXTS_H

#include "profile.h"

#define PFS_KNOWN_CONTEXTS 64u /* for each thread; a power of two */

struct pfs_known_context {
	uint32_t stack, instrument, reference; /* reference 0: none */
	struct pfs_box_context *record;        /* NULL: none */
};

/* What a thread's life keeps, from its first sample on. */
struct pfs_profile_thread {
	struct pfs_thread *handles[3]; /* of stacks, contexts, samples */
	struct pfs_stack stack;
	uint32_t stack_reference, stack_epoch; /* its record; 0: none. The modules' epoch then */
	int32_t used; /* samples taken less those given back, not counted in samples_used yet */
	struct pfs_known_context known[PFS_KNOWN_CONTEXTS];
};

/* A search for the records of a stack that was just taken. */
struct pfs_search {
	struct pfs_profile *profile;
	struct pfs_profile_thread *own;
	struct pfs_stack *stack;
	bool is_last;   /* the stack is the thread's last one */
	uint32_t epoch; /* the modules' epoch when the search began */
	bool knows_files;
	uint32_t files; /* of the stack's addresses now, as pfs_modules_see returns them */
	struct pfs_box_context context;
};

static inline void pfs_profile_lost(struct pfs_books *books, enum pfs_box_lost lost)
{
	(void)pfs_fetch_add_relaxed(&books->box.head->lost[lost], 1); /* relaxed: a count */
}

static inline void *pfs_profile_record(const struct pfs_books *books, enum pfs_shelves shelf,
				       uint32_t reference)
{
	const struct pfs_box_region *region = books->shelves[shelf].region;
	uint32_t number = reference - 1;
	return books->box.base + region->offset +
	       (uint64_t)(number / region->page_records) * region->page_bytes +
	       (uint64_t)(number % region->page_records) * region->record_bytes;
}

static inline struct pfs_thread *pfs_profile_handle(const struct pfs_profile_thread *own,
						    enum pfs_shelves shelf)
{
	return own->handles[shelf - PFS_SHELF_STACKS];
}

/*
 * pfs_search_context - the context of the stack, an instrument and a thread, cached by the thread.
 *
 * Returns   never NULL; without a record, and counted as lost, if there was no room.
 * Progress  lock-free, except where pages of records are added.
 */
struct pfs_known_context *pfs_search_context(struct pfs_search *self,
					     const struct pfs_memory_thread *thread,
					     uint32_t instrument);

#endif
