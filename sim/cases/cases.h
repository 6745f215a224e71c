/*
 * cases.h - small scenarios on one container, with an oracle that knows every owner.
 *
 * Checked on every schedule of every case: no record has two owners, and none is lost (each is FREE
 * or owned, and at the end FREE if nothing owns it). Words change only along the edges of pfs_lock,
 * and versions never fall, even if a page was given back and its index is reused. At rest each free
 * record is in exactly one place, and announced (balance.h). No access goes to a page that was
 * given back, and there is no deadlock and no panic. The calls are linearizable by the clock,
 * including answers of full and pages added by an exact policy. Each case adds its own checks.
 */
#ifndef PFS_SIM_CASES_H
#define PFS_SIM_CASES_H

#include <pfslab/variant.h>

#include "containers/variant.h"
#include "sim/cases/case_history.h"
#include "check/search/search.h"

#define PFS_CASE_THREADS_MAX 8u
#define PFS_CASE_OPERATIONS_MAX 8u /* of each thread */
#define PFS_CASE_RECORDS_MAX 64u
#define PFS_CASE_EXTRA_MAX 3u /* handles besides those of the threads and of the set-up */

struct pfs_case_kind;

struct pfs_case {
	const struct pfs_case_kind *kind;
	const struct pfs_variant *variant;
	uint32_t thread_count;
	uint32_t thread_max; /* most for which the case makes sense */
	uint32_t operations; /* of each thread, if the case uses it */
	char calls[PFS_CASE_THREADS_MAX][PFS_CASE_OPERATIONS_MAX + 1]; /* see PFS_CASE_CALLS */
	enum pfs_layout layout;
	bool bare_words;
	bool full_flags;
	bool owner_fences; /* rings without the heavy barrier: see pfs_case_heeds_fences */
	bool skips_finish; /* a thread that is not the case's own changed what it expects */
	bool real_time;    /* a free counts from its return, although its stores are still
			    * buffered */

	/* Of the current execution. */
	struct pfs_machine *machine;
	struct pfs_container *container;
	struct pfs_config config;
	uint32_t word_records; /* of an occupancy word; this and the next four: the case chooses */
	uint32_t room_fan;     /* children of a node of the trees */
	uint32_t hints;        /* words that a thread remembers */
	uint32_t ring_records; /* of a ring, if the policy has rings */
	uint32_t bypass;       /* frees that bypass a closed ring, or as many as it holds */
	uint64_t fulls_now, reads_now; /* of this execution: included in fulls and reads */
	struct pfs_thread *setup;
	struct pfs_thread *extra[PFS_CASE_EXTRA_MAX];
	uint32_t extra_count;
	struct pfs_case_thread {
		struct pfs_case *own;
		struct pfs_thread *handle;
		uint32_t id;
		uint32_t operations; /* begun */
		uint32_t refused;
		const char *doing; /* the call that it is in, if the oracle checks it; or NULL */
		uint32_t in_hands; /* most records that the call holds and no thread owns */
	} threads[PFS_CASE_THREADS_MAX];
	/* By record index. */
	uint32_t owner[PFS_CASE_RECORDS_MAX];   /* 0, or 1 + thread; the set-up is thread 99 */
	uint32_t version[PFS_CASE_RECORDS_MAX]; /* highest published */
	uint32_t word[PFS_CASE_RECORDS_MAX];    /* as last seen; UINT32_MAX: no page */
	uint64_t cell[PFS_CASE_RECORDS_MAX];    /* of notes */
	uint64_t clock;                         /* of notes, too */
	void *kept[PFS_CASE_RECORDS_MAX];       /* records of the set-up */
	uint32_t kept_count;
	uint64_t mailbox; /* a record passed between threads; atomic */
	char *stale;      /* a record that a thread reads without a section */
	uint32_t newest;  /* the newest version that the set-up made of it */
	uint32_t visits[PFS_CASE_RECORDS_MAX];
	/* Of a case that loops. */
	struct pfs_case_loops {
		void *held[PFS_CASE_RECORDS_MAX];      /* by index: records with an owner */
		uint8_t freeing[PFS_CASE_RECORDS_MAX]; /* by index: 1 + the thread that frees it */
		uint8_t is_due[PFS_CASE_THREADS_MAX];  /* it may not be refused: see case_loops.c */
		uint8_t takes[PFS_CASE_THREADS_MAX];   /* it is in an allocate */
		uint8_t in_call[PFS_CASE_THREADS_MAX];
		uint64_t pages; /* the highest number so far */
	} loops;
	struct pfs_case_history history;
	uint64_t fulls;     /* refusals, over all executions */
	uint64_t reclaimed; /* pages, over all executions: a case without any proves nothing */
	uint64_t reads;     /* confirmed optimistic reads, over all executions */
};

/*
 * pfs_case_init - prepare *scenario to run the case `name` of a policy.
 *
 * Returns   NULL, or one line with the reason (unknown, or the policy cannot run it).
 * Errors    as returned.
 * Progress  wait-free.
 * Order     none.
 */
const char *pfs_case_init(struct pfs_case *self, const char *name,
			  const struct pfs_variant *variant, struct pfs_scenario *scenario);

/* The layout of its records; bare_words: of PFS_LAYOUT_BARE, with words. */
static inline void pfs_case_layout(struct pfs_case *self, enum pfs_layout layout, bool bare_words)
{
	self->layout = layout;
	self->bare_words = bare_words;
}

/* Does config.owner_fences matter to the policy? Then searches run with and without it. */
bool pfs_case_heeds_fences(const struct pfs_variant *variant);

/* Of an initialized case: do commands that run all scenarios skip it? */
bool pfs_case_is_apart(const struct pfs_case *self);

/* Do its threads wait for each other, so that none of them may be parked? */
bool pfs_case_takes_turns(const struct pfs_case *self);

/* The name and summary of the case at a position; NULL past the end. */
const char *pfs_case_name(size_t position, const char **summary);

#endif
