/*
 * shared.h - memory that the processes of a search share (jobs.h), and the progress line on stderr.
 */
#ifndef PFS_CHECK_SHARED_H
#define PFS_CHECK_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "check/front/user.h"

/* Before processes are forked. false: no memory. */
bool pfs_shared_begin(void);

/* There is one process again: forget what others held when they were killed. */
void pfs_shared_alone(void);

/* One process at a time. */
void pfs_shared_lock(void);
void pfs_shared_unlock(void);

/* A scenario's search begins: nothing is known of it. */
void pfs_shared_reset(const char *scenario);

/* In an execution: a thread could have had this many faults. */
void pfs_shared_may_fail(uint32_t thread, uint32_t count);

/* In an execution: what the report mentions once, with the first place. */
enum pfs_shared_note {
	PFS_NOTE_LOOKS, /* a loop was cut */
	PFS_NOTE_STEPS, /* the bound on steps was reached */
	PFS_NOTE_LIMIT, /* all threads waited, one of them with a time limit, beyond --spurious */
	PFS_NOTE_COUNT
};
struct pfs_shared_place {
	bool is_noted;
	int line;
	char file[512], what[128];
};
void pfs_shared_note(enum pfs_shared_note note, const struct pfs_sim_place *place);
const struct pfs_shared_place *pfs_shared_noted(enum pfs_shared_note note);

/* In an execution: these threads use a barrier. Take: adds what all processes reported. */
void pfs_shared_meets(uint32_t barrier, uint32_t users);
void pfs_shared_take_meets(uint32_t meets[PFS_USER_MEETS_MAX]);

/* What all processes reported: how many faults each thread could have had. */
void pfs_shared_take(uint32_t may_fail[PFS_USER_THREADS_MAX]);

/* Before each execution: sometimes shows how many there were, if stderr is a terminal. */
void pfs_shared_progress(void);

/* Remove the line. */
void pfs_shared_progress_end(void);

#endif
