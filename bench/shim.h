/*
 * shim.h - Google Benchmark for C: registration, state, counters, context, run.
 *
 * Written against 1.7.1; deliberately thin. It fixes what Google Benchmark gets wrong for a C
 * program: counters that are not finite would make invalid JSON and are dropped, as are names that
 * the JSON already uses; errors are counted, because its exit status ignores them.
 */
#ifndef PFS_BENCH_SHIM_H
#define PFS_BENCH_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfs_shim_case;  /* a registered benchmark, which can be changed until the run */
struct pfs_shim_state; /* one run of it in one thread */

/* Flags of a counter, combined with |. Numbers of our own, because the library's include a 1 <<
 * 31. */
enum pfs_shim_flag {
	PFS_SHIM_PLAIN = 0,
	PFS_SHIM_RATE = 1 << 0,             /* divided by the time measured */
	PFS_SHIM_AVERAGE_THREADS = 1 << 1,  /* divided by the threads instead of summed */
	PFS_SHIM_PER_ITERATION = 1 << 2,    /* divided by the iterations */
	PFS_SHIM_TIMES_ITERATIONS = 1 << 3, /* multiplied by them */
	PFS_SHIM_INVERT = 1 << 4,           /* the reciprocal */
	PFS_SHIM_BINARY_UNITS = 1 << 5      /* the console prints Ki, Mi instead of k, M */
};

enum pfs_shim_unit { PFS_SHIM_NS, PFS_SHIM_US, PFS_SHIM_MS, PFS_SHIM_S };

/* Register body under name; body and the hooks receive user. NULL without memory. */
struct pfs_shim_case *pfs_shim_register(const char *name,
					void (*body)(struct pfs_shim_state *state, void *user),
					void *user);

/* Arguments; body reads them with pfs_shim_range. */
void pfs_shim_case_arg(struct pfs_shim_case *self, int64_t value);
void pfs_shim_case_args(struct pfs_shim_case *self, const int64_t *values, size_t count);
void pfs_shim_case_range(struct pfs_shim_case *self, int64_t low, int64_t high, int32_t multiplier);
void pfs_shim_case_dense_range(struct pfs_shim_case *self, int64_t low, int64_t high, int32_t step);
/* Every combination: lists[i] has counts[i] values. */
void pfs_shim_case_args_product(struct pfs_shim_case *self, const int64_t *const *lists,
				const size_t *counts, size_t list_count);
void pfs_shim_case_arg_names(struct pfs_shim_case *self, const char *const *names, size_t count);

/* Threads of the library. Trials have their own pool instead, see trial.h. */
void pfs_shim_case_threads(struct pfs_shim_case *self, int32_t threads);
void pfs_shim_case_thread_range(struct pfs_shim_case *self, int32_t low, int32_t high);

/*
 * Hooks before and after each run of the body (also of the estimating runs), on the main thread.
 * Either may be NULL. False if the 1024 slots of trampolines are used up.
 */
bool pfs_shim_case_hooks(struct pfs_shim_case *self,
			 void (*set_up)(const struct pfs_shim_state *state, void *user),
			 void (*tear_down)(const struct pfs_shim_state *state, void *user));

/* These three appear in the benchmark's name; the --benchmark_ flags of that name do not. */
void pfs_shim_case_iterations(struct pfs_shim_case *self, int64_t iterations);
void pfs_shim_case_min_time(struct pfs_shim_case *self, double seconds);
void pfs_shim_case_repetitions(struct pfs_shim_case *self, int32_t repetitions);

void pfs_shim_case_unit(struct pfs_shim_case *self, enum pfs_shim_unit unit);
void pfs_shim_case_manual_time(struct pfs_shim_case *self);
void pfs_shim_case_real_time(struct pfs_shim_case *self);
void pfs_shim_case_process_cpu_time(struct pfs_shim_case *self);
void pfs_shim_case_report_aggregates_only(struct pfs_shim_case *self, bool only);

/* The loop. Batch may overshoot: iterations are then the sum of the batches. */
bool pfs_shim_keep_running(struct pfs_shim_state *self);
bool pfs_shim_keep_running_batch(struct pfs_shim_state *self, int64_t count);
void pfs_shim_pause(struct pfs_shim_state *self);
void pfs_shim_resume(struct pfs_shim_state *self);
void pfs_shim_iteration_time(struct pfs_shim_state *self, double seconds);

int64_t pfs_shim_range(const struct pfs_shim_state *self, size_t position);
int32_t pfs_shim_threads(const struct pfs_shim_state *self);
int32_t pfs_shim_thread_index(const struct pfs_shim_state *self);
int64_t pfs_shim_iterations(const struct pfs_shim_state *self);
int64_t pfs_shim_iterations_wanted(const struct pfs_shim_state *self);

/* False if the counter was dropped: not finite, or a name that the JSON already uses. */
bool pfs_shim_counter(struct pfs_shim_state *self, const char *name, double value, uint32_t flags);
void pfs_shim_items(struct pfs_shim_state *self, int64_t items);
void pfs_shim_bytes(struct pfs_shim_state *self, int64_t bytes);
void pfs_shim_label(struct pfs_shim_state *self, const char *label);

/* Fail this run: the loop of the calling thread ends, the run is reported as an error. */
void pfs_shim_error(struct pfs_shim_state *self, const char *message);
bool pfs_shim_failed(const struct pfs_shim_state *self);

/* A line of the JSON's context; before the run. */
void pfs_shim_context(const char *key, const char *value);

/* Take the --benchmark_ flags out of argv. */
void pfs_shim_initialize(int *argc, char **argv);
/* Run what the filter matches; returns how many benchmarks matched. */
size_t pfs_shim_run(void);
/* After the run: did standard output and the file of --benchmark_out take all of it? */
bool pfs_shim_written(void);
/* Errors reported so far by pfs_shim_error: a program whose count is not 0 must exit 1. */
uint64_t pfs_shim_errors(void);
void pfs_shim_shutdown(void);

#ifdef __cplusplus
}
#endif
#endif
