/*
 * parts.h - a measured window cut into parts of equally many allocations, with what had happened by
 * the end of each. They show whether a run has left its start-up behind (scripts/common/steady.py).
 *
 * A part has 2^n allocations, with n such that the window has PFS_PARTS_MAX / 2 parts or more, but
 * fewer than PFS_PARTS_MAX. Parts are counted by calls: the batches of bench/trial.h are too long,
 * and those of all threads end at nearly the same time. Plain memory that only the simulator
 * writes; it costs no virtual time.
 */
#ifndef PFS_SIM_RUN_PARTS_H
#define PFS_SIM_RUN_PARTS_H

#include <stdint.h>

#define PFS_PARTS_MAX 64

/* At the end of a part. Sums since the window opened; of pages, those held at that moment. */
struct pfs_part {
	uint64_t allocations;
	uint64_t ns;
	uint64_t pages;
	uint64_t record_skips;
};

struct pfs_parts {
	uint32_t count;
	struct pfs_part list[PFS_PARTS_MAX];
};

/* The window opens. */
void pfs_parts_begin(void);
/* A call has allocated a record, at now_ns. */
void pfs_parts_allocated(uint64_t now_ns);
const struct pfs_parts *pfs_parts(void);

#endif
