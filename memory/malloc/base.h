/*
 * base.h - memory for the allocator's own use: never the program's blocks, never given back.
 *
 * Pieces are cut from chunks, in lines of 64 bytes, and go back to a pool, one for each kind of
 * thing: so what once was an extent's descriptor, or a slab's words, stays one for ever, and a
 * thread that looks at it late sees another of its kind, and no other bytes.
 */
#ifndef PFS_MALLOC_BASE_H
#define PFS_MALLOC_BASE_H

#include "containers/atomic.h"

#include <stddef.h>

/* Pieces of one kind and size that are free; all NULL at first. */
struct pfs_base_pool {
	void *first; /* under the lock of base.c; the next one is in its first word */
};

/* A piece, aligned to 64 bytes, all zeroes when it comes from a chunk, else as it was left but for
 * its first word; NULL: no memory. */
void *pfs_base_new(struct pfs_base_pool *pool, size_t size_bytes);
void pfs_base_free(struct pfs_base_pool *pool, void *piece);

/* Bytes of all chunks, mapped; and of those, cut. */
void pfs_base_counts(uint64_t *mapped, uint64_t *used);

/* Around fork: nobody else is inside. */
void pfs_base_lock(void);
void pfs_base_unlock(void);

#endif
