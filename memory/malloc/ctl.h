/*
 * ctl.h - what a call of mallctl consists of: a row of the table of names, the indexes in the name,
 * and the old and the new value.
 *
 * Rows contain no pointers, so that no page of the table is relocated, and hence resident, in a
 * program that never calls mallctl.
 */
#ifndef PFS_MALLOC_CTL_H
#define PFS_MALLOC_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFS_CTL_DEPTH_MAX 6u /* stats.arenas.#.bins.#.curregs */
#define PFS_CTL_NAME_BYTES 42u
#define PFS_CTL_INDEXES 2u    /* the most indexes in a name */
#define PFS_CTL_LEXTENTS 196u /* large classes: 4 << 12 .. 7 << 60 */

enum pfs_ctl_group {
	PFS_CTL_CONST,      /* a constant: value */
	PFS_CTL_CONF,       /* an option: value is its offset in pfs_conf */
	PFS_CTL_TEXT,       /* value: enum pfs_ctl_text */
	PFS_CTL_DO,         /* value: enum pfs_ctl_do, an action or a current number */
	PFS_CTL_BIN,        /* arenas.bin.#: value is enum pfs_ctl_bin */
	PFS_CTL_LEXTENT,    /* arenas.lextent.#.size */
	PFS_CTL_ARENA,      /* arena.#: value is enum pfs_ctl_arena */
	PFS_CTL_STAT,       /* of the last epoch: value is an offset in struct pfs_ctl_sums */
	PFS_CTL_STAT_ARENA, /* value: an offset in struct pfs_arena_counts */
	PFS_CTL_STAT_BIN    /* value: an offset in struct pfs_bin_counts */
};

struct pfs_ctl_row {
	char name[PFS_CTL_NAME_BYTES]; /* # stands for an index */
	uint8_t group;
	uint8_t bytes; /* of the value */
	uint16_t value;
};
extern const struct pfs_ctl_row pfs_ctl_rows[];
extern const uint32_t pfs_ctl_row_count;

struct pfs_ctl {
	const struct pfs_ctl_row *row;
	size_t at[PFS_CTL_INDEXES];
	void *old_value; /* the parameters of mallctl */
	size_t *old_length;
	const void *new_value;
	size_t new_length;
};

/* Each of these returns 0 or an error number of mallctl. */

/* Return the old value, if the caller asked for it. */
int pfs_ctl_read(const struct pfs_ctl *ctl, const void *value, size_t bytes);

/* Take the new value, if there is one. */
int pfs_ctl_write(const struct pfs_ctl *ctl, void *value, size_t bytes);

/* EPERM if the caller writes a value; EPERM if it reads one. */
int pfs_ctl_refuse_new(const struct pfs_ctl *ctl);
int pfs_ctl_refuse_old(const struct pfs_ctl *ctl);

/* The whole of a read-only name. */
int pfs_ctl_give(const struct pfs_ctl *ctl, const void *value, size_t bytes);

/* Is there such an index, in this place of the row's name? */
bool pfs_ctl_has_index(const struct pfs_ctl_row *row, uint32_t place, size_t index);

/* The groups CONST to ARENA are in ctl_values.c, STAT and those after it in ctl_stats.c. */
int pfs_ctl_value(const struct pfs_ctl *ctl);
int pfs_ctl_stat(const struct pfs_ctl *ctl);
bool pfs_ctl_stat_has_arena(size_t index);

/* pfs_ctl_refresh begins a new epoch and returns its number; pfs_ctl_epoch returns the current one.
 * */
int pfs_ctl_refresh(uint64_t *epoch);
uint64_t pfs_ctl_epoch(void);

/* What rows of the groups TEXT, DO, BIN and ARENA mean. */
enum pfs_ctl_text {
	PFS_CTL_VERSION,
	PFS_CTL_NO_CONF,
	PFS_CTL_DSS,
	PFS_CTL_PERCPU,
	PFS_CTL_JUNK,
	PFS_CTL_THP
};
enum pfs_ctl_do {
	PFS_CTL_EPOCH,
	PFS_CTL_BACKGROUND,
	PFS_CTL_BACKGROUND_MAX,
	PFS_CTL_NARENAS,
	PFS_CTL_NARENAS_OPT,
	PFS_CTL_CREATE,
	PFS_CTL_LOOKUP,
	PFS_CTL_DIRTY_DECAY,
	PFS_CTL_MUZZY_DECAY,
	PFS_CTL_THREAD_ARENA,
	PFS_CTL_ALLOCATED,
	PFS_CTL_DEALLOCATED,
	PFS_CTL_ALLOCATED_AT,
	PFS_CTL_DEALLOCATED_AT,
	PFS_CTL_TCACHE_ENABLED,
	PFS_CTL_TCACHE_FLUSH,
	PFS_CTL_IDLE,
	PFS_CTL_EXPLICIT_CREATE,
	PFS_CTL_EXPLICIT_FLUSH,
	PFS_CTL_EXPLICIT_DESTROY,
	PFS_CTL_PROF, /* is there a profile? */
	PFS_CTL_PROF_LG,
	PFS_CTL_PROF_ACTIVE,
	PFS_CTL_PROF_DUMP,
	PFS_CTL_PROF_RESET
};
enum pfs_ctl_bin { PFS_CTL_BIN_SIZE, PFS_CTL_BIN_NREGS, PFS_CTL_BIN_SLAB, PFS_CTL_BIN_SHARDS };
enum pfs_ctl_arena {
	PFS_CTL_ARENA_INITIALIZED,
	PFS_CTL_ARENA_PURGE,
	PFS_CTL_ARENA_DECAY,
	PFS_CTL_ARENA_REFUSED,
	PFS_CTL_ARENA_DSS,
	PFS_CTL_ARENA_DIRTY,
	PFS_CTL_ARENA_MUZZY
};

/* What a library that counts each block adds; it is not there in the allocator alone.
 *	profile_lg  log2 of the mean bytes between samples; 0: the program has no profile */
struct pfs_ctl_counting {
	uint32_t (*profile_lg)(void);
	bool (*profile_is_active)(void);
	void (*profile_activate)(bool active);
	int (*profile_dump)(const char *path); /* 0 or an error number, as the next */
	int (*profile_restart)(uint32_t lg);
};
extern const struct pfs_ctl_counting pfs_ctl_counting __attribute__((weak));

/* The sums of an epoch. */
struct pfs_ctl_sums {
	uint64_t allocated, active, metadata, resident, mapped, retained;
};

#endif
