/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory_walk.h - whose each block of the program is that is in use now, and how large: a report
 * that nobody had to write code for. Of libpfsmem.so; a program that may run without it declares
 * the call weak, and asks whether it is there.
 */
#ifndef PFSLAB_MEMORY_WALK_H
#define PFSLAB_MEMORY_WALK_H

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * pfs_memory_walk_report - walk over all blocks, and write who has them: a line for each
 * instrument, account and size class, largest first, with tabs between: INSTRUMENT ACCOUNT
 * CLASS_BYTES BLOCKS BYTES, the last what was asked for. "-": what is not counted; "(others)":
 * what found no room among 4096 lines. The first line names the columns; the last is the total.
 *
 * Returns   how many blocks were found; 0: nothing is counted, or another thread walks.
 * Errors    at rest (no other thread is inside a call) it is exact; else blocks that come or go
 *           meanwhile may be in it or not, or with another one's size.
 * Progress  blocking: empties all rings, and holds the books' lock meanwhile, so threads wait that
 *           begin or end. The report is written afterwards. Not from signal handlers.
 */
uint64_t pfs_memory_walk_report(FILE *to);

#ifdef __cplusplus
}
#endif
#endif
