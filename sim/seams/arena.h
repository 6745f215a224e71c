/*
 * arena.h - what `pfs-sim run` allocates: from one region, at places that follow from the
 * sequence of its own calls alone.
 *
 * Where an object lies in its line and page decides what shares a line and whose node it is on,
 * and so the figures. The host's allocator would make them depend on its version and settings,
 * on the environment, and on what libraries allocated before. The program is linked with
 * --wrap, so that malloc and its kin come here from its own objects, and from those of no
 * shared library.
 * One thread of the host; blocks.h.
 */
#ifndef PFS_SIM_ARENA_H
#define PFS_SIM_ARENA_H

#include <stdbool.h>

/* From here on, until the process ends; false: the host has no address space left. */
bool pfs_arena_begin(void);

#endif
