/*
 * stats.h - what pfs_malloc_count counts, as a table on stderr.
 */
#ifndef PFS_MALLOC_STATS_H
#define PFS_MALLOC_STATS_H

#include <pfslab/malloc.h>

#include "arena.h"

/* The counts of one arena. Blocks in rings count as allocated, because a ring holds blocks of
 * several arenas. */
struct pfs_arena_counts {
	uint64_t active, dirty, muzzy, retained, mapped; /* bytes; mapped: of all extents */
	uint64_t small, small_takes, small_gives;        /* bytes; blocks */
	uint64_t large, large_made, large_freed;         /* bytes; blocks */
	uint64_t resident;                               /* active and dirty */
	uint64_t held; /* bytes in the rings of its threads, including blocks of other arenas */
	uint64_t purges, purged_pages;
	struct pfs_bin_counts bins[PFS_SMALL_COUNT];
	int64_t dirty_decay_ms, muzzy_decay_ms; /* all above are uint64_t, and summed up as such */
	uint32_t threads;
};

/*
 * pfs_count_all - pfs_malloc_count, plus the counts of each arena.
 *
 * note (may be NULL) is called for each existing arena, with the tick's lock held.
 */
void pfs_count_all(struct pfs_malloc_counts *counts,
		   void (*note)(uint32_t arena, const struct pfs_arena_counts *counts));

/* Bytes of metadata, without the page map: mapped, and in use. */
void pfs_count_metadata(uint64_t *mapped, uint64_t *used);

/*
 * With the option stats_print, called at the end of a slow malloc: if slabs have a sixteenth more
 * bytes than ever before, the live bytes in them are counted, for the table at exit.
 */
void pfs_stats_look(void);

/* For malloc_stats, and at exit with the option stats_print. */
void pfs_stats_print(void);

#endif
