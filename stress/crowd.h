/*
 * crowd.h - many threads on one container, and what they check about each other.
 *
 * Invariant: every record has one owner from allocate to free. Three things check it: what the
 * owners write into the record without atomics, a separate table of owners, and the version, which
 * only grows. Everything shared here is relaxed, except the boxes through which records are handed
 * over. So the containers' own orders must suffice, or ThreadSanitizer reports a race.
 */
#ifndef PFS_STRESS_CROWD_H
#define PFS_STRESS_CROWD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "stress/history.h"
#include "options.h"
#include "stress/harness/source.h"

#define PFS_BODY_WORDS 6u /* of 8 bytes; word i is the stamp times 2 i + 1 */
#define PFS_BOX_SLOTS 2u
#define PFS_OWNER_PARKED UINT32_MAX

/* A record in the hands of a thread. */
struct pfs_held {
	void *record;
	uint64_t stamp;        /* in the record's first word; even while it lives */
	uint32_t owner;        /* in the table of owners */
	struct pfs_life *life; /* workload history */
};

/* Where others leave records for a thread: release by the giver, acquire by the taker. */
struct pfs_box {
	_Atomic(struct pfs_held *) slots[PFS_BOX_SLOTS];
};

/* What one thread did. */
struct pfs_deeds {
	uint64_t allocations, refused, handed, walks, reads, gave_back;
};

struct pfs_crowd {
	const struct pfs_stress_options *options;
	enum pfs_layout layout;
	enum pfs_mode mode;
	uint32_t faults; /* those that the policy knows */
	struct pfs_test_source source;
	struct pfs_config config;
	struct pfs_container *container;
	uint64_t reclaimed; /* pages, of the containers before */
	bool has_words, has_index, reclaims, bounded;
	uint64_t capacity;
	uint32_t hold_max;         /* a thread */
	_Atomic(uint32_t) *owners; /* [capacity], 0: none */
	uint32_t *versions;        /* [capacity] last one published; its owner */
	struct pfs_box *boxes;     /* [threads] */
	struct pfs_deeds *deeds;   /* [threads + 1] each its own; the last is the crowd's */
	_Atomic(bool) stop;        /* relaxed, as those below */
	_Atomic(bool) unpark;
	_Atomic(bool) is_parked;
	_Atomic(uint32_t) tide; /* percent of hold_max that all aim at */
	/* Workload history. */
	_Atomic(uint64_t) clock;      /* seq: stamps must not be overtaken */
	struct pfs_life *lives;       /* [threads * PFS_HISTORY_STEPS] */
	size_t *life_counts;          /* [threads] */
	struct pfs_no_free *no_frees; /* [threads * PFS_HISTORY_STEPS] */
	size_t *no_free_counts;       /* [threads] */
};

#define PFS_HISTORY_STEPS 1500u

/* A thread of the crowd. */
struct pfs_worker {
	struct pfs_crowd *crowd;
	struct pfs_thread *thread;
	uint32_t index;
	uint64_t random, sequence;
	struct pfs_held *held; /* [hold_max + PFS_BOX_SLOTS] */
	uint32_t held_count;
	struct pfs_deeds *deeds;
};

/* One line that says what, for which policy and seed; the process ends with 1. */
__attribute__((format(printf, 2, 3))) _Noreturn void pfs_harm(const struct pfs_crowd *crowd,
							      const char *format, ...);

static inline bool pfs_crowd_flag(_Atomic(bool) *flag)
{
	return atomic_load_explicit(flag, memory_order_relaxed);
}

/* crowd.c: everything of one workload, for so many seconds. */
void pfs_crowd_run(const struct pfs_stress_options *options, enum pfs_layout layout,
		   enum pfs_mode mode, double seconds);
void pfs_crowd_create(struct pfs_crowd *self);
void pfs_crowd_destroy(struct pfs_crowd *self);
/* body(self, index) in each thread; seconds > 0: stop is set after them. */
void pfs_crowd_threads(struct pfs_crowd *self, void (*body)(struct pfs_crowd *, uint32_t),
		       double seconds);

/* owner.c: what an owner does. */
void pfs_worker_begin(struct pfs_worker *self, struct pfs_crowd *crowd, uint32_t index);
void pfs_worker_end(struct pfs_worker *self); /* frees what it holds */
bool pfs_worker_allocate(struct pfs_worker *self);
void pfs_worker_free(struct pfs_worker *self, uint32_t position);
#define PFS_MANY_MAX 80u /* more than a word of records */
void pfs_worker_allocate_many(struct pfs_worker *self, uint32_t count); /* has room for them */
void pfs_worker_free_many(struct pfs_worker *self, uint32_t count); /* the last of its records */
void pfs_worker_rewrite(struct pfs_worker *self, uint32_t position);
bool pfs_worker_hand_over(struct pfs_worker *self, uint32_t position);
void pfs_worker_take_over(struct pfs_worker *self);
uint32_t pfs_below(uint64_t *random, uint32_t bound);

/* observer.c: what others may do meanwhile. */
void pfs_worker_walk(struct pfs_worker *self);
void pfs_worker_look_up(struct pfs_worker *self);
void pfs_worker_ask_owns(struct pfs_worker *self);
void pfs_worker_park_in_section(struct pfs_worker *self);

/* quiet.c: after the threads have gone, is everything there and free? */
void pfs_crowd_check_quiet(struct pfs_crowd *self, uint32_t parked);
void pfs_crowd_check_filled(struct pfs_crowd *self, uint32_t parked);

/* stamped.c: rounds of the workload history. */
void pfs_crowd_run_history(struct pfs_crowd *self, double seconds);

/* wrap_probe.c: versions of pages to come begin this far below the last one. */
void pfs_crowd_preset_versions(struct pfs_container *container, uint32_t below_last);

#endif
