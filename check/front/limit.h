/*
 * limit.h - --seconds within an execution: one that takes longer is ended, as one with too many
 * steps, when the program calls our code.
 */
#ifndef PFS_CHECK_LIMIT_H
#define PFS_CHECK_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The clock is read about once per this many units of work. */
#define PFS_LIMIT_STEP 16u
#define PFS_LIMIT_ACCESS 1u
#define PFS_LIMIT_BYTES 256u /* written at once: a unit */
#define PFS_LIMIT_WORK 4096u

/* Of CLOCK_MONOTONIC. */
double pfs_limit_now(void);

/* Executions end at this time; 0: no limit. */
void pfs_limit_set(double time);

/* The scenario's function begins, or has ended. */
void pfs_limit_setup(bool runs);

/* Was the limit reached in this execution? To be called once, after the execution. */
bool pfs_limit_was_met(void);

/* Work in a thread or the scenario's function: if it is time, the execution ends. */
extern size_t pfs_limit_left;
void pfs_limit_look(void);
static inline void pfs_limit_spend(size_t work)
{
	if (__builtin_expect(pfs_limit_left < work, 0))
		pfs_limit_look();
	else
		pfs_limit_left -= work;
}

#endif
