/*
 * compile.h - programs that are given as sources: compiled into a shared object for pfs-check, in a
 * folder that is removed at the end.
 */
#ifndef PFS_CHECK_COMPILE_H
#define PFS_CHECK_COMPILE_H

#include <stdbool.h>

/* C or C++, by its ending. */
bool pfs_compile_is_source(const char *word);

/* Sources and compiler flags, in their order; *program is then the shared object. NULL, or what is
 * wrong, in a line. */
const char *pfs_compile(char **words, int count, bool tells_volatile, const char **program);

/* Remove what was made. */
void pfs_compile_end(void);

/* The program of --example. */
extern const char pfs_check_example[];

#endif
