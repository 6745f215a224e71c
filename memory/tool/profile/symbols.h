/*
 * symbols.h - names for addresses, by elfutils: from the program's own files, where their build ids
 * are those that the program had, and from files of debug information apart, under
 * /usr/lib/debug/.build-id and beside them. It reads files only, so the program may be dead.
 */
#ifndef PFS_MEM_SYMBOLS_H
#define PFS_MEM_SYMBOLS_H

#include "heap.h"

struct pfs_symbols_report {
	uint32_t files_refused; /* that have addresses, and are not there, or other ones */
	struct pfs_message why; /* the first of them */
};

/* pfs_heap_look_up - with_names: lines for all locations that have none; what finds no name stays
 * without. And in any case, modules become what other tools expect: where code is mapped. */
void pfs_heap_look_up(struct pfs_heap *heap, bool with_names, struct pfs_symbols_report *report);

/* As a person reads it, to be freed: C++, Rust (both manglings); NULL: it is no mangled name. */
char *pfs_demangled(const char *name);

/* Its stacks begin where the program calls the allocator. NULL: no memory. */
struct pfs_heap *pfs_heap_without_allocator(const struct pfs_heap *heap);

#endif
