/*
 * outcomes.h - what executions came to, as pfs_check_outcome says it: each text once, with how
 * many executions came to it. All processes of a search write into one table.
 */
#ifndef PFS_CHECK_OUTCOMES_H
#define PFS_CHECK_OUTCOMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Behind pfs_shared_begin, before processes are forked. false: no memory. */
bool pfs_outcomes_begin(void);

/* None. No other process writes. */
void pfs_outcomes_reset(void);

/* Each, in the order of their texts. Returns how many executions had others, which the
 * table had no room for. */
uint64_t pfs_outcomes_each(void (*visit)(void *context, const char *text, uint64_t executions),
			   void *context);

/* The same, printed; nothing if there are none. */
void pfs_outcomes_print(FILE *out);

#endif
