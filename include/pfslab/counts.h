/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counts.h - the metrics of a container; docs/reference/metrics.md defines each.
 *
 * The first group is kept by every build. The second costs time and is kept only by builds
 * with PFS_COUNTING; elsewhere it is zero and `counted` says so.
 */
#ifndef PFSLAB_COUNTS_H
#define PFSLAB_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct pfs_counts {
	uint64_t growths;   /* pages added since create, those of page_prealloc not */
	uint64_t reclaimed; /* pages given back to the operating system */
	uint64_t lost;      /* allocations refused */
	uint64_t pages;     /* pages now */
	uint64_t pages_peak;
	uint64_t pages_waiting;  /* out of use, but a reader may still see them; <= page_max */
	uint64_t resident_bytes; /* of all pages, as the operating system says */
	uint64_t overhead_bytes; /* held for pages and records beside the users' own bytes */

	bool counted;          /* is what follows kept? */
	uint64_t allocations;  /* successful calls */
	uint64_t probes;       /* records looked at */
	uint64_t page_probes;  /* page searches begun */
	uint64_t cas_failures; /* FREE -> DIRTY lost to another thread */
	uint64_t page_skips;   /* pages never tried, over calls that gave up or grew */
	uint64_t record_skips; /* records never looked at, over page searches without a record */
	uint64_t flag_skips;   /* page searches refused by a full flag alone */
	uint64_t false_full_at_least; /* failed page searches past a record FREE all the while */
	uint64_t needless_growths;    /* pages added while a record of a published page was FREE */
	uint64_t remote;              /* records allocated from a page of another node */
	uint64_t mixed;               /* records allocated from a page of no single node */
	uint64_t live_peak;           /* most records in use at once */
	uint64_t stranded;            /* free, but in caches of threads other than the asking one */
	uint64_t stranded_peak;       /* the same at most, as sampled while records were freed */
};

#endif
