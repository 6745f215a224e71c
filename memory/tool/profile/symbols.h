/*
 * symbols.h - names for addresses, by elfutils: from the program's own files, where their build ids
 * are those that the program had, and from files of debug information apart, under
 * /usr/lib/debug/.build-id and beside them. It reads files only, so the program may be dead.
 */
#ifndef PFS_MEM_SYMBOLS_H
#define PFS_MEM_SYMBOLS_H

#include "heap.h"

/* When looking up stops; 0: never. Checked before each address. */
struct pfs_symbols_bounds {
	uint64_t ns;    /* from the beginning on */
	uint64_t bytes; /* by which malloc's memory may grow */
};

struct pfs_symbols_report {
	uint32_t files_refused; /* that have addresses, and are not there, or other ones */
	struct pfs_message why; /* the first of them */
	uint32_t late;          /* addresses that were not looked up: a bound was reached */
};

/* pfs_heap_look_up - with_names: lines for all locations that have none, those of the largest
 * stacks first; what finds no name stays without. And in any case, modules become what other tools
 * expect: where code is mapped. bounds NULL: none. */
void pfs_heap_look_up(struct pfs_heap *heap, bool with_names,
		      const struct pfs_symbols_bounds *bounds, struct pfs_symbols_report *report);

/* As a person reads it, to be freed: C++, Rust (both manglings); NULL: it is no mangled name. */
char *pfs_demangled(const char *name);

/* Its stacks begin where the program calls the allocator. NULL: no memory. */
struct pfs_heap *pfs_heap_without_allocator(const struct pfs_heap *heap);

#endif
