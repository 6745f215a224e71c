/*
 * shared.h - what the processes of a search tell each other (jobs.h), and the line on stderr that
 * says how far the search is.
 */
#ifndef PFS_CHECK_SHARED_H
#define PFS_CHECK_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "check/front/user.h"

/* Before processes are forked. false: no memory. */
bool pfs_shared_begin(void);

/* There is one process again, whatever others held when they were ended. */
void pfs_shared_alone(void);

/* One process at a time. */
void pfs_shared_lock(void);
void pfs_shared_unlock(void);

/* A scenario's search begins: nothing is known of it. */
void pfs_shared_reset(const char *scenario);

/* In an execution: a thread could have failed by itself so often; a loop waited for a change. */
void pfs_shared_may_fail(uint32_t thread, uint32_t count);
void pfs_shared_waited(void);

/* What all processes said of that: how often each thread could have; did a loop? */
bool pfs_shared_take(uint32_t may_fail[PFS_USER_THREADS_MAX]);

/* Before each execution: at times shows how many there were, if somebody looks at stderr. */
void pfs_shared_progress(void);

/* The line is gone. */
void pfs_shared_progress_end(void);

#endif
