/*
 * trial.h - one measured window in which all threads work at the same time.
 *
 * Threads that take turns look several times faster than threads that contend. A trial therefore
 * measures for each thread how much of the window it really ran; one whose threads did not run
 * together is marked as disturbed, and the caller should repeat it.
 */
#ifndef PFS_BENCH_TRIAL_H
#define PFS_BENCH_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "pool.h"

/* What a window does. Nothing in step knows of threads or of time. */
struct pfs_trial_plan {
	/* Do up to count operations; returns how many were done, 0 if there is nothing to do at the
	 * moment. */
	uint64_t (*step)(void *context, uint32_t thread_index, uint64_t count);
	/* Optional: one operation whose allocate call is timed and recorded. */
	void (*sample)(void *context, uint32_t thread_index);
	/* Optional: has this thread done all its work? Then it leaves the window, which ends with
	 * the last thread, or after window_ns. */
	bool (*ended)(void *context, uint32_t thread_index);
	/* Optional, on the main thread: before the gate opens, every tick_ns, at the end. */
	void (*at_open)(void *context);
	void (*tick)(void *context, uint64_t elapsed_ns);
	void *context;
	uint64_t window_ns; /* from when all threads have done something */
	uint64_t tick_ns;
	uint64_t batch_ns; /* how long a batch should take, for adapt */
	bool adapt;        /* double each thread's batch until it takes batch_ns */
	bool paced;        /* threads sleep by design: do not judge */
	uint32_t pu_count; /* PUs that the threads share */
	bool crowded;      /* more threads than PUs */
};

/* One thread's part; batch and sample_every stay from window to window. */
struct pfs_trial_thread {
	uint64_t batch;        /* operations between two reads of the stop flag */
	uint64_t sample_every; /* 0, or operations between two samples */
	uint64_t ops;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t cpu_ns;
	uint64_t switches; /* involuntary */
};

struct pfs_trial {
	struct pfs_trial_thread *threads; /* the caller's, one for each thread of the pool */
	uint64_t window_ns; /* first start to stop; of work with an end: to the last end */
	double util_min;    /* least share of its time that a thread ran */
	double util_total;  /* CPU time of all over the PUs' time */
	uint64_t switches;
	double pressure; /* share of the last 10 s in which a task waited for a CPU; NaN: unknown */
	double steal;    /* share of the CPUs' time taken by the hypervisor; NaN: unknown */
	bool disturbed;
};

#define PFS_TRIAL_UTIL_MIN 0.95

/* Run one window. trial->threads must be set; every other field is output. */
void pfs_trial_run(struct pfs_pool *pool, const struct pfs_trial_plan *plan,
		   struct pfs_trial *trial);

#endif
