/*
 * die.h - one line that names a pointer, then abort: what a program does wrong with its blocks,
 * and what no option can mend. Uses no memory and no stdio, for it may run inside malloc.
 */
#ifndef PFS_MALLOC_DIE_H
#define PFS_MALLOC_DIE_H

#include "containers/compiler.h"

/* call: what the program called; what: what is wrong with the pointer. */
PFS_COLD PFS_NORETURN void pfs_die(const char *call, const void *pointer, const char *what);

/* A line on stderr, of up to three parts; for options that are not understood. */
PFS_COLD void pfs_warn(const char *first, const char *second, const char *third);

#endif
