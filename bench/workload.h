/*
 * workload.h - the definition of a workload: a few hooks that know neither of threads nor of time.
 *
 * A workload describes its containers in configure. Then, for each worker, prepare and settle build
 * the live set, step does operations, sample does one with its allocate call timed, finish frees
 * all records. The scene (scene.h) calls them on real threads; anything that can supply struct
 * pfs_thread handles may call them too.
 */
#ifndef PFS_BENCH_WORKLOAD_H
#define PFS_BENCH_WORKLOAD_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "calls.h"
#include "clock.h"
#include "gate.h"
#include "histogram.h"
#include "options.h"

#define PFS_CONTAINERS_MAX 5
#define PFS_EXTRAS_MAX 8
#define PFS_CANARIES_MAX 8
#define PFS_WINDOW_MS 50 /* the window of most workloads */

struct pfs_replay;
struct pfs_scene;
struct pfs_series;

/* One thread's part of a benchmark. Its own thread only, except live_mark. */
struct pfs_worker {
	alignas(PFS_BENCH_LINE) struct pfs_scene *scene;
	uint32_t index;
	uint32_t target;                                /* records that live should hold */
	struct pfs_thread *threads[PFS_CONTAINERS_MAX]; /* handle in each container */
	struct pfs_live live;                           /* in container 0 */
	void *canaries[PFS_CANARIES_MAX]; /* live records too, which no operation may touch */
	uint32_t canary_count;
	uint64_t random;
	uint64_t refused;  /* allocations */
	void *own;         /* the workload's, from malloc; finish frees it, or the scene */
	const char *fault; /* NULL, or what this worker saw go wrong */
	struct pfs_histogram *histogram; /* ticks of allocate calls */
	struct pfs_mark live_mark;       /* live.count, for readers */
};

/* A running benchmark. Main writes it; workers read it between two jobs. */
struct pfs_scene {
	const struct pfs_options *options;
	const struct pfs_clock *clock;
	const struct pfs_workload *workload;
	const struct pfs_variant *variant;
	const struct pfs_calls *calls;   /* of the variant */
	const char *name;                /* of the benchmark */
	const struct pfs_replay *replay; /* NULL if the workload has no trace */
	double occupancy;
	uint32_t records; /* of --records; 0 if the workload has none */
	uint32_t thread_count;
	uint32_t container_count;
	struct pfs_container *containers[PFS_CONTAINERS_MAX];
	/* Most records in use at once, as far as the workload knows; UINT64_MAX: unknown. */
	uint64_t live_peak[PFS_CONTAINERS_MAX];
	struct pfs_worker *workers;
	/* Where pages get their memory; NULL: as the library does. */
	const struct pfs_memory_source *source;
	uint64_t capacity;     /* records that container 0 must hold, of records or pages */
	struct pfs_mark level; /* tides.h: share of the peak to aim at, in millionths */
	struct pfs_mark phase; /* tides.h: not 0 where the load rests */
	void *shared;          /* the workload's */
	struct pfs_series *series;
	struct {
		const char *name;
		double value;
	} extras[PFS_EXTRAS_MAX];
	uint32_t extra_count;
	struct pfs_message message;
};

struct pfs_workload {
	const char *name;
	const char *summary;  /* one line, for --list-workloads and the report */
	const char *counters; /* those that report always adds, separated by blanks; NULL: none */
	uint32_t traits;      /* that a variant must have */
	bool has_occupancy;
	bool has_policy;           /* false: runs once, not once for each policy */
	bool has_trace;            /* runs once for each trace */
	bool has_records;          /* runs once for each of --records and --page-memory */
	bool paced;                /* its threads sleep by design */
	uint32_t threads_multiple; /* thread counts must be a multiple of it */
	uint32_t threads_max;      /* 0: any */
	uint32_t window_ms;        /* unless --window-ms says otherwise */
	uint32_t container_count;

