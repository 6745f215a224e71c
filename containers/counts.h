/*
 * counts.h - event counts of one thread, and the data that the count of skips needs.
 *
 * Counting costs time: without PFS_COUNTING every function here is empty and a thread has no
 * counts. Each counter has one writer, its thread.
 */
#ifndef PFS_CONTAINERS_COUNTS_H
#define PFS_CONTAINERS_COUNTS_H

#include "atomic.h"

enum pfs_event {
	PFS_EVENT_ALLOCATIONS,
	PFS_EVENT_PROBES,
	PFS_EVENT_PAGE_PROBES,
	PFS_EVENT_CAS_FAILURES,
	PFS_EVENT_PAGE_SKIPS,
	PFS_EVENT_RECORD_SKIPS,
	PFS_EVENT_FLAG_SKIPS,
	PFS_EVENT_FALSE_FULL,
	PFS_EVENT_REMOTE,
	PFS_EVENT_MIXED,
	PFS_EVENT_COUNT
};

/*
 * On the simulated machine the code between these two takes no time and happens at one moment, so
 * counts are exact there and do not change what they measure.
 */
#ifdef PFS_SIM
#define pfs_metrics_begin() pfs_sim_quiet()
#define pfs_metrics_end() pfs_sim_loud()
#else
#define pfs_metrics_begin() ((void)0)
#define pfs_metrics_end() ((void)0)
#endif

#ifdef PFS_COUNTING
#define PFS_COUNTED true

/*
 * What a thread remembers of its current call and page search. A stamp equal to the number of the
 * call (search) marks a page (slot) as tried, so nothing has to be cleared between calls.
 */
struct pfs_tally {
	_Atomic(uint64_t) events[PFS_EVENT_COUNT];
	uint64_t call;         /* number of the current allocate */
	uint64_t growths;      /* of the container, when the call began */
	uint64_t search;       /* number of the current page search */
	uint64_t *page_stamps; /* [page_max] */
	uint64_t *slot_stamps; /* [page_records] */
	uint32_t *free_words;  /* [page_records] words at the start of a sampled search */
	uint32_t tried_slots;  /* distinct slots of the current search */
	bool sampled;
	_Atomic(const void *) giving; /* the occupancy word that this thread is freeing to */
};
#else
#define PFS_COUNTED false
struct pfs_tally {
	char nothing;
};
#endif
#endif
