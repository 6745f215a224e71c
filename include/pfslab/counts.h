/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counts.h - the metrics of a container, defined in docs/reference/metrics.md.
 *
 * Every build keeps the first group. The second group costs time: only builds with PFS_COUNTING
 * keep it; in other builds it is zero and `counted` is false.
 */
#ifndef PFSLAB_COUNTS_H
#define PFSLAB_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct pfs_counts {
	uint64_t growths;   /* pages added since create; preallocated ones do not count */
	uint64_t reclaimed; /* pages given back to the operating system */
	uint64_t lost;      /* allocations refused */
	uint64_t pages;     /* pages at present */
	uint64_t pages_peak;
	uint64_t pages_waiting;  /* unlinked, but readers may still see them; <= page_max */
	uint64_t resident_bytes; /* of all pages, as the operating system reports them */
	uint64_t overhead_bytes; /* memory for pages and records besides the users' bytes */

	bool counted;          /* true if the following fields are kept */
	uint64_t allocations;  /* successful calls */
	uint64_t probes;       /* records looked at */
	uint64_t page_probes;  /* page searches begun */
	uint64_t cas_failures; /* FREE -> DIRTY lost to another thread */
	uint64_t page_skips;   /* pages never tried, over calls that gave up or grew */
	uint64_t record_skips; /* records never looked at, over page searches that found none */
	uint64_t flag_skips;   /* page searches refused by a full flag alone */
	uint64_t false_full_at_least; /* failed page searches past a record that was FREE
				       * throughout */
	uint64_t needless_growths;    /* pages added while a record of a published page was FREE */
	uint64_t remote;              /* records allocated from a page of another node */
	uint64_t mixed;               /* records allocated from a page with memory of several
				       * nodes */
	uint64_t live_peak;           /* most records in use at a time */
	uint64_t stranded;            /* free records in other threads' caches, for the thread with
				       * the fewest of its own */
	uint64_t stranded_peak;       /* the largest value of stranded, sampled while records were
				       * freed */
};

#endif
