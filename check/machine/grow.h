/*
 * grow.h - arrays of the simulator that double when they are full.
 */
#ifndef PFS_SIM_GROW_H
#define PFS_SIM_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Make room for `needed` entries, at most one more than there is; false: no memory, and the array
 * is unchanged. */
static inline bool pfs_grow(void **array, uint32_t *room, uint32_t needed, size_t size_bytes)
{
	if (needed <= *room)
		return true;
	uint32_t wider = *room != 0 ? *room * 2 : 1024;
	void *longer = realloc(*array, wider * size_bytes);
	if (longer == NULL)
		return false;
	*array = longer;
	*room = wider;
	return true;
}

#endif
