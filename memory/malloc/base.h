/*
 * base.h - memory for the allocator's own use: never part of a program's block. Pieces are never
 * returned to the system.
 *
 * Pieces are cut from chunks, in multiples of 64 bytes, and are freed into a pool, one pool for
 * each kind of object. So memory that once held a slab's words always does: a thread that reads
 * freed ones late sees another object of the same kind.
 */
#ifndef PFS_MALLOC_BASE_H
#define PFS_MALLOC_BASE_H

#include "containers/atomic.h"

#include <stddef.h>

/* The free pieces of one kind and size; zero-initialized. */
struct pfs_base_pool {
	void *first; /* under the lock of base.c; each piece links to the next by its first word */
};

/* A piece, aligned to 64 bytes. From a chunk it is all zeroes; from the pool it is as it was freed,
 * except for its first word. NULL: no memory. */
void *pfs_base_new(struct pfs_base_pool *pool, size_t size_bytes);
void pfs_base_free(struct pfs_base_pool *pool, void *piece);

/* Whole pages, for an owner that returns their memory to the system and uses them again. Zeroes;
 * NULL: no memory. */
void *pfs_base_new_pages(size_t size_bytes);

/* Bytes of all chunks that are mapped, and the part of them that was cut into pieces. */
void pfs_base_counts(uint64_t *mapped, uint64_t *used);

/* Around fork: keep all other threads out. */
void pfs_base_lock(void);
void pfs_base_unlock(void);

#endif
