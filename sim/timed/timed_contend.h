/*
 * timed_contend.h - small programs whose threads compete for a line or a lock in virtual time, for
 * comparison with published measurements of real machines (timed_curves.h).
 */
#ifndef PFS_SIM_TIMED_CONTEND_H
#define PFS_SIM_TIMED_CONTEND_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/timed/timed.h"

enum pfs_contend_kind {
	PFS_CONTEND_ADD,       /* all threads fetch-add */
	PFS_CONTEND_CAS,       /* load, then CAS until it succeeds */
	PFS_CONTEND_LOAD_CAS,  /* load and CAS, both again after a failure */
	PFS_CONTEND_PASS_CAS,  /* threads pass a turn, waiting by CAS */
	PFS_CONTEND_PASS_LOAD, /* waiting by loads, then a CAS */
	/* Locks. In the lock a thread adds to a line of plain data. None of them backs off. */
	PFS_CONTEND_TAS,    /* exchange until it was free */
	PFS_CONTEND_TICKET, /* both counters in one line, as in Linux before queued locks */
	PFS_CONTEND_APART,  /* a ticket lock with each counter in a line of its own */
	PFS_CONTEND_MCS     /* each thread waits on a line of its own */
};

/* What competes, and where. */
struct pfs_contend {
	const char *machine, *preset;
	const char *changes; /* "field=value field=value": differences from the preset */
	enum pfs_contend_kind kind;
	enum pfs_timed_placement placement;
	uint32_t threads;
};

struct pfs_contend_answer {
	double ns; /* between two operations, successes or acquisitions of all threads together */
	double success_least, success_most; /* share of CAS, over threads */
};

/* False with a line on stderr: it could not run, or two threads were in one lock. */
bool pfs_contend(const struct pfs_contend *what, uint64_t seed, struct pfs_contend_answer *answer);

#endif
