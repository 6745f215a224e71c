/*
 * mapped.h - what the program and its libraries map themselves, without a file: mmap, munmap and
 * mremap are this library's, and note who maps what. And what the library maps itself, and where
 * threads have their stacks: so that a look into the page tables can say whose each page is.
 *
 * Ordering:  [PL5] owner: store, release  <->  [PL6] owner: load, acquire
 *            carries: nothing; a thread finds itself there only if it wrote itself
 */
#ifndef PFS_PRELOAD_MAPPED_H
#define PFS_PRELOAD_MAPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/box/layout.h"
#include "ranges.h"

/* Whose a range is; else it is the mapper's of that number less PFS_WHOSE_MAPPER. */
enum pfs_whose { PFS_WHOSE_NOBODYS, PFS_WHOSE_OWN, PFS_WHOSE_STACK, PFS_WHOSE_MAPPER };

/* The calling thread has its stack here. */
void pfs_mapped_stack(void);

/* The first piece of what is known between two addresses; false: there is none. */
bool pfs_mapped_piece(uintptr_t begin, uintptr_t end, struct pfs_range *piece);

/* How many threads have said where their stacks are, so far. */
uint32_t pfs_mapped_stacks(void);

/* Nothing was mapped between two addresses when so many had: no stack is there any more. When it
 * was more by now, one of them may be there. */
void pfs_mapped_gone(uintptr_t begin, uintptr_t end, uint32_t stacks);

/* Names, ranges and addresses of all mappers; how many these are. What was lost, too. */
uint32_t pfs_mapped_sums(struct pfs_box_mapper *mappers, uint64_t *lost);

/* Is an address the library's own .data, .bss? */
bool pfs_mapped_is_library(uintptr_t address);

/* ---- looks into the page tables (measure.c) ---- */

/* pfs_measure - a look, if the last is long enough ago: all looks together take at most 1 % of a
 * processor's time. Not at the desk. */
void pfs_measure(void);

/* What the last look found. */
void pfs_measured(struct pfs_box_own *own);
void pfs_measure_child(void);

#endif
