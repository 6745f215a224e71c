/*
 * case_kind.h - the definition of a case, and the checked operations that its bodies use.
 */
#ifndef PFS_SIM_CASE_KIND_H
#define PFS_SIM_CASE_KIND_H

#include "sim/cases/cases.h"

/* Besides the policies' traits: each call begins and ends with a step, so that a search tries every
 * order that the clock distinguishes. Without it, a search tries one order of each class. */
#define PFS_CASE_TIMED (UINT32_C(1) << 31)
/* A record is free throughout, and no thread takes it: no thread may wait. See progress.h. */
#define PFS_CASE_BESIDE (UINT32_C(1) << 30)
/* The calls of each thread may follow the name: "one:gtt,tg" is give, take, take; take, give. */
#define PFS_CASE_CALLS (UINT32_C(1) << 29)
/* Has a search of its own: commands that run all scenarios skip it. */
#define PFS_CASE_APART (UINT32_C(1) << 28)
/* Its threads wait for each other by design, so none of them may be parked. */
#define PFS_CASE_TURNS (UINT32_C(1) << 27)
/* With PFS_CASE_TIMED: the clock ticks only where it decides an answer, see case_oracle.c. */
#define PFS_CASE_SPARING (UINT32_C(1) << 26)
/* About rings of free records: only for policies that have rings. */
#define PFS_CASE_RINGS (UINT32_C(1) << 25)
/* Its threads loop forever and choose each call: for --search fixpoint (case_loops.c). */
#define PFS_CASE_LOOPS (UINT32_C(1) << 24)

/* The container of a case. In the second line, 0 is the default of every case (cases.c). */
struct pfs_case_shape {
	uint32_t records, made, most; /* records of a page; pages at the start, and at most */
	uint32_t idle_passes, word_records, room_fan, ring_records, hints; /* see pfs_case */
};

#define PFS_CASE_PAGES(records_, made_, most_) \
	.records = (records_), .made = (made_), .most = (most_)

struct pfs_case_kind {
	const char *name;
	const char *summary;
	uint32_t traits;              /* of the policy, and of the case: PFS_CASE_ */
	uint32_t threads, operations; /* unless the caller sets others */
	uint32_t threads_max;         /* 0: PFS_CASE_THREADS_MAX */
	struct pfs_case_shape shape;
	void (*configure)(struct pfs_case *self, struct pfs_config *config); /* the rest, or NULL */
	void (*fill)(struct pfs_case *self);                                 /* optional */
	void (*bodies[3])(struct pfs_case_thread *thread); /* of threads 0, 1, and all others */
	void (*finish)(struct pfs_case *self);             /* optional, before the general checks */
};

/* The traits of a case, which no policy has. */
#define PFS_CASE_OWN_TRAITS                                                                    \
	(PFS_CASE_TIMED | PFS_CASE_BESIDE | PFS_CASE_CALLS | PFS_CASE_APART | PFS_CASE_TURNS | \
	 PFS_CASE_SPARING | PFS_CASE_RINGS | PFS_CASE_LOOPS)

/* Traits that most cases need. */
#define PFS_CASE_INDEX (PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_GROW)
#define PFS_CASE_RECLAIM (PFS_CASE_INDEX | PFS_TRAIT_RECLAIM)

/* The cases of each file; an entry without a name ends each table. */
extern const struct pfs_case_kind pfs_cases_basic[];   /* case_kinds.c */
extern const struct pfs_case_kind pfs_cases_reading[]; /* case_read.c */
extern const struct pfs_case_kind pfs_cases_stale[];   /* case_stale.c */
extern const struct pfs_case_kind pfs_cases_weak[];    /* case_weak.c */
extern const struct pfs_case_kind pfs_cases_rings[];   /* case_rings.c */
extern const struct pfs_case_kind pfs_cases_words[];   /* case_words.c */
extern const struct pfs_case_kind pfs_cases_rooms[];   /* case_rooms.c */
extern const struct pfs_case_kind pfs_cases_many[];    /* case_many.c */
extern const struct pfs_case_kind pfs_cases_calls[];   /* case_calls.c */
extern const struct pfs_case_kind pfs_cases_trades[];  /* case_trades.c */
extern const struct pfs_case_kind pfs_cases_depot[];   /* case_depot.c */
extern const struct pfs_case_kind pfs_cases_loops[];   /* case_loops.c */

/* Of a case that loops, in case_loops.c: called at the end of the set-up, and between steps. */
void pfs_loops_begin(struct pfs_case *self);
void pfs_loops_check(void *context);

