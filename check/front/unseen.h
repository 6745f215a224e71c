/*
 * unseen.h - calls of functions in libraries, whose accesses are not seen: each may have an effect.
 */
#ifndef PFS_CHECK_UNSEEN_H
#define PFS_CHECK_UNSEEN_H

#include <stdbool.h>
#include <stdint.h>

/* How many such calls the program has made since loops.h set this to 0. */
extern uint64_t pfs_unseen_calls;

/* What the program is to call instead of this function, which pfs-check does not replace: an entry
 * that counts the call. NULL: the function itself, which changes nothing that others could notice.
 * is_call: the program calls it; else it takes its address, or that of a variable. */
void *pfs_unseen_entry(const char *name, void *function, bool is_call);

/* Is there no room for a further entry? */
bool pfs_unseen_is_full(void);

#endif
