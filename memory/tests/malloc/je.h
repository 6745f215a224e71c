/*
 * je.h - jemalloc's calls for the corner programs. They are weak, so that subtests are skipped for
 * an allocator without them. Wrappers of mallctl by type of value fail the subtest when the call
 * fails.
 */
#ifndef JE_H
#define JE_H

#include <pfslab/jemalloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "corner.h"

#pragma weak mallocx
#pragma weak rallocx
#pragma weak xallocx
#pragma weak sallocx
#pragma weak dallocx
#pragma weak sdallocx
#pragma weak nallocx
#pragma weak mallctl
#pragma weak mallctlnametomib
#pragma weak mallctlbymib
void pfs_memory_walk_report(void); /* another type, never called */
#pragma weak pfs_memory_walk_report
#pragma weak malloc_stats_print

static inline void je_must_be_there(void)
{
	if (mallocx == NULL || mallctl == NULL)
		corner_skip("no jemalloc's calls");
}

static inline void je_must_be_ours(void)
{
	size_t length = 4;
	unsigned tick_ms;
	if (mallctl == NULL || mallctl("opt.tick_ms", &tick_ms, &length, NULL, 0) != 0)
		corner_skip("no option tick_ms");
}

/* Are all blocks counted, by libpfsmem.so? Then there is a profile, and counters of each thread. */
static inline bool je_is_counted(void)
{
	return pfs_memory_walk_report != NULL;
}

/* What the counters behind the pointers advanced by since the last call. */

#define JE_CORNER(name) CORNER_AFTER(name, je_must_be_there)
#define OUR_CORNER(name) CORNER_AFTER(name, je_must_be_ours)

static inline void je_read(const char *name, void *value, size_t bytes)
{
	size_t length = bytes;
	int error = mallctl(name, value, &length, NULL, 0);
	CORNER_CHECK(error == 0 && length == bytes, "reading %s: %s", name, strerror(error));
}

static inline void je_write(const char *name, const void *value, size_t bytes)
{
	uint64_t copy = 0;
	memcpy(&copy, value, bytes);
	int error = mallctl(name, NULL, NULL, &copy, bytes);
	CORNER_CHECK(error == 0, "writing %s: %s", name, strerror(error));
}

#define JE_READER(type, name)                        \
	static inline type je_##name(const char *of) \
	{                                            \
		type value = 0;                      \
		je_read(of, &value, sizeof(value));  \
		return value;                        \
	}
JE_READER(unsigned, unsigned)
JE_READER(size_t, size)
JE_READER(uint64_t, uint64)
JE_READER(ssize_t, ssize)
JE_READER(bool, bool)
JE_READER(const char *, text)

static inline void je_do(const char *name)
{
	int error = mallctl(name, NULL, NULL, NULL, 0);
	CORNER_CHECK(error == 0, "%s: %s", name, strerror(error));
}

/* A name with a number in it; valid until the fourth call after this one. */
static inline const char *je_name(const char *pattern, unsigned number)
{
	static char names[4][100];
	static unsigned turn;
	char *name = names[turn++ % 4];
	(void)snprintf(name, sizeof(names[0]), pattern, number);
	return name;
}

/* Bring the statistics up to date. */
static inline void je_refresh(void)
{
	je_write("epoch", &(uint64_t){ 1 }, sizeof(uint64_t));
}

/* The arena of a block. */
static inline unsigned je_arena_of(void *block)
{
	unsigned arena = 0;
	size_t length = sizeof(arena);
	int error = mallctl("arenas.lookup", &arena, &length, (void *)&block, sizeof(block));
	CORNER_CHECK(error == 0, "arenas.lookup: %s", strerror(error));
	return arena;
}

#endif
