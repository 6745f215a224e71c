/*
 * outcomes.h - the outcomes of executions, from pfs_check_outcome: each text once, with the number
 * of executions that ended with it. All processes of a search write into one table.
 */
#ifndef PFS_CHECK_OUTCOMES_H
#define PFS_CHECK_OUTCOMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* After pfs_shared_begin, before processes are forked. false: no memory. */
bool pfs_outcomes_begin(void);

/* Remove all. No other process may write. */
void pfs_outcomes_reset(void);

/* Visit each, in the order of their texts. Returns how many executions had others, for which there
 * was no room. */
uint64_t pfs_outcomes_each(void (*visit)(void *context, const char *text, uint64_t executions),
			   void *context);

/* The same, printed; nothing if there are none. */
void pfs_outcomes_print(FILE *out);

#endif
