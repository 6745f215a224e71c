/*
 * timed_curves.h - published figures of contended lines and of locks on real machines: some that
 * the costs are fitted to, and figures and directions that they are not fitted to.
 */
#ifndef PFS_SIM_TIMED_CURVES_H
#define PFS_SIM_TIMED_CURVES_H

#include "sim/timed/timed_contend.h"

struct pfs_curve_point {
	uint32_t threads;
	double low_ns, high_ns; /* published; equal if one number was */
};

/* Times. The model agrees if it is within low / (1 + tolerance) and high * (1 + tolerance). */
struct pfs_curve {
	const char *name, *source;
	const char *machine, *preset, *changes;
	enum pfs_contend_kind kind;
	bool fitted;
	double tolerance;
	struct pfs_curve_point points[4]; /* ended by threads 0 */
	const char *differs; /* why the model is known to be outside; NULL: it is not */
};

/* How much longer one takes than the other. Wide bounds if only a direction is known. */
struct pfs_relation {
	const char *name, *source;
	bool fitted;
	double published; /* 0: only a direction is */
	double low, high;
	struct pfs_contend one, other;
	const char *differs; /* as above */
};

/* The published ones in turn; NULL: past the last. */
const struct pfs_curve *pfs_curve_at(uint32_t at);
const struct pfs_relation *pfs_relation_at(uint32_t at);

/* One point on the machine, or false with a line on stderr. */
bool pfs_curve_measure(const struct pfs_curve *curve, uint32_t threads, uint64_t seed,
		       struct pfs_contend_answer *answer);
bool pfs_relation_measure(const struct pfs_relation *relation, uint64_t seed, double *times);

/* `pfs-sim curves` and `pfs-sim speed`: what main returns. */
int pfs_command_curves(int argc, char **argv);
int pfs_command_speed(int argc, char **argv);

#endif
