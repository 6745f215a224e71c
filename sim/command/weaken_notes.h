/*
 * weaken_notes.h - what is known about weaker orders: where to search first, or why no search can
 * detect them.
 *
 * One line each in weaken.notes:
 *
 *     FILE | FUNCTION | EDGE | OBJECT | OPERATION | search POLICY SCENARIO EXECUTIONS
 *     FILE | FUNCTION | EDGE | OBJECT | OPERATION | a sentence
 *
 * with "owner_fences" between SCENARIO and EXECUTIONS if rings are without the barrier. Names are
 * those that `pfs-sim weaken` prints; empty lines and lines that begin with # are skipped.
 */
#ifndef PFS_SIM_WEAKEN_NOTES_H
#define PFS_SIM_WEAKEN_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#define PFS_WEAKEN_NOTES_MAX 128u

struct pfs_weaken_note {
	char file[32], function[48], edge[8], object[64], operation[48];
	char policy[24], scenario[24]; /* "": it is a sentence */
	char sentence[600];
	uint64_t executions;
	bool owner_fences;
	bool met; /* an operation of this line was tried */
};

struct pfs_weaken_notes {
	struct pfs_weaken_note notes[PFS_WEAKEN_NOTES_MAX];
	uint32_t count;
};

/*
 * pfs_weaken_notes_read - read all lines of a file.
 *
 * Returns   false: it cannot be read, or has a wrong line, which is reported on stderr.
 * Errors    as returned.
 * Progress  blocking.
 * Order     none.
 */
bool pfs_weaken_notes_read(struct pfs_weaken_notes *self, const char *path);

/* The note with these first five fields, marked as met; NULL: none. */
const struct pfs_weaken_note *pfs_weaken_notes_find(struct pfs_weaken_notes *self,
						    const char *const fields[5]);

#endif
