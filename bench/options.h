/*
 * options.h - the options of the command line, checked before anything runs.
 */
#ifndef PFS_BENCH_OPTIONS_H
#define PFS_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <pfslab/config.h>
#include <pfslab/status.h>
#include <pfslab/variant.h>

#include "calls.h"
#include "base/command_line.h"

#define PFS_OPTIONS_LIST_MAX 64
#define PFS_OPTIONS_THREADS_MAX 4096

struct pfs_workload;

struct pfs_options {
	const struct pfs_variant *policies[PFS_OPTIONS_LIST_MAX];
	uint32_t policy_count;
	const struct pfs_workload *workloads[PFS_OPTIONS_LIST_MAX];
	uint32_t workload_count;
	enum pfs_api apis[PFS_OPTIONS_LIST_MAX];
	uint32_t api_count;
	double occupancies[PFS_OPTIONS_LIST_MAX];
	uint32_t occupancy_count;
	uint32_t threads[PFS_OPTIONS_LIST_MAX];
	uint32_t thread_count;
	uint32_t records[PFS_OPTIONS_LIST_MAX];
	uint32_t record_count;
	bool touched[PFS_OPTIONS_LIST_MAX]; /* of --page-memory */
	uint32_t touched_count;
	char *placements[PFS_OPTIONS_LIST_MAX]; /* allocated; fini frees them */
	uint32_t placement_count;

	enum pfs_memory memory;
	uint32_t memory_node;
	enum pfs_layout layout;
	bool bare_words;
	bool full_flags;
	bool owner_fences;
	bool huge_pages;
	uint32_t page_records;
	uint32_t pages;                /* preallocated */
	uint32_t page_prealloc;        /* UINT32_MAX: the workload's own */
	uint32_t page_max;             /* 0: the workload's own */
	uint32_t pages_each;           /* not 0: this many for each thread instead */
	uint32_t record_size;          /* 0: the workload's own */
	uint32_t window_ms;            /* 0: the workload's own */
	uint32_t latency_ms;           /* window in which calls are timed; 0: none; UINT32_MAX: half
					* of the other window */
	uint32_t repeat_disturbed;     /* most additional trials if one was disturbed */
	uint32_t reclaim_period_ms;    /* UINT32_MAX: the workload's own */
	uint32_t reclaim_decay_passes; /* UINT32_MAX: the container's default */
	uint64_t seed;
	const char *series;                       /* file, or NULL */
	const char *traces[PFS_OPTIONS_LIST_MAX]; /* files for replay; none: those shipped */
	uint32_t trace_count;
	const char *peer; /* another name for policy malloc, or NULL */

	bool list_policies, list_traits, list_workloads, list_workload_traits;
};

/* The defaults; PFS_OK, or PFS_NO_MEMORY with a line in *message. */
enum pfs_status pfs_options_default(struct pfs_options *self, struct pfs_message *message);

/* For a struct pfs_options, which is the context of their readers. */
extern const struct pfs_option pfs_options_table[];
extern const size_t pfs_options_table_count;

/* Take our own options out of argv and leave the library's. PFS_GO_ON, or the exit status: after
 * --help and --version, and after a line on stderr. */
int pfs_options_read(struct pfs_options *self, int *argc, char **argv);
/* PFS_OK, or PFS_BAD_CONFIG and *message says which flags conflict; read calls it. */
enum pfs_status pfs_options_check(const struct pfs_options *self, struct pfs_message *message);
void pfs_options_fini(struct pfs_options *self);

#endif
