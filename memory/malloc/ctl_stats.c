/*
 * ctl_stats.c - statistics of an epoch: everything is counted when one begins, and read from there.
 * An arena index may be MALLCTL_ARENAS_ALL or, as in old programs, the number of arenas: both stand
 * for the sum over all.
 */
#include <errno.h>
#include <pfslab/jemalloc.h>
#include <pthread.h>
#include <string.h>

#include "base.h"
#include "containers/compiler.h"
#include "ctl.h"
#include "stats.h"
#include "locks.h"

static uint64_t epoch; /* under lock, like all below; 0: nothing was counted yet */
static uint32_t arena_count;
static struct pfs_ctl_sums sums;
static struct pfs_arena_counts merged PFS_SELDOM;
/* NULL: there was no such arena. */
static struct pfs_arena_counts *of_arenas[PFS_ARENAS_MAX] PFS_SELDOM;
static bool is_short; /* no memory for one of these */

/* Every number of an arena is summed up, except the decay times: those say what new arenas get. */
static void merge(const struct pfs_arena_counts *arena)
{
	const uint64_t *from = (const uint64_t *)arena;
	uint64_t *into = (uint64_t *)&merged;
	for (size_t i = 0; i < offsetof(struct pfs_arena_counts, dirty_decay_ms) / sizeof(*from);
	     i++)
		into[i] += from[i];
	merged.threads += arena->threads;
}

static void note(uint32_t arena, const struct pfs_arena_counts *counts)
{
	static struct pfs_base_pool pool;
	if (of_arenas[arena] == NULL)
		of_arenas[arena] = pfs_base_new(&pool, sizeof(*counts));
	if (of_arenas[arena] != NULL) {
		*of_arenas[arena] = *counts;
		of_arenas[arena]->mapped -= counts->retained; /* as jemalloc defines it */
	} else {
		is_short = true;
	}
	merge(counts);
}

/* Under lock. */
static int count(void)
{
	struct pfs_malloc_counts counts;
	uint64_t base_mapped, base_used;
	is_short = false;
	memset(&merged, 0, sizeof(merged));
	(void)pfs_arenas_settle();
	arena_count = pfs_arena_count();
	pfs_count_all(&counts, note);
	pfs_count_metadata(&base_mapped, &base_used);
	merged.mapped -= merged.retained;
	merged.dirty_decay_ms = pfs_arenas_decay_ms(PFS_EXTENT_DIRTY);
	merged.muzzy_decay_ms = pfs_arenas_decay_ms(PFS_EXTENT_MUZZY);
	sums = (struct pfs_ctl_sums){
		.allocated = counts.allocated,
		.active = counts.active,
		.metadata = base_used,
		.resident = base_mapped + counts.active + counts.dirty,
		.mapped = base_mapped + counts.mapped - counts.retained,
		.retained = counts.retained,
	};
	epoch++;
	return is_short ? EAGAIN : 0;
}

int pfs_ctl_refresh(uint64_t *now)
{
	pfs_lock(PFS_LOCK_CTL);
	int error = count();
	*now = epoch;
	pfs_unlock(PFS_LOCK_CTL);
	return error;
}

/* jemalloc counts once when it starts; here the first reader begins the first epoch. */
static void begin(void)
{
	if (epoch == 0)
		(void)count();
}

uint64_t pfs_ctl_epoch(void)
{
	pfs_lock(PFS_LOCK_CTL);
	begin();
	uint64_t now = epoch;
	pfs_unlock(PFS_LOCK_CTL);
	return now;
}

/* The counts for an index; NULL: there was no such arena. Under lock. */
static const struct pfs_arena_counts *counts_at(size_t index)
{
	begin();
	if (index == MALLCTL_ARENAS_ALL || index == arena_count)
		return &merged;
	return index < PFS_ARENAS_MAX ? of_arenas[index] : NULL;
}

bool pfs_ctl_stat_has_arena(size_t index)
{
	pfs_lock(PFS_LOCK_CTL);
	bool has = counts_at(index) != NULL;
	pfs_unlock(PFS_LOCK_CTL);
	return has;
}

/* Under lock. */
static int stat_of_arena(const struct pfs_ctl *ctl, const struct pfs_arena_counts *arena)
{
	const struct pfs_ctl_row *row = ctl->row;
	const char *at = (const char *)arena + row->value;
	if (row->bytes != 0)
		return pfs_ctl_give(ctl, at, row->bytes);
	uint64_t bytes;
	memcpy(&bytes, at, sizeof(bytes));
	size_t pages = bytes / PFS_OS_PAGE;
	return pfs_ctl_give(ctl, &pages, sizeof(pages));
}

static int stat_locked(const struct pfs_ctl *ctl)
{
	const struct pfs_ctl_row *row = ctl->row;
	if (row->group == PFS_CTL_STAT) {
		begin();
		return pfs_ctl_give(ctl, (const char *)&sums + row->value, row->bytes);
	}
	const struct pfs_arena_counts *arena = counts_at(ctl->at[0]);
	if (arena == NULL)
		return ENOENT;
	if (row->group == PFS_CTL_STAT_ARENA)
		return stat_of_arena(ctl, arena);
	return pfs_ctl_give(ctl, (const char *)&arena->bins[ctl->at[1]] + row->value, row->bytes);
}

int pfs_ctl_stat(const struct pfs_ctl *ctl)
{
	pfs_lock(PFS_LOCK_CTL);
	int error = stat_locked(ctl);
	pfs_unlock(PFS_LOCK_CTL);
	return error;
}
