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

/* Traits that most cases need. */
#define PFS_CASE_INDEX (PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_GROW)
#define PFS_CASE_RECLAIM (PFS_CASE_INDEX | PFS_TRAIT_RECLAIM)

/* The cases, by file; each ends with one that has no name. */
extern const struct pfs_case_kind pfs_cases_basic[];   /* case_kinds.c */
extern const struct pfs_case_kind pfs_cases_reading[]; /* case_read.c */
extern const struct pfs_case_kind pfs_cases_weak[];    /* case_weak.c */
extern const struct pfs_case_kind pfs_cases_rings[];   /* case_rings.c */
extern const struct pfs_case_kind pfs_cases_words[];   /* case_words.c */

/* Allocate, publish, free, abandon, each checked against the oracle; inside a body. */
struct pfs_claim pfs_case_take(struct pfs_case_thread *thread);
void pfs_case_publish(struct pfs_case_thread *thread, struct pfs_claim claim);
void pfs_case_give(struct pfs_case_thread *thread, void *record);
void pfs_case_abandon(struct pfs_case_thread *thread, struct pfs_claim claim);

/* As users do: the owner writes its record without atomics, and whoever frees it reads that
 * back. The machine looks for data races on these bytes. */
void pfs_case_stamp(struct pfs_claim claim);
void pfs_case_check_stamp(void *record);

/* Bodies: allocate, stamp, publish, free, so many times as the case has operations; two passes. */
void pfs_case_churn(void *opaque);
void pfs_case_pass(void *opaque);

/* In configure: records of a page, pages at the start, pages at most. */
void pfs_case_pages(struct pfs_config *config, uint32_t records, uint32_t made, uint32_t most);

/* In fill: so many records in use; free the one of an index again. */
void pfs_case_keep(struct pfs_case *self, uint32_t count);
void pfs_case_unkeep(struct pfs_case *self, uint64_t index);
/* A published record that the set-up allocated by another handle is one more of those. */
void pfs_case_adopt(struct pfs_case *self, void *record);
/* Fails unless there are so many pages: the set-up is not what the case is about. */
void pfs_case_expect_pages(struct pfs_case *self, uint32_t pages);
/* One more handle, in self->extra, detached at the end; in fill or in a body. NULL: failed. */
struct pfs_thread *pfs_case_attach_extra(struct pfs_case *self);
/* In a body: write the kept record of an index, and free it. */
void pfs_case_give_kept(struct pfs_case_thread *thread, uint64_t index);

/* In finish: fails if a thread was refused. */
void pfs_case_nobody_refused(struct pfs_case *self);

#endif
