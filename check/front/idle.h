/*
 * idle.h - a program that sleeps in a call of the host, which nothing here would ever end.
 */
#ifndef PFS_CHECK_IDLE_H
#define PFS_CHECK_IDLE_H

#include <stdbool.h>

/* From now on: ends pfs-check with a line, and as what cannot be checked, when the program has
 * neither come to an operation nor used the processor for so many seconds. */
bool pfs_check_idle_begin(const char *program, double patience);

/* In a process that goes on by itself: it has no timer yet. */
void pfs_check_idle_forked(void);

#endif
