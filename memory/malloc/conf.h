/*
 * conf.h - options, from PFS_MALLOC_CONF: "name:value,name:value", jemalloc's names where it has
 * them. docs/explanation/malloc.md has the list. A wrong one is named once on stderr, and passed
 * over.
 */
#ifndef PFS_MALLOC_CONF_H
#define PFS_MALLOC_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pfs_thp { PFS_THP_DEFAULT, PFS_THP_NEVER };

#define PFS_DECAY_LOW_WATER INT64_C(-2) /* no time: what was not needed since the last tick */
#define PFS_DECAY_MS_MAX (INT64_MAX / 1000000)

struct pfs_conf {
	bool tcache;             /* rings in front of the slabs */
	uint32_t ring_bytes_max; /* of the blocks of one class in a ring */
	uint32_t ring_entries_max;
	uint32_t narenas;       /* 0: by the number of CPUs and nodes */
	int64_t dirty_decay_ms; /* -1: never; 0: at once; or PFS_DECAY_LOW_WATER */
	uint32_t dirty_percent; /* of the pages in use may be dirty where memory is new; 0: any */
	int64_t muzzy_decay_ms; /* 0: dirty ones become retained */
	uint32_t tick_ms;       /* 0: no ticks but on slow paths */
	bool background_thread; /* false: ticks on slow paths only */
	size_t oversize_threshold; /* larger blocks go back to the system at once; 0: none */
	bool strict;      /* no new slab while a region is free in a ring of another thread */
	bool tags;        /* a tag beside each block */
	bool zero, junk;  /* fill what is handed out */
	bool xmalloc;     /* no memory: a line and abort */
	bool abort_conf;  /* a wrong option ends the program */
	bool stats_print; /* at exit */
	enum pfs_thp thp;
};
extern struct pfs_conf pfs_conf;

/* There in a library that has use for the tags of all blocks. */
extern const char pfs_conf_needs_tags __attribute__((weak));

/* What the options zero and junk ask for, if they do. */
void pfs_conf_fill(void *bytes, size_t size_bytes);

/* mallopt(M_PERTURB): blocks are filled from now on, or not any more: of threads that begin, and of
 * those whose rings are turned off or on. 1, as mallopt. */
int pfs_conf_perturb(int value);

/* Read the environment, once it is there. */
void pfs_conf_start(void);

#endif
