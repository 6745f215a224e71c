/*
 * heap.h - malloc for containers on the simulated machine.
 *
 * If a search asks for it, blocks lie at places that depend only on the execution's own calls, so
 * that two executions with the same steps have the same pointers in memory; the machine's reset
 * forgets all blocks. Otherwise, and for memory of other code, it is malloc.
 *
 * The sources of containers and policies call these functions in place of malloc and its family:
 * heap_names.h. For one OS thread; see blocks.h.
 */
#ifndef PFS_SIM_HEAP_H
#define PFS_SIM_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* Begin or end placing blocks of containers in the region; false: no address space. No container
 * may exist. */
bool pfs_heap_begin(void);
void pfs_heap_end(void);

/* Forget blocks of containers that are destroyed or lost: the next execution's have the same
 * places. */
void pfs_heap_reset(void);

/* The region, how much of it was handed out at most, and what else determines the place of the next
 * block. */
struct pfs_heap_extent {
	char *region;
	size_t *used;
	void *lists;
	size_t lists_bytes;
};
struct pfs_heap_extent pfs_heap_extent(void);

/* All of it, in its present state. */
struct pfs_machine_snapshot;
void pfs_heap_keep(struct pfs_machine_snapshot *snapshot);

void *pfs_machine_heap_malloc(size_t size);
void *pfs_heap_calloc(size_t count, size_t size);
void *pfs_heap_aligned_alloc(size_t align, size_t size);
void pfs_machine_heap_free(void *block);

#endif
