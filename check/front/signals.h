/*
 * signals.h - ends of an execution that are signals: traps, divisions by zero, code that comes to
 * no operation any more.
 */
#ifndef PFS_CHECK_SIGNALS_H
#define PFS_CHECK_SIGNALS_H

#include <stdbool.h>

/* From now on; patience: seconds of CPU time without an operation, 0: for ever. */
bool pfs_check_signals_begin(double patience);

/* In a process that goes on by itself: it has no timer yet. */
void pfs_check_signals_forked(void);

#endif
