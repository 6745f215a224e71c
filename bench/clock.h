/*
 * clock.h - wall time, CPU time of a thread, and ticks for single calls.
 *
 * Ticks are the time-stamp counter if it is constant and continues in idle states, else
 * CLOCK_MONOTONIC. The cost of reading them is measured and reported, never subtracted.
 */
#ifndef PFS_BENCH_CLOCK_H
#define PFS_BENCH_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/now.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#define PFS_CLOCK_HAS_TSC 1
#else
#define PFS_CLOCK_HAS_TSC 0
#endif

struct pfs_clock {
	bool tsc; /* ticks are the time-stamp counter */
	double ns_per_tick;
	double cost_ns; /* median of an empty begin and end pair */
	double step_ns; /* every reading differs from every other by a multiple of it */
};

/* Takes about 20 ms, for calibration against CLOCK_MONOTONIC. */
void pfs_clock_init(struct pfs_clock *self);

#ifdef PFS_SIM
uint64_t pfs_timed_now_ns(void); /* sim/timed/timed.h */
static inline uint64_t pfs_clock_wall_ns(void)
{
	return pfs_timed_now_ns();
}
#else
static inline uint64_t pfs_clock_wall_ns(void)
{
	return pfs_now_ns(CLOCK_MONOTONIC);
}
#endif

static inline uint64_t pfs_clock_thread_ns(void)
{
	return pfs_now_ns(CLOCK_THREAD_CPUTIME_ID);
}

#if PFS_CLOCK_HAS_TSC
static inline uint64_t pfs_clock_tsc(void)
{
	_mm_lfence(); /* or the counter would be read before earlier instructions are done */
	uint64_t ticks = __rdtsc();
	_mm_lfence(); /* or later ones would begin before it is read */
	return ticks;
}
#else
static inline uint64_t pfs_clock_tsc(void)
{
	return pfs_clock_wall_ns();
}
#endif

static inline uint64_t pfs_clock_ticks(const struct pfs_clock *self)
{
	return self->tsc ? pfs_clock_tsc() : pfs_clock_wall_ns();
}

/* The greatest step of which all differences are multiples; 0 if all are 0. A counter that is
 * nominally fast may advance by many ticks at a time, and no latency is finer than that. */
uint64_t pfs_clock_step(const uint64_t *differences, size_t count);

void pfs_clock_sleep_until_ns(uint64_t wall_ns);

#endif
