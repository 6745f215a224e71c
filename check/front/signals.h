/*
 * signals.h - executions that end by a signal: traps, divisions by zero, code that reaches no
 * further operation.
 */
#ifndef PFS_CHECK_SIGNALS_H
#define PFS_CHECK_SIGNALS_H

#include <stdbool.h>

/* From now on; patience: seconds of CPU time without an operation, 0: unlimited. */
bool pfs_check_signals_begin(double patience);

/* A timer of setitimer: a signal at each tick, in seconds. */
bool pfs_check_timer_start(int timer, double tick);

/* In a forked process, which has no timer yet. */
void pfs_check_signals_forked(void);

#endif
