/*
 * options.h - the command line of pfs-stress, checked before anything runs.
 */
#ifndef PFS_STRESS_OPTIONS_H
#define PFS_STRESS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <pfslab/status.h>
#include <pfslab/variant.h>

#define PFS_THREADS_MAX 1024u

enum pfs_fault {
	PFS_FAULT_MEMORY = 1 << 0,  /* every third page is refused */
	PFS_FAULT_MAXIMUM = 1 << 1, /* the threads want more than there may be */
	PFS_FAULT_PARKED = 1 << 2,  /* a thread stops while its record is DIRTY */
	PFS_FAULT_READER = 1 << 3,  /* a thread stops inside a read section */
	PFS_FAULT_WRAP = 1 << 4     /* versions begin just before they wrap around */
};

enum pfs_mode {
	PFS_MODE_PLAIN = 1 << 0,      /* records written and read without atomics */
	PFS_MODE_OPTIMISTIC = 1 << 1, /* records read by others while they change */
	PFS_MODE_HISTORY = 1 << 2     /* every call stamped, the history checked */
};

struct pfs_stress_options {
	const struct pfs_variant *policy;
	enum pfs_layout layout;
	bool bare_words;
	bool both_layouts;
	uint32_t threads;
	double seconds; /* for each layout, shared by the workloads */
	uint64_t seed;
	uint32_t faults; /* enum pfs_fault */
	uint32_t modes;  /* enum pfs_mode */
	bool full_flags;
	bool list_policies;
};

/* PFS_GO_ON, or the exit status: after --help and --version, and after a line on stderr. */
int pfs_stress_options_read(struct pfs_stress_options *self, int argc, char **argv);

/* The name of one fault or mode. */
const char *pfs_mode_name(enum pfs_mode mode);

#endif
