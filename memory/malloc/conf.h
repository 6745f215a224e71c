/*
 * conf.h - options, from PFS_MALLOC_CONF: "name:value,name:value". The names are jemalloc's where
 * it has such an option; docs/explanation/malloc.md has the list. A wrong option is reported once
 * on stderr and otherwise ignored.
 */
#ifndef PFS_MALLOC_CONF_H
#define PFS_MALLOC_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pfs_thp { PFS_THP_DEFAULT, PFS_THP_NEVER };

/* not a time: purge what was not needed since the last tick */
#define PFS_DECAY_LOW_WATER INT64_C(-2)
#define PFS_GUARD_RATE 500000u
#define PFS_GUARD_SLOTS_FEW 256u   /* by default; */
#define PFS_GUARD_SLOTS_MANY 8192u /* with a rate below 1000 */
#define PFS_DECAY_MS_MAX (INT64_MAX / 1000000)

struct pfs_conf {
	bool tcache;             /* rings in front of the slabs */
	uint32_t ring_bytes_max; /* bytes of blocks in one ring */
	uint32_t ring_entries_max;
	uint32_t narenas;       /* 0: derived from the number of CPUs and nodes */
	int64_t dirty_decay_ms; /* -1: never; 0: at once; or PFS_DECAY_LOW_WATER */
	/* limit on dirty pages, as a part of those in use, when memory is new; 0: none */
	uint32_t dirty_percent;
	int64_t muzzy_decay_ms; /* 0: dirty extents become retained directly */
	uint32_t tick_ms;       /* 0: no ticks */
	bool background_thread; /* false: ticks on slow paths only */
	/* blocks from this size on go back to the system at once; 0: none */
	size_t oversize_threshold;
	bool strict;      /* no new slab while any other thread's ring has a free region */
	bool tags;        /* keep a tag for each block */
	bool zero, junk;  /* fill blocks before they are handed out */
	bool xmalloc;     /* out of memory: print a line and abort */
	bool abort_conf;  /* a wrong option aborts the program */
	bool stats_print; /* at exit */
	enum pfs_thp thp;
	uint32_t guard_rate;  /* one of that many mallocs gets a guarded block; 0: none, 1: each */
	uint32_t guard_slots; /* guarded blocks at most */
};
extern struct pfs_conf pfs_conf;

/* Defined in a library that needs tags for all blocks. */
extern const char pfs_conf_needs_tags __attribute__((weak));

/* Fill bytes as the options zero and junk ask for, if either is set. */
void pfs_conf_fill(void *bytes, size_t size_bytes);

/* mallopt(M_PERTURB): turn filling on or off, for threads that start later and those whose rings
 * are turned on or off. Returns 1, as mallopt does. */
int pfs_conf_perturb(int value);

/* Read the options as soon as the environment exists. Returns whether they were read. */
bool pfs_conf_start(void);

#endif
