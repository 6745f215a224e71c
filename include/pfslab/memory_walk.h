/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory_walk.h - a report of all blocks in use, by owner and size.
 *
 * libpfsmem.so implements it; the program needs no code to track its blocks. A program that also
 * runs without the library declares the function weak and tests it for NULL.
 */
#ifndef PFSLAB_MEMORY_WALK_H
#define PFSLAB_MEMORY_WALK_H

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * pfs_memory_walk_report - walk over all blocks in use and write one line for each instrument,
 * account and size class, largest first, separated by tabs: INSTRUMENT ACCOUNT CLASS_BYTES BLOCKS
 * BYTES. BYTES are the requested bytes. "-": not counted; "(others)": did not fit into 4096 lines.
 * The first line names the columns; the last is the total.
 *
 * Returns   the number of blocks; 0: nothing is counted, or another thread is walking.
 * Errors    exact if no other thread is inside a call. Otherwise blocks that come or go meanwhile
 *           may be missing, or have another block's size.
 * Progress  blocking: empties all rings, and holds the books' lock, so threads that begin or end
 *           wait. The report is written after that lock is released. Not from signal handlers.
 * Order     none.
 */
uint64_t pfs_memory_walk_report(FILE *to);

#ifdef __cplusplus
}
#endif
#endif
