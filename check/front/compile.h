/*
 * compile.h - a program that is given as sources: compiled as pfs-check loads it, into a folder
 * that is removed at the end.
 */
#ifndef PFS_CHECK_COMPILE_H
#define PFS_CHECK_COMPILE_H

#include <stdbool.h>

/* By its ending, C or C++. */
bool pfs_compile_is_source(const char *word);

/* Sources and what else the compiler is told, in their order; the shared object is *program then.
 * NULL, or what is wrong, in a line. */
const char *pfs_compile(char **words, int count, const char **program);

/* Removes what was made. */
void pfs_compile_end(void);

/* A program to begin with. */
extern const char pfs_check_example[];

#endif
