/*
 * idle.h - detects a program that sleeps in a call of the host, which nothing would ever end.
 */
#ifndef PFS_CHECK_IDLE_H
#define PFS_CHECK_IDLE_H

#include <stdbool.h>

/* From now on, end pfs-check with a line, as for a program that cannot be checked, if the program
 * has neither reached an operation nor used the processor for `patience` seconds. */
bool pfs_check_idle_begin(double patience);

/* In a forked process, which has no timer yet. */
void pfs_check_idle_forked(void);

#endif
