/*
 * case_kind.h - what a case is made of, and the checked operations that its bodies use.
 */
#ifndef PFS_SIM_CASE_KIND_H
#define PFS_SIM_CASE_KIND_H

#include "sim/cases/cases.h"

/* Beside the traits: calls begin and end with a step, so that a search tries every order that
 * the clock can tell. Elsewhere it tries one for each class. */
#define PFS_CASE_TIMED (UINT32_C(1) << 31)
/* Some record is free all the time, and nobody takes it away: nobody may wait. See progress.h. */
#define PFS_CASE_BESIDE (UINT32_C(1) << 30)
/* Each thread's calls may be said behind the name, as in "one:gtt,tg": give, take, take; take,
 * give. */
#define PFS_CASE_CALLS (UINT32_C(1) << 29)
/* For searches of its own: not in what goes through all scenarios. */
#define PFS_CASE_APART (UINT32_C(1) << 28)
/* Its threads wait for each other, as said: none of them may be parked. */
#define PFS_CASE_TURNS (UINT32_C(1) << 27)
/* With PFS_CASE_TIMED: the clock ticks only where an answer is judged by it, see cases.c. */
#define PFS_CASE_SPARING (UINT32_C(1) << 26)
/* It is about rings of free records: for policies that have some. */
#define PFS_CASE_RINGS (UINT32_C(1) << 25)

/* Its threads loop for ever, and choose what to do: for --search fixpoint (case_loops.c). */
#define PFS_CASE_LOOPS (UINT32_C(1) << 24)

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

/* What is said of a case, and not needed of a policy. */
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

/* Have its records words? */
static inline bool pfs_case_has_words(const struct pfs_case *self)
{
	return self->layout != PFS_LAYOUT_BARE || self->bare_words;
}

/* As users do: the owner writes its record without atomics, and whoever frees it reads that
 * back. The machine looks for data races on these bytes. */
void pfs_case_stamp(struct pfs_claim claim);
void pfs_case_check_stamp(void *record);

/* Allocate, stamp, publish: one more operation of the thread. The record, or NULL. */
void *pfs_case_take_and_stamp(struct pfs_case_thread *thread);

/* Bodies: that once, and the record is kept; that and free, so many times as the case has
 * operations; two passes. */
void pfs_case_take_one(void *opaque);
void pfs_case_churn(void *opaque);
void pfs_case_pass(void *opaque);

/* In configure: records of a page, pages at the start, pages at most. */
void pfs_case_pages(struct pfs_config *config, uint32_t records, uint32_t made, uint32_t most);

/* In fill: so many records in use, or all that there may be; free the one of an index again. */
void pfs_case_keep(struct pfs_case *self, uint32_t count);
void pfs_case_keep_all(struct pfs_case *self);
void pfs_case_unkeep(struct pfs_case *self, uint64_t index);
/* A published record that the set-up allocated by another handle is one more of those. */
void pfs_case_adopt(struct pfs_case *self, void *record);
/* Fails unless there are so many pages: the set-up is not what the case is about. */
void pfs_case_expect_pages(struct pfs_case *self, uint32_t pages);
/* A handle, or the execution fails. */
void pfs_case_attach(struct pfs_case *self, struct pfs_thread **handle);
/* One more handle, in self->extra, detached at the end; in fill or in a body. NULL: failed. */
struct pfs_thread *pfs_case_attach_extra(struct pfs_case *self);
/* In a body: the same thread by that handle; what one handle remembers does not lead the other. */
struct pfs_case_thread pfs_case_by_extra(struct pfs_case_thread *thread, uint32_t extra);
/* In a body: write the kept record of an index, and free it. */
void pfs_case_give_kept(struct pfs_case_thread *thread, uint64_t index);

/* The calls of each thread, as "gtt,tg". False: not so, or not for this case. */
bool pfs_case_read_calls(struct pfs_case *self, const char *text);

/* In finish: fails if a thread was refused; if one was, and the policy is exact. */
void pfs_case_nobody_refused(struct pfs_case *self);
void pfs_case_exact_refuses_nobody(struct pfs_case *self);

#endif
