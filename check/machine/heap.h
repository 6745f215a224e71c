/*
 * heap.h - what containers get from malloc on the simulated machine. Where a search asks for it,
 * blocks lie at places that follow from the execution's own calls alone, so that two executions
 * that did the same have the same pointers in memory; all are forgotten at the machine's reset.
 * Else, and for what is no container's, it is malloc.
 *
 * The sources of the containers and policies call these for malloc and its kin: heap_names.h.
 * One thread of the host; blocks.h.
 */
#ifndef PFS_SIM_HEAP_H
#define PFS_SIM_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* From now on, or no longer, blocks are at places of their own; false: no address space. There is
 * no container. */
bool pfs_heap_begin(void);
void pfs_heap_end(void);

/* Blocks of containers that are gone, or lost: the next execution's lie in the same places. */
void pfs_heap_reset(void);

/* Where it is: its memory, how much of that was handed out at most, and what else tells where the
 * next block lies. */
struct pfs_heap_extent {
	char *region;
	size_t *used;
	void *lists;
	size_t lists_bytes;
};
struct pfs_heap_extent pfs_heap_extent(void);

/* All of it, as it is now. */
struct pfs_snapshot;
void pfs_heap_keep(struct pfs_snapshot *snapshot);

void *pfs_heap_malloc(size_t size);
void *pfs_heap_calloc(size_t count, size_t size);
void *pfs_heap_aligned_alloc(size_t align, size_t size);
void pfs_heap_free(void *block);

#endif
