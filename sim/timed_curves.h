/*
 * timed_curves.h - one contended line on the machine in virtual time, beside what was published
 * of real ones.
 */
#ifndef PFS_SIM_TIMED_CURVES_H
#define PFS_SIM_TIMED_CURVES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/costs.h"

enum pfs_curve_kind {
	PFS_CURVE_ADD,       /* all threads fetch-add: ns between two of them */
	PFS_CURVE_CAS,       /* load, then CAS until it succeeds: ns between two successes */
	PFS_CURVE_LOAD_CAS,  /* load and CAS, both again after a failure */
	PFS_CURVE_PASS_CAS,  /* two threads pass a turn, waiting by CAS: ns one way */
	PFS_CURVE_PASS_LOAD  /* waiting by loads, then a CAS */
};

struct pfs_curve_point {
	uint32_t threads;
	double low_ns, high_ns; /* published; equal where one number was */
};

struct pfs_curve {
	const char *name, *source;
	const char *machine, *preset;
	const char *changes; /* "field=value field=value": how it differs from the preset */
	enum pfs_curve_kind kind;
	double tolerance;    /* the model is within low / (1 + t) and high * (1 + t) */
	struct pfs_curve_point points[4]; /* ended by threads 0 */
};

struct pfs_curve_answer {
	double ns;
	double success_least, success_most; /* share of CAS, over threads */
};

/* The published ones in turn; NULL: past the last. */
const struct pfs_curve *pfs_curve_at(uint32_t at);

/* One point on the machine, or false with a line on stderr. */
bool pfs_curve_measure(const struct pfs_curve *curve, uint32_t threads, uint64_t seed,
		       struct pfs_curve_answer *answer);

/* `pfs-sim curves` and `pfs-sim speed`: what main returns. */
int pfs_command_curves(char **arguments);
int pfs_command_speed(char **arguments);

#endif
