/*
 * blocks.h - blocks of memory from one region, at places that depend only on the sequence of calls.
 *
 * New blocks follow the earlier ones; small blocks that were given back are used again. For one OS
 * thread. Blocks have the sizes of glibc's: 16 bytes of header, multiples of 16.
 */
#ifndef PFS_SIM_BLOCKS_H
#define PFS_SIM_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFS_BLOCK_UNIT ((size_t)16)
/* Entries of `free` for blocks of up to small_bytes. */
#define PFS_BLOCK_LISTS(small_bytes) (2 * ((small_bytes) / PFS_BLOCK_UNIT + 1))

struct pfs_blocks {
	size_t region_bytes; /* of addresses; set by the caller, as all up to free */
	size_t small_bytes;  /* blocks up to this size are used again */
	void **free;         /* [PFS_BLOCK_LISTS]: aligned to the unit; to more */
	char *region;        /* NULL: not reserved */
	size_t used;
};

/* Reserve the region; false: the host has no address space left. */
bool pfs_blocks_begin(struct pfs_blocks *self);

/* Forget all blocks. */
void pfs_blocks_reset(struct pfs_blocks *self);

/* A block, or NULL with errno: the region is used up. *is_fresh: it was not used since the region
 * was reserved or reset. align: at least the unit. */
void *pfs_blocks_take(struct pfs_blocks *self, size_t align, size_t size, bool *is_fresh);

/* false: the block is too large to be used again; only its addresses are lost. */
bool pfs_blocks_put(struct pfs_blocks *self, void *block);

size_t pfs_blocks_size_of(void *block);

static inline bool pfs_blocks_has(const struct pfs_blocks *self, const void *block)
{
	return self->region != NULL &&
	       (uintptr_t)block - (uintptr_t)self->region < self->region_bytes;
}

#endif
