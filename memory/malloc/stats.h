/*
 * stats.h - what pfs_malloc_count counts, as a table on stderr.
 */
#ifndef PFS_MALLOC_STATS_H
#define PFS_MALLOC_STATS_H

#include <pfslab/malloc.h>

#include "arena.h"

/* Of one arena, in its own terms: blocks in rings are its allocated ones, for rings hold blocks of
 * several arenas. */
struct pfs_arena_counts {
	uint64_t active, dirty, muzzy, retained, mapped; /* bytes; mapped: of all of them */
	uint64_t small, small_takes, small_gives;        /* bytes; blocks */
	uint64_t large, large_made, large_freed;         /* bytes; blocks */
	uint64_t resident;                               /* active and dirty */
	uint64_t held; /* bytes in the rings of its threads, blocks of others, too */
	uint64_t purges, purged_pages;
	int64_t dirty_decay_ms, muzzy_decay_ms;
	uint32_t threads;
	struct pfs_bin_counts bins[PFS_SMALL_COUNT];
};

/*
 * pfs_count_all - pfs_malloc_count, and what each arena has.
 *
 * note (may be NULL) is called for each arena that there is, with the tick's lock held.
 */
void pfs_count_all(struct pfs_malloc_counts *counts,
		   void (*note)(uint32_t arena, const struct pfs_arena_counts *counts));

/*
 * With the option stats_print a slow malloc ends here: where slabs have a sixteenth more bytes than
 * ever before, what is alive in them is counted, for the line at exit.
 */
void pfs_stats_look(void);

/* malloc_stats, and at exit with the option stats_print. */
void pfs_stats_print(void);

#endif
