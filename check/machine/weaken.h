/*
 * weaken.h - execute an operation with a weaker order than the source says: does a search notice?
 *
 * seq becomes acquire and release, acquire and release become relaxed; on request seq becomes
 * relaxed too.
 */
#ifndef PFS_SIM_WEAKEN_H
#define PFS_SIM_WEAKEN_H

#include "check/machine/operation.h"

/* All operations of a line of a file, or all of a text; or none. */
struct pfs_weaken {
	const char *file; /* end of its path; NULL: none */
	int line;
	const char *text; /* of the object, as written in the source; NULL: none */
	bool fully;       /* relaxed, also what is seq */
	uint64_t met;     /* how often such an operation was executed weaker */
	/* Called for each operation that orders anything, before it is made weaker. Optional. */
	void (*saw)(void *context, const struct pfs_sim_operation *operation);
	void *context;
};

static inline bool pfs_weaken_is_on(const struct pfs_weaken *self)
{
	return self->file != NULL || self->text != NULL || self->saw != NULL;
}

/*
 * pfs_weaken_parse - "pfs_lock.h:93", or the text of an object: "&self->word". With "=relaxed"
 * appended, seq becomes relaxed too.
 *
 * Returns   false: the text is empty. *self points into `text`, which is cut.
 * Errors    none besides.
 * Progress  wait-free.
 * Order     none.
 */
bool pfs_weaken_parse(struct pfs_weaken *self, char *text);

/* Make the operation weaker if it is of a chosen place. */
void pfs_weaken_apply(struct pfs_weaken *self, struct pfs_sim_operation *operation);

#endif