/* Called in a body: allocate, publish, free and abandon, each checked against the oracle. */
struct pfs_claim pfs_case_take(struct pfs_case_thread *thread);
void pfs_case_publish(struct pfs_case_thread *thread, struct pfs_claim claim);
void pfs_case_give(struct pfs_case_thread *thread, void *record);
/* Calls pfs_allocate_many and returns its count, or pfs_free_many. */
#define PFS_CASE_MANY_MAX 8u
uint32_t pfs_case_take_many(struct pfs_case_thread *thread, struct pfs_claim *claims,
			    uint32_t count);
void pfs_case_give_many(struct pfs_case_thread *thread, void *const *records, uint32_t count);
void pfs_case_abandon(struct pfs_case_thread *thread, struct pfs_claim claim);

/* Do the records have words? */
static inline bool pfs_case_has_words(const struct pfs_case *self)
{
	return self->layout != PFS_LAYOUT_BARE || self->bare_words;
}

/* The owner writes its record without atomics, and the thread that frees it checks the bytes, as
 * users do. The machine looks for data races on these bytes. */
void pfs_case_stamp(struct pfs_claim claim);
void pfs_case_check_stamp(void *record);

/* Allocate, stamp and publish: one operation of the thread. Returns the record, or NULL. */
void *pfs_case_take_and_stamp(struct pfs_case_thread *thread);

/* Bodies. They take, stamp and keep one record, or two; take and free one for each operation of the
 * case; run two passes. */
void pfs_case_take_one(struct pfs_case_thread *thread);
void pfs_case_take_two(struct pfs_case_thread *thread);
void pfs_case_churn(struct pfs_case_thread *thread);
void pfs_case_pass(struct pfs_case_thread *thread);

/* In configure: records of a page, pages at the start, pages at most. */
void pfs_case_pages(struct pfs_config *config, uint32_t records, uint32_t made, uint32_t most);

/* Has the execution failed? In the set-up, a failure does not end it. */
static inline bool pfs_case_has_failed(const struct pfs_case *self)
{
	return self->machine->run.end != PFS_END_DONE;
}

/* In fill: allocate and publish `count` records, or all that fit, and keep them in use. */
void pfs_case_keep(struct pfs_case *self, uint32_t count);
void pfs_case_keep_all(struct pfs_case *self);
/* The same by another handle; NULL: one that could not be attached. Fails without a record. */
void *pfs_case_keep_by(struct pfs_case *self, struct pfs_thread *handle);
/* In fill: free the kept records of indices first to end - 1, unless the execution has failed. */
void pfs_case_unkeep(struct pfs_case *self, uint64_t first, uint64_t end);
/* In fill: free a kept record by another handle. */
void pfs_case_unkeep_by(struct pfs_case *self, struct pfs_thread *handle, void *record);
/* Fail unless there are this many pages: otherwise the set-up does not fit the case. */
void pfs_case_expect_pages(struct pfs_case *self, uint32_t pages);
/* Fail unless every record is in use. The search for one also clears all paths. */
void pfs_case_expect_full(struct pfs_case *self);
/* Attach a handle, or fail the execution. */
void pfs_case_attach(struct pfs_case *self, struct pfs_thread **handle);
/* In fill or in a body: attach one more handle, in self->extra. NULL: failed. It is detached at the
 * end of the execution. */
struct pfs_thread *pfs_case_attach_extra(struct pfs_case *self);
/* In fill: `count` of them. */
void pfs_case_attach_extras(struct pfs_case *self, uint32_t count);
/* In a body: the same thread with that handle. A handle does not know what another remembers. */
struct pfs_case_thread pfs_case_by_extra(struct pfs_case_thread *thread, uint32_t extra);
/* In a body: write the kept record of an index, and free it. The second: of indices first to
 * end - 1. */
void pfs_case_give_kept(struct pfs_case_thread *thread, uint64_t index);
void pfs_case_give_range(struct pfs_case_thread *thread, uint64_t first, uint64_t end);

/* Reads the calls of each thread, as "gtt,tg". False: wrong text, or the case takes no calls. */
bool pfs_case_read_calls(struct pfs_case *self, const char *text);

/* In finish: fail if a thread, or thread 0, was refused. */
void pfs_case_nobody_refused(struct pfs_case *self);
/* The same, if the policy is exact. */
void pfs_case_exact_refuses_nobody(struct pfs_case *self);
void pfs_case_exact_grants_first(struct pfs_case *self);
/* In finish: fail with this reason if more than `most` pages were added. */
void pfs_case_pages_added(struct pfs_case *self, uint64_t most, const char *reason);

#endif
