/*
 * lines.h - zeroed memory in whole cache lines.
 *
 * Invariant: none of its own.
 * Ordering:  none of its own; publishing the memory orders it.
 * Source:    our own.
 */
#ifndef PFS_LINES_H
#define PFS_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "atomic.h"

static inline size_t pfs_lines_of(size_t bytes)
{
	return (bytes + PFS_LINE - 1) / PFS_LINE;
}

/* A number of lines, or NULL; pass *memory to free. From calloc: OS pages that are never written
 * cost no memory. */
static inline void *pfs_lines_new(size_t lines, void **memory)
{
	*memory = calloc(lines + 1, PFS_LINE);
	if (*memory == NULL)
		return NULL;
	return (void *)(pfs_lines_of((uintptr_t)*memory) * PFS_LINE);
}

#endif
