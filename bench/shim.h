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

struct pfs_shim_state; /* one run of a benchmark */

/* Register body under name; body receives user and says how long its iterations took. */
void pfs_shim_register(const char *name, void (*body)(struct pfs_shim_state *state, void *user),
		       void *user);

/* The loop. It may overshoot: iterations are then the sum of the batches. */
bool pfs_shim_keep_running_batch(struct pfs_shim_state *self, int64_t count);
void pfs_shim_iteration_time(struct pfs_shim_state *self, double seconds);
int64_t pfs_shim_iterations_wanted(const struct pfs_shim_state *self);

/* False if the counter was dropped: not finite, or a name that the JSON already uses. */
bool pfs_shim_counter(struct pfs_shim_state *self, const char *name, double value);
void pfs_shim_label(struct pfs_shim_state *self, const char *label);

/* Fail this run: the loop ends, the run is reported as an error. */
void pfs_shim_error(struct pfs_shim_state *self, const char *message);

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
