/*
 * mapped.h - the anonymous mappings of the program and its libraries. This library replaces mmap,
 * munmap and mremap, and notes which library maps what. It also notes its own mappings and the
 * threads' stacks, so that every resident page can be attributed.
 *
 * Ordering:  [PL5] owner: store, release  <->  [PL6] owner: load, acquire
 *            carries: nothing; a thread reads its own mark only if it wrote it itself
 */
#ifndef PFS_PRELOAD_MAPPED_H
#define PFS_PRELOAD_MAPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/box/layout.h"
#include "ranges.h"

/* The owner of a range; from PFS_WHOSE_MAPPER on: a mapper's number + PFS_WHOSE_MAPPER. */
enum pfs_whose { PFS_WHOSE_NOBODYS, PFS_WHOSE_OWN, PFS_WHOSE_STACK, PFS_WHOSE_MAPPER };

/* Notes the location of the calling thread's stack. */
void pfs_mapped_stack(void);

/* The first known range, clipped to [begin, end); false: none. */
bool pfs_mapped_piece(uintptr_t begin, uintptr_t end, struct pfs_range *piece);

/* The number of calls of pfs_mapped_stack so far. */
uint32_t pfs_mapped_stacks(void);

/* Nothing was mapped in [begin, end) when the number of stacks was `stacks`: removes the stacks
 * there. Does nothing if the number has grown since, because a new stack may be there. */
void pfs_mapped_gone(uintptr_t begin, uintptr_t end, uint32_t stacks);

/* Copies name, ranges and mapped bytes of all mappers, and the lost ranges. Returns how many. */
uint32_t pfs_mapped_sums(struct pfs_box_mapper *mappers, uint64_t *lost);

/* Keeps the mappers' ranges and mapped bytes in the box from now on, with each mapping that comes
 * or goes: a program that sleeps, or is killed before a tick, has them as well. shown: the box's
 * array, which has memory; NULL, and in a forked child until it is called again: no longer. */
void pfs_mapped_show(struct pfs_box_mapper *shown);

/* Stores the resident bytes of a measurement that began with pfs_mapped_sums. */
void pfs_mapped_measured(const struct pfs_box_mapper *mappers, uint32_t count,
			 uint64_t realtime_ns);

/* Is the address inside the library itself? */
bool pfs_mapped_is_library(uintptr_t address);

/* ---- measurements of resident memory (measure.c) ---- */

/* pfs_measure - measure the resident memory, unless the last measurement is too recent: all
 * together take at most 1 % of a processor's time. Not under the desk. */
void pfs_measure(void);

/* Copies the results of the last measurement. */
void pfs_measured(struct pfs_box_own *own);
void pfs_measure_child(void);

#endif
