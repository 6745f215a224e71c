/*
 * lines.h - memory of whole cache lines, zeroed.
 *
 * Invariant: none of its own.
 * Ordering:  none of its own; whoever publishes the memory orders it.
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

/* So many lines, or NULL; *memory is for free. By calloc: pages of it that nobody writes cost no
 * memory. */
static inline void *pfs_lines_new(size_t lines, void **memory)
{
	*memory = calloc(lines + 1, PFS_LINE);
	if (*memory == NULL)
		return NULL;
	return (void *)(pfs_lines_of((uintptr_t)*memory) * PFS_LINE);
}

#endif