	/* Change what differs from --pages preallocated ones. May be NULL. */
	void (*configure)(const struct pfs_scene *scene, uint32_t container,
			  struct pfs_config *config);
	/* On main, around all workers. False: no memory. May be NULL. */
	bool (*start)(struct pfs_scene *scene);
	void (*stop)(struct pfs_scene *scene);
	/* In turns, one worker after the other: first prepare of all, then settle of all. */
	bool (*prepare)(struct pfs_worker *worker);
	void (*settle)(struct pfs_worker *worker);
	uint64_t (*step)(struct pfs_worker *worker, uint64_t count);
	void (*sample)(struct pfs_worker *worker); /* NULL: no latencies */
	/* NULL: there is always more to do. Otherwise there is no warm-up, each sample is a timed
	 * call, and a worker ends when it has done its share of the steps or of the samples. */
	bool (*ended)(const struct pfs_worker *worker, bool of_samples);
	void (*tick)(struct pfs_scene *scene, uint64_t elapsed_ns, uint64_t window_ns);
	uint64_t tick_share; /* ticks in a window */
	/* tides.h: share of the peak in millionths at a share of the window in millionths, below 1;
	 * rests: are workers to sleep between a few operations? */
	uint64_t (*level)(uint64_t share, bool *rests);
	/* The records of a container that belong to this worker at the moment; NULL: live and
	 * canaries. */
	uint64_t (*held)(const struct pfs_worker *worker, uint32_t container);
	/* In turns: check the records, then free all of them. */
	void (*finish)(struct pfs_worker *worker);
	/* Are this worker's operations triples of allocate, publish, free? NULL: yes. */
	bool (*is_counted)(const struct pfs_scene *scene, uint32_t worker_index);
	/* On main, after a window: add extras. ops[i] are worker i's. May be NULL. */
	void (*report)(struct pfs_scene *scene, const uint64_t *ops, double window_s);
};

const struct pfs_workload *pfs_workload_find(const char *name);
const struct pfs_workload *pfs_workload_at(uint32_t position);

/* Report what went wrong, once; the benchmark is reported as an error. */
static inline void pfs_worker_fault(struct pfs_worker *worker, const char *fault)
{
	if (worker->fault == NULL)
		worker->fault = fault;
}

static inline uint64_t pfs_random_next(uint64_t *state)
{
	uint64_t value = *state;

	value ^= value << 13;
	value ^= value >> 7;
	value ^= value << 17;
	*state = value;
	return value;
}

/* 0 .. bound - 1; bound > 0 and below 2^32. */
static inline uint32_t pfs_random_below(uint64_t *state, uint32_t bound)
{
	return (uint32_t)(((pfs_random_next(state) >> 32) * bound) >> 32);
}

/* How many of total things belong to part index, of count parts. */
static inline uint64_t pfs_part(uint64_t total, uint32_t count, uint32_t index)
{
	return total / count + (index < total % count);
}

/* Differs from worker to worker, never 0. */
static inline uint64_t pfs_worker_salt(uint32_t worker_index)
{
	return ((uint64_t)worker_index + 1) * UINT64_C(0x9E3779B97F4A7C15);
}

/* The batches stamp and check records in the same way. */
static inline void pfs_stamp_set(void *record, uint64_t salt)
{
	*(uint64_t *)record = (uint64_t)(uintptr_t)record ^ salt;
}

static inline bool pfs_stamp_ok(const void *record, uint64_t salt)
{
	return *(const uint64_t *)record == ((uint64_t)(uintptr_t)record ^ salt);
}

/* One allocate call, timed into the worker's histogram. */
static inline struct pfs_claim pfs_timed_allocate(struct pfs_worker *worker,
						  struct pfs_thread *thread)
{
	uint64_t begin = pfs_clock_ticks(worker->scene->clock);
	struct pfs_claim claim = worker->scene->calls->allocate(thread);

	pfs_histogram_add(worker->histogram, pfs_clock_ticks(worker->scene->clock) - begin);
	return claim;
}

/* What several workloads do to worker->live, in live.c. */
bool pfs_live_prepare(struct pfs_worker *worker); /* room for a share, filled to the last */
void pfs_live_settle(struct pfs_worker *worker);  /* drained at random to the occupancy */
void pfs_live_set_canaries(struct pfs_worker *worker);
uint64_t pfs_live_churn(struct pfs_worker *worker, uint64_t count);
void pfs_live_sample(struct pfs_worker *worker);
void pfs_live_finish(struct pfs_worker *worker); /* canaries, then all records freed */

/* Pages that the flags request, of which every thread has a share. */
uint32_t pfs_scene_page_count(const struct pfs_scene *scene);

/* Pages for scene->records, of a workload that has them. */
uint32_t pfs_scene_record_pages(const struct pfs_scene *scene);

/* Configure a container that needs at most `need` pages: `prealloc` of them preallocated and four
 * times `need` as the limit, or all of them preallocated if the policy cannot grow. */
void pfs_scene_pages(const struct pfs_scene *scene, struct pfs_config *config, uint32_t prealloc,
		     uint32_t need);

/* Add a counter of the workload's own to the report. */
void pfs_scene_extra(struct pfs_scene *scene, const char *name, double value);

#endif
