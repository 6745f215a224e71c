/*
 * frames.h - is the frame of a function of one size wherever it is called from? As its unwind table
 * (DWARF call frame information) says it.
 */
#ifndef PFS_PROFILE_FRAMES_H
#define PFS_PROFILE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * pfs_frames_fixed - at a return address: how far above the stack pointer the frame begins.
 *
 * Returns   true and *bytes, if the table counts from the stack pointer; false: it does not (the
 *           function moves it by an amount of its own), or there is no table, or none that this
 *           reads.
 * Progress  as the unwinder: no lock, no allocation (glibc 2.35 and later).
 */
bool pfs_frames_fixed(uintptr_t address, uint32_t *bytes);

#endif
