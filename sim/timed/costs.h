/*
 * costs.h - what an access costs on the simulated machine: one table, in nanoseconds.
 *
 * costs.c has the figures of each preset and their sources. A JSON file with an object "costs", or
 * an object of numbers at its top, may be named instead of a preset: its keys are the names of the
 * fields below; "preset" names the preset that supplies the fields missing from the file (default:
 * PFS_COSTS_DEFAULT).
 */
#ifndef PFS_SIM_COSTS_H
#define PFS_SIM_COSTS_H

#include <stdbool.h>
#include <stddef.h>

#include <pfslab/status.h>

#define PFS_COSTS_DEFAULT "two-socket"

struct pfs_costs {
	char name[64];
	/* An access whose line is in the core's own cache. */
	double load_ns;  /* an atomic load, L1 */
	double store_ns; /* a store to an owned line */
	double rmw_ns;   /* CAS, fetch-add or exchange on an owned line */
	double plain_ns; /* a plain access: many are in flight at once */
	double l2_ns;    /* found in L2, not in L1 */
	/* A line modified by another core, from the request to the data, without competition. Most
	 * published tables show a turn that two threads pass by CAS. That takes less, because the
	 * next request is already there: 1 - request_share of it, and the hold. */
	double smt_ns;     /* last used by the sibling on the same core */
	double l3_ns;      /* a core on the same L3 */
	double node_ns;    /* another L3 of the same node */
	double package_ns; /* another node of the same package */
	double remote_ns;  /* another package; scaled if the topology has distances */
	/* A line that no other core has modified. */
	double l3_hit_ns; /* from the own L3 */
	double memory_near_ns;
	double memory_far_ns; /* of a node of another package */
	/* Competition for a line. */
	double request_share; /* 0..1: part of a transfer until the owner loses the line */
	double hold_share;    /* 0..1: in l3_ns, how long no request reaches a new owner */
	double upgrade_share; /* 0..1: of a transfer, to write a line of which one has a copy */
	double read_takes;    /* 0..1; from a half on a reader of a modified line takes it away */
	double late_share;    /* 0..1: of waiting requests, are heard up to l3_ns later */
	double jitter;        /* 0..1: transfers and futex_sleep_ns vary by it */
	double bypass_max;    /* how often nearer requests on its package may pass a waiting one */
	double stream_share;  /* 0..1: left of a fetch that follows two of the lines before */
	double read_gap_ns;   /* between two copies of one line handed out for reading */
	/* The kernel. */
	double futex_sleep_ns; /* from the failed lock until the thread is off its CPU */
	double futex_wake_ns;  /* the call that wakes one sleeper, paid by the waker */
	double wake_ns;        /* from there until the sleeper runs */
	double switch_ns;      /* from one thread of a CPU to another, without caches */
	double slice_ns;       /* how long a thread runs while another one waits for its CPU */
	double yield_ns;       /* a yield when no thread waits */
	double barrier_ns;     /* membarrier: the call itself */
	double barrier_cpu_ns; /* and the caller's for each CPU that runs another thread */
	double ipi_ns;         /* from there until the interrupt begins on that CPU */
	double interrupt_ns;   /* what that CPU loses; at its end it has acknowledged */
	double map_ns;         /* mmap */
	double unmap_ns;       /* munmap; the other CPUs are interrupted as by a barrier */
	double fault_ns;       /* first touch of an OS page: fault, and clearing 4 KiB */
	/* Sizes of caches. */
	double l1_kib, l2_kib; /* of a core */
	double l3_kib;         /* of an L3 */
};

/*
 * pfs_costs_find - a preset by name, or a JSON file.
 *
 * Returns   PFS_OK; or PFS_BAD_CONFIG with a line in *message: no such preset or file, no JSON, an
 *           unknown key, or a value out of its range.
 * Errors    as returned; *costs is then unchanged.
 * Progress  blocking (set-up).
 * Order     none.
 */
enum pfs_status pfs_costs_find(struct pfs_costs *costs, const char *preset_or_file,
			       struct pfs_message *message);

/* The names of the presets in turn, then NULL. */
const char *pfs_costs_preset(size_t at);

/* A field by its position: its name, unit range and value; false past the last one. For writers of
 * such files. */
bool pfs_costs_field(struct pfs_costs *costs, size_t at, const char **name, double **value);

#endif
