/*
 * soak_draw.h - the command lines of `pfs-sim soak`: each a random `pfs-sim run`.
 *
 * A line depends only on the seed, the number of the run and that of the attempt, so any run can be
 * drawn again by itself. Small cases are drawn more often than large ones, because containers are
 * full and threads meet there.
 */
#ifndef PFS_SIM_SOAK_DRAW_H
#define PFS_SIM_SOAK_DRAW_H

#include <stdint.h>

#define PFS_SOAK_LINE_BYTES 640u
#define PFS_SOAK_POLICIES_MAX 16u

struct pfs_soak_plan {
	const struct pfs_variant *policies[PFS_SOAK_POLICIES_MAX];
	uint32_t policy_count;
	uint64_t seed;
	const char *trace; /* for workload replay, or NULL: it is not drawn */
};

struct pfs_soak_line {
	char text[PFS_SOAK_LINE_BYTES]; /* "run --machine ..." */
	uint32_t policy;                /* position in the plan */
};

/* `pfs-sim run` refuses some lines as input; the next attempt draws another one. */
void pfs_soak_draw(const struct pfs_soak_plan *plan, uint64_t run, uint32_t attempt,
		   struct pfs_soak_line *line);

#endif
