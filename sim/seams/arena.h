/*
 * arena.h - the allocator of `pfs-sim run`: one region, with places that depend only on the
 * sequence of its own calls.
 *
 * An object's place in its line and page decides what shares a line and on whose node it is, and so
 * the figures. With the host's allocator they would depend on its version and settings, on the
 * environment, and on what libraries allocated before. The program is linked with --wrap, so that
 * malloc and its family lead here from its own objects, but not from shared libraries. For one OS
 * thread; see blocks.h.
 */
#ifndef PFS_SIM_ARENA_H
#define PFS_SIM_ARENA_H

#include <stdbool.h>

/* From here on, until the process ends; false: the host has no address space left. */
bool pfs_arena_begin(void);

#endif
