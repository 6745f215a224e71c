/*
 * timed_variant.h - a variant whose every allocate call is timed, at no cost.
 *
 * The copy is the variant itself but for its allocate and its batches, which are made anew of
 * the same kernels over the timed call. So workloads need not know of it, and every allocation
 * counts, not a sample.
 */
#ifndef PFS_SIM_TIMED_VARIANT_H
#define PFS_SIM_TIMED_VARIANT_H

#include <stdbool.h>

#include <pfslab/variant.h>

#include "bench/histogram.h"

/* The timed copy of a variant; of one at a time. */
const struct pfs_variant *pfs_timed_variant(const struct pfs_variant *variant);

/* Allocations are timed from here on, or no more. */
void pfs_timed_variant_record(bool on);

/* Nanoseconds of the calls so far. */
const struct pfs_histogram *pfs_timed_variant_histogram(void);

#endif
