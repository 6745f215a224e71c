/*
 * case_kind.h - the definition of a case, and the checked operations that its bodies use.
 */
#ifndef PFS_SIM_CASE_KIND_H
#define PFS_SIM_CASE_KIND_H

#include "sim/cases/cases.h"

/* In addition to the traits: calls begin and end with a step, so that a search tries every order
 * that the clock can tell. Without it, a search tries one order for each class. */
#define PFS_CASE_TIMED (UINT32_C(1) << 31)
/* Some record is free all the time, and no thread takes it away: no thread may wait. See
 * progress.h. */
#define PFS_CASE_BESIDE (UINT32_C(1) << 30)
/* Each thread's calls may follow the name, as in "one:gtt,tg": give, take, take; take, give. */
#define PFS_CASE_CALLS (UINT32_C(1) << 29)
/* For searches of its own: skipped by commands that go through all scenarios. */
#define PFS_CASE_APART (UINT32_C(1) << 28)
/* Its threads wait for each other by design: none of them may be parked. */
#define PFS_CASE_TURNS (UINT32_C(1) << 27)
/* With PFS_CASE_TIMED: the clock ticks only where an answer is judged by it, see cases.c. */
#define PFS_CASE_SPARING (UINT32_C(1) << 26)
/* About rings of free records: for policies that have some. */
#define PFS_CASE_RINGS (UINT32_C(1) << 25)

/* Its threads loop for ever, and choose what to do: for --search fixpoint (case_loops.c). */
#define PFS_CASE_LOOPS (UINT32_C(1) << 24)

struct pfs_case_kind {
	const char *name;
	const char *summary;
	uint32_t traits;              /* required */
	uint32_t threads, operations; /* unless the caller sets others */
	uint32_t threads_max;         /* 0: PFS_CASE_THREADS_MAX */
	void (*configure)(struct pfs_case *self, struct pfs_config *config);
	void (*fill)(struct pfs_case *self);   /* optional */
	void (*bodies[3])(void *);             /* of thread 0, of thread 1, of all others */
	void (*finish)(struct pfs_case *self); /* optional, before the general checks */
};

/* Traits of a case, which no policy needs to have. */
#define PFS_CASE_OWN_TRAITS                                                                    \
	(PFS_CASE_TIMED | PFS_CASE_BESIDE | PFS_CASE_CALLS | PFS_CASE_APART | PFS_CASE_TURNS | \
	 PFS_CASE_SPARING | PFS_CASE_RINGS | PFS_CASE_LOOPS)

/* Traits that most cases need. */
#define PFS_CASE_INDEX (PFS_TRAIT_WORDS | PFS_TRAIT_INDEX | PFS_TRAIT_GROW)
#define PFS_CASE_RECLAIM (PFS_CASE_INDEX | PFS_TRAIT_RECLAIM)

/* The cases, by file; each ends with one that has no name. */
extern const struct pfs_case_kind pfs_cases_basic[];   /* case_kinds.c */
extern const struct pfs_case_kind pfs_cases_reading[]; /* case_read.c */
extern const struct pfs_case_kind pfs_cases_weak[];    /* case_weak.c */
extern const struct pfs_case_kind pfs_cases_rings[];   /* case_rings.c */
extern const struct pfs_case_kind pfs_cases_words[];   /* case_words.c */
extern const struct pfs_case_kind pfs_cases_rooms[];   /* case_rooms.c */
extern const struct pfs_case_kind pfs_cases_many[];    /* case_many.c */
extern const struct pfs_case_kind pfs_cases_calls[];   /* case_calls.c */
extern const struct pfs_case_kind pfs_cases_trades[];  /* case_trades.c */
extern const struct pfs_case_kind pfs_cases_depot[];   /* case_depot.c */
extern const struct pfs_case_kind pfs_cases_loops[];   /* case_loops.c */

/* Of a case that loops, in case_loops.c: at the end of the set-up; and between two steps. */
void pfs_loops_begin(struct pfs_case *self);
void pfs_loops_check(void *context);

/* Allocate, publish, free, abandon, each checked against the oracle; inside a body. */
struct pfs_claim pfs_case_take(struct pfs_case_thread *thread);
void pfs_case_publish(struct pfs_case_thread *thread, struct pfs_claim claim);
void pfs_case_give(struct pfs_case_thread *thread, void *record);
/* By pfs_allocate_many, which returns how many, and pfs_free_many; at most PFS_CASE_MANY_MAX. */
#define PFS_CASE_MANY_MAX 8u
uint32_t pfs_case_take_many(struct pfs_case_thread *thread, struct pfs_claim *claims,
			    uint32_t count);
void pfs_case_give_many(struct pfs_case_thread *thread, void *const *records, uint32_t count);
void pfs_case_abandon(struct pfs_case_thread *thread, struct pfs_claim claim);

/* Do its records have words? */
static inline bool pfs_case_has_words(const struct pfs_case *self)
{
	return self->layout != PFS_LAYOUT_BARE || self->bare_words;
}

/* As users do: the owner writes its record without atomics, and the thread that frees it reads that
 * back. The machine looks for data races on these bytes. */
void pfs_case_stamp(struct pfs_claim claim);
void pfs_case_check_stamp(void *record);

/* Allocate, stamp, publish: one more operation of the thread. The record, or NULL. */
void *pfs_case_take_and_stamp(struct pfs_case_thread *thread);

/* Bodies: that once, and keep the record; that and free, as many times as the case has operations;
 * two passes. */
void pfs_case_take_one(void *opaque);
void pfs_case_churn(void *opaque);
void pfs_case_pass(void *opaque);

/* In configure: records of a page, pages at the start, most pages. */
void pfs_case_pages(struct pfs_config *config, uint32_t records, uint32_t made, uint32_t most);

/* In fill: keep `count` records in use, or all that there may be; free the one of an index
 * again. */
void pfs_case_keep(struct pfs_case *self, uint32_t count);
void pfs_case_keep_all(struct pfs_case *self);
void pfs_case_unkeep(struct pfs_case *self, uint64_t index);
/* Count a published record that the set-up allocated by another handle as one of those. */
void pfs_case_adopt(struct pfs_case *self, void *record);
/* Fails unless there are this many pages: then the set-up does not fit the case. */
void pfs_case_expect_pages(struct pfs_case *self, uint32_t pages);
/* Get a handle, or fail the execution. */
void pfs_case_attach(struct pfs_case *self, struct pfs_thread **handle);
/* One more handle, in self->extra, detached at the end; in fill or in a body. NULL: failed. */
struct pfs_thread *pfs_case_attach_extra(struct pfs_case *self);
/* In a body: the same thread with that handle; what one handle remembers does not lead the
 * other. */
struct pfs_case_thread pfs_case_by_extra(struct pfs_case_thread *thread, uint32_t extra);
/* In a body: write the kept record of an index, and free it. */
void pfs_case_give_kept(struct pfs_case_thread *thread, uint64_t index);

/* The calls of each thread, as "gtt,tg". False: a wrong text, or not for this case. */
bool pfs_case_read_calls(struct pfs_case *self, const char *text);

/* In finish: fails if a thread was refused; the second only if the policy is exact. */
void pfs_case_nobody_refused(struct pfs_case *self);
void pfs_case_exact_refuses_nobody(struct pfs_case *self);

#endif
