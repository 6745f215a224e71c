/*
 * case_kind.h - what a case is made of, and the checked operations that its bodies use.
 */
#ifndef PFS_SIM_CASE_KIND_H
#define PFS_SIM_CASE_KIND_H

#include "sim/cases.h"

/* Beside the traits: calls begin and end with a step, so that a search tries every order that
 * the clock can tell. Elsewhere it tries one for each class. */
#define PFS_CASE_TIMED (UINT32_C(1) << 31)
/* Some record is free all the time, and nobody takes it away: nobody may wait. See progress.h. */
#define PFS_CASE_BESIDE (UINT32_C(1) << 30)

struct pfs_case_kind {
	const char *name;
	const char *summary;
	uint32_t traits;              /* needed */
	uint32_t threads, operations; /* unless the caller says otherwise */
	uint32_t threads_max;         /* 0: PFS_CASE_THREADS_MAX */
	void (*configure)(struct pfs_case *self, struct pfs_config *config);
	void (*fill)(struct pfs_case *self);   /* optional */
	void (*bodies[3])(void *);             /* of thread 0, of thread 1, of all others */
	void (*finish)(struct pfs_case *self); /* optional, before the general checks */
};

extern const struct pfs_case_kind pfs_case_kinds[];
extern const size_t pfs_case_kind_count;

/* Allocate, publish, free, each checked against the oracle; inside a body. */
struct pfs_claim pfs_case_take(struct pfs_case_thread *thread);
void pfs_case_publish(struct pfs_case_thread *thread, struct pfs_claim claim);
void pfs_case_give(struct pfs_case_thread *thread, void *record);

/* In fill: so many records in use; free the one of an index again. */
void pfs_case_keep(struct pfs_case *self, uint32_t count);
void pfs_case_unkeep(struct pfs_case *self, uint64_t index);

#endif
