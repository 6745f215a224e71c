/*
 * schedule.h - schedulers that need no memory of other executions.
 */
#ifndef PFS_SIM_SCHEDULE_H
#define PFS_SIM_SCHEDULE_H

#include "check/machine/machine.h"

/* Every actor in turn, one operation each: lock-step. */
struct pfs_round_robin {
	struct pfs_scheduler scheduler;
};
void pfs_round_robin_init(struct pfs_round_robin *self);

/* Each operation by a random actor; or, with stay_percent, mostly by the same one. A slow actor
 * makes one step while the others make dozens, so each of its reads finds a changed state. */
struct pfs_random_walk {
	struct pfs_scheduler scheduler;
	uint64_t random;
	uint32_t stay_percent;
	uint32_t slow; /* number of an actor, or PFS_ACTOR_NONE */
};
void pfs_random_walk_init(struct pfs_random_walk *self, uint64_t seed, uint32_t stay_percent,
			  uint32_t slow);

/*
 * Probabilistic concurrency testing: the actor with the highest priority runs; at depth - 1 random
 * steps the running actor's priority falls below all others. Finds a bug that needs depth ordered
 * steps with probability >= 1 / (threads * steps^(depth - 1)).
 * Source: Burckhardt et al., ASPLOS 2010.
 */
#define PFS_PCT_DEPTH_MAX 8u
struct pfs_pct {
	struct pfs_scheduler scheduler;
	uint32_t changes[PFS_PCT_DEPTH_MAX];
	uint32_t depth;
	uint64_t random;                                /* views: which values are read */
	uint32_t lowest;                                /* next priority below all others */
	uint64_t priority[2 * PFS_MACHINE_THREADS_MAX]; /* by actor */
};
/* steps: the approximate length of an execution. */
void pfs_pct_init(struct pfs_pct *self, uint64_t seed, uint32_t depth, uint32_t steps);

/*
 * Partial order sampling: every pending operation has a random priority, and the highest runs; each
 * operation that races with it (same bytes, one writes) draws a new one. So the order of two races
 * does not depend on which of their threads has many other steps.
 * Source: Yuan, Yang, Gu, CAV 2018.
 */
struct pfs_partial_order {
	struct pfs_scheduler scheduler;
	uint64_t random;
	uint64_t priority[2 * PFS_MACHINE_THREADS_MAX]; /* by actor */
};
void pfs_partial_order_init(struct pfs_partial_order *self, uint64_t seed);

/*
 * A weighted random walk: each actor runs in proportion to the steps that it still has to make,
 * estimated from earlier executions; every interleaving of independent steps is then about equally
 * likely. Init begins an execution, and keeps what the previous one showed; zero the struct at
 * first.
 */
struct pfs_weighted {
	struct pfs_scheduler scheduler;
	uint64_t random;
	uint32_t expected[2 * PFS_MACHINE_THREADS_MAX]; /* steps, by actor */
	uint32_t done[2 * PFS_MACHINE_THREADS_MAX];
};
void pfs_weighted_init(struct pfs_weighted *self, uint64_t seed);

/* A segment of a schedule: a number of steps of one actor. */
struct pfs_segment {
	uint32_t actor; /* its number */
	uint32_t steps;
};

/*
 * A given schedule, replayed tolerantly: an actor that cannot go on ends its segment; after the
 * last segment the current actor continues, or else the lowest.
 */
struct pfs_given {
	struct pfs_scheduler scheduler;
	const struct pfs_segment *segments;
	uint32_t count;
	uint32_t at;   /* current segment */
	uint32_t done; /* its steps so far */
};
void pfs_given_init(struct pfs_given *self, const struct pfs_segment *segments, uint32_t count);

/* The segments of a recorded schedule; returns how many, at most room. */
uint32_t pfs_segments_of(const uint16_t *schedule, uint32_t steps, struct pfs_segment *segments,
			 uint32_t room);

#endif
