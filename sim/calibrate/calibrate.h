/*
 * calibrate.h - what the real machine's accesses cost: measured with pinned threads, and written as
 * a file of costs for the simulated machine (costs.h).
 *
 * It uses real atomics, not the simulator's: this program is compiled without PFS_SIM.
 *
 * A measurement takes one value a round: the median of many short blocks, so that a block in which
 * a thread lost its CPU does not count. Rounds repeat until the time is over. Every measurement
 * takes its turn in each round, so that a disturbance affects all alike.
 */
#ifndef PFS_SIM_CALIBRATE_H
#define PFS_SIM_CALIBRATE_H

#include <hwloc.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/clock.h"
#include "bench/pool.h"
#include "containers/atomic.h"
#include "sim/timed/costs.h"

#define PFS_ROUNDS_MAX 256u
#define PFS_BLOCKS_MAX 64u
#define PFS_WALK_LINES 256u
#define PFS_SERIES_MAX 96u

/* One value a round; NAN and missing rounds are not kept. */
struct pfs_series_of {
	char name[48];
	const char *unit, *what;
	double values[PFS_ROUNDS_MAX]; /* sorted by pfs_series_summary */
	uint32_t count;
	uint32_t rejected;     /* rounds in which a thread lost its CPU in every block */
	double low, mid, high; /* quartiles and median */
};

enum pfs_pair_kind { PFS_PAIR_SMT, PFS_PAIR_L3, PFS_PAIR_NODE, PFS_PAIR_PACKAGE, PFS_PAIR_REMOTE };
#define PFS_PAIR_KINDS 5u

struct pfs_walk_line {
	alignas(2 * PFS_LINE) _Atomic(uint64_t) value; /* low half: the index of the next line */
};

/* Two pinned threads, and what they share. Thread 0 measures. */
struct pfs_pair {
	struct pfs_placement placement;
	struct pfs_pool *pool;
	uint32_t pu_os[2], pu_logical[2];
	alignas(2 * PFS_LINE) _Atomic(uint64_t) met[2 * 2 * PFS_LINE / 8]; /* see meet() */
	alignas(2 * PFS_LINE) _Atomic(uint64_t) word;                      /* contended */
	alignas(2 * PFS_LINE) _Atomic(uint64_t) counts[2 * 2 * PFS_LINE / 8];
	struct pfs_walk_line lines[PFS_WALK_LINES];
	uint64_t meetings[2]; /* each thread its own */
};

struct pfs_calibration {
	hwloc_topology_t topology;
	struct pfs_clock clock;
	struct pfs_pair *pairs[PFS_PAIR_KINDS]; /* NULL: this machine has no such pair */
	struct pfs_pair *same;                  /* both threads on one PU */
	struct pfs_series_of series[PFS_SERIES_MAX];
	uint32_t series_count;
	uint32_t pu_count;   /* PUs that this process may use */
	double cache_kib[3]; /* L1, L2, L3; 0: unknown */
	double seconds;
	/* Pointer chases, made once; NULL: no memory for it, or no such cache. */
	struct pfs_chase *chase[4];
};

/* Add a round's value; a NAN is a rejected round. */
void pfs_series_add(struct pfs_calibration *self, const char *name, const char *unit,
		    const char *what, double value);

/* By name; NULL: not measured, or disturbed in every round. Quartiles are set. */
struct pfs_series_of *pfs_series_find(struct pfs_calibration *self, const char *name);
void pfs_series_summarize(struct pfs_calibration *self);

double pfs_median_of(double *values, uint32_t count); /* sorts them; NAN if there are none */

const char *pfs_pair_kind_name(enum pfs_pair_kind kind);

static inline double pfs_ns_since(const struct pfs_calibration *self, uint64_t ticks)
{
	return (double)(pfs_clock_ticks(&self->clock) - ticks) * self->clock.ns_per_tick;
}

/* The time of one operation in a block of so many that began at `ticks`. */
static inline double pfs_block_ns(const struct pfs_calibration *self, uint64_t ticks,
				  double operations)
{
	return (pfs_ns_since(self, ticks) - self->clock.cost_ns) / operations;
}

/* Keeps a result alive without a store to memory that others read. */
static inline void pfs_keep(uint64_t value)
{
	__asm__ volatile("" : : "r"(value));
}

static inline void pfs_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

/* Both threads of a pair arrive here before either continues. */
static inline void pfs_pair_meet(struct pfs_pair *self, uint32_t thread)
{
	const uint32_t apart = 2 * PFS_LINE / 8; /* each count on its own lines */
	uint64_t meeting = ++self->meetings[thread];
	/* release and acquire: each sees what the other did before */
	pfs_store_release(&self->met[thread * apart], meeting);
	while (pfs_load_acquire(&self->met[(1 - thread) * apart]) < meeting)
		pfs_pause();
}

/* One round each: calibrate_core.c, calibrate_pair.c, calibrate_kernel.c. */
bool pfs_calibrate_prepare_core(struct pfs_calibration *self);
void pfs_calibrate_core(struct pfs_calibration *self, struct pfs_pair *pair);
void pfs_calibrate_pair(struct pfs_calibration *self, struct pfs_pair *pair,
			enum pfs_pair_kind kind);
void pfs_calibrate_kernel(struct pfs_calibration *self, struct pfs_pair *pair);
void pfs_calibrate_same_pu(struct pfs_calibration *self, struct pfs_pair *same);
void pfs_calibrate_slice(struct pfs_calibration *self, struct pfs_pair *same);
void pfs_calibrate_forget_core(struct pfs_calibration *self);

/* The file: the fields of the cost table that these measurements determine, with the measurement of
 * each, and all measurements with their spread. The other fields are the preset's. */
void pfs_calibrate_write(struct pfs_calibration *self, const char *preset, FILE *out);
/* The same as text for people. */
void pfs_calibrate_print(struct pfs_calibration *self, const char *preset, FILE *out);

#endif
