/*
 * frames.h - does a function's frame have the same size at a return address, whatever the path to
 * it? The answer comes from its unwind table (DWARF call frame information).
 */
#ifndef PFS_PROFILE_FRAMES_H
#define PFS_PROFILE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * pfs_frames_fixed - at a return address: how far above the stack pointer the frame begins.
 *
 * Returns   true and *bytes, if the table is relative to the stack pointer; false: it is not (the
 *           function moves it by a variable amount), there is no table, or none that this code
 *           understands.
 * Progress  as the unwinder: no lock, no allocation (glibc 2.35 and later).
 */
bool pfs_frames_fixed(uintptr_t address, uint32_t *bytes);

#endif
