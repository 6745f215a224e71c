/*
 * die.h - print one line that names a pointer, then abort: for misuse of blocks, and for errors
 * that no option can prevent. Uses neither the heap nor stdio, because it may run inside malloc.
 */
#ifndef PFS_MALLOC_DIE_H
#define PFS_MALLOC_DIE_H

#include "containers/compiler.h"

/* What is wrong with a pointer. */
#define PFS_IS_FREE "the block is already free"
#define PFS_NOT_START "the pointer is not to the start of a block"
#define PFS_NO_BLOCK "this is not a block of this allocator"

/* call: the function that the program called; what: what is wrong with the pointer. */
PFS_COLD PFS_NORETURN void pfs_die(const char *call, const void *pointer, const char *what);

#endif
