/*
 * timed_calls.h - a variant's calls with every allocate timed, at no cost.
 *
 * The batches are those of bench/ over the timed call. So workloads do not know about it, and every
 * allocation counts, not a sample.
 */
#ifndef PFS_SIM_TIMED_CALLS_H
#define PFS_SIM_TIMED_CALLS_H

#include <stdbool.h>

#include "bench/calls.h"
#include "bench/histogram.h"

/* The timed calls of a variant; of one variant at a time. */
const struct pfs_calls *pfs_timed_calls(const struct pfs_variant *variant);

/* Start or stop timing allocations. */
void pfs_timed_calls_record(bool on);

/* Nanoseconds of the calls so far. */
const struct pfs_histogram *pfs_timed_calls_histogram(void);

#endif
