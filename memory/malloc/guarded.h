/*
 * guarded.h - allocate and free guarded blocks (guard.h).
 */
#ifndef PFS_MALLOC_GUARDED_H
#define PFS_MALLOC_GUARDED_H

#include <stddef.h>

struct pfs_arena;
struct pfs_extent;

/*
 * pfs_guard_new - a guarded block, which statistics count for an arena.
 *
 * align_bytes: a power of two; 1: what every block of the size has.
 * Returns   it; NULL: it would be too large, or no slot is free, or the system refuses.
 * Progress  blocking: a lock, held for some instructions; the system.
 */
void *pfs_guard_new(struct pfs_arena *arena, size_t size_bytes, size_t align_bytes);

/* Free the block of a guarded extent; a mistake ends the program (corruption.h). Blocking, as
 * above. */
void pfs_guard_free(struct pfs_extent *extent, const char *call);

#endif
