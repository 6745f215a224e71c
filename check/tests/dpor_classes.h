/*
 * dpor_classes.h - the class of an execution, and sets of classes; for tests. Uses nothing of
 * the searches' own relation (depends.h, dpor_views.c): it is written a second time.
 *
 * A class is the order of the steps that depend on each other. With views it is, for operations
 * that choose, what each of them read and the order of writes; for all others the same as above.
 */
#ifndef PFS_SIM_DPOR_CLASSES_H
#define PFS_SIM_DPOR_CLASSES_H

#include "check/machine/machine.h"

struct pfs_classes {
	struct pfs_hash_table table; /* of hashes */
	uint64_t sum;                /* of the hashes: equal sums, equal sets */
};

void pfs_classes_clear(struct pfs_classes *self);

/* The class of the execution that has just ended; the machine was tracing. */
void pfs_classes_add(struct pfs_classes *self, const struct pfs_machine *machine);

#endif
