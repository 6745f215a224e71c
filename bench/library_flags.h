/*
 * library_flags.h - a look at Google Benchmark's own flags before it reads them.
 *
 * It takes a bad filter or an unknown format for success, and opens its file only when the
 * run begins. What it would get wrong is refused here, in one line.
 */
#ifndef PFS_BENCH_LIBRARY_FLAGS_H
#define PFS_BENCH_LIBRARY_FLAGS_H

#include <stdbool.h>

#include <pfslab/status.h>

enum pfs_status pfs_library_flags_check(int argc, char **argv, struct pfs_message *message);

/* The value of the last flag of that name, which is the one that holds; "" without one. */
const char *pfs_library_flags_last(int argc, char **argv, const char *flag);

/* Does a value of --benchmark_filter choose the benchmark of that name? */
bool pfs_library_flags_match(const char *filter, const char *name);

/*
 * A new argv with our defaults in front, so that the user's flags win: one trial is enough for
 * a run (min_time), no colour with NO_COLOR set. Behind them is where --benchmark_out's file is
 * written until it is whole. NULL without memory; free() it.
 */
char **pfs_library_flags_default(int *argc, char **argv, const char *file);

/* The file of --benchmark_out gets its name (false: it cannot), or, not whole, goes. "": none. */
bool pfs_library_flags_settle(const char *file, bool whole);

#endif
