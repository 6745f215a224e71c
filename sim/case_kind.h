/*
 * case_kind.h - what a case is made of, and the checked operations that its bodies use.
 */
#ifndef PFS_SIM_CASE_KIND_H
#define PFS_SIM_CASE_KIND_H

#include "sim/cases.h"

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

/* Is there an instant in a call's time at which every one of the first `records` records may
 * have been in use? Exactly then "full" was a right answer (linearizability of full). */
bool pfs_case_was_full(const struct pfs_case *self, uint32_t begin, uint32_t end,
		       uint32_t records);

/* In fill: so many records in use; free the one of an index again. */
void pfs_case_keep(struct pfs_case *self, uint32_t count);
void pfs_case_unkeep(struct pfs_case *self, uint64_t index);

#endif
