/*
 * library_flags.h - checks Google Benchmark's own flags before it reads them.
 *
 * It treats a bad filter or an unknown format as success, and opens its file only when the run
 * begins. What it would get wrong is refused here, in one line.
 */
#ifndef PFS_BENCH_LIBRARY_FLAGS_H
#define PFS_BENCH_LIBRARY_FLAGS_H

#include <stdbool.h>

#include <pfslab/status.h>

enum pfs_status pfs_library_flags_check(int argc, char **argv, struct pfs_message *message);

/* The value of the last flag of that name, which is the one that counts; "" without one. */
const char *pfs_library_flags_last(int argc, char **argv, const char *flag);

/* Does a value of --benchmark_filter select the benchmark of that name? */
bool pfs_library_flags_match(const char *filter, const char *name);

/*
 * A new argv with our defaults in front, so that the user's flags win: one trial is enough for a
 * run (min_time), no colour with NO_COLOR set. After them comes where --benchmark_out's file is
 * written until it is complete. NULL without memory; free() it.
 */
char **pfs_library_flags_default(int *argc, char **argv, const char *file);

/* Give the file of --benchmark_out its name (false: impossible), or remove it if it is not
 * complete. "": none. */
bool pfs_library_flags_settle(const char *file, bool whole);

#endif
