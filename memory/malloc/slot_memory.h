/*
 * slot_memory.h - memory for the slots of rings, which returns to the system when threads are idle.
 *
 * 400 threads that were active once need 6 MiB of slots at their most. A tick frees the slots of
 * idle rings, and other metadata would never need them. So they are cut from chunks of four pages,
 * each chunk into pieces of one size; a tick purges the chunks of which no piece is in use. The
 * only thread of a program uses memory that stays (base.h), because it has few slots, and they are
 * then on pages that it has touched anyway.
 *
 * Progress   all calls: blocking, under the registry's lock, unless they say otherwise.
 */
#ifndef PFS_MALLOC_SLOT_MEMORY_H
#define PFS_MALLOC_SLOT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#define PFS_SLOT_SIZES 8u /* sizes of pieces */

/* A piece of a size, aligned to 64 bytes, with arbitrary contents. bytes: always the same with a
 * size. NULL: no memory. */
void *pfs_slot_memory_new(uint32_t size, uint32_t bytes);
void pfs_slot_memory_free(void *piece, uint32_t size, uint32_t bytes);

/* Return some chunks without pieces to the system, at most 256 KiB. Takes the registry's lock, and
 * does not hold it meanwhile. Returns whether there are more. */
bool pfs_slot_memory_purge(void);

/* In a forked child. */
void pfs_slot_memory_child(void);

#endif
