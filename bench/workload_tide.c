/*
 * workload_tide.c - load that rises, holds, falls and stays low, twice. The run ends in a trough.
 */
#include "tides.h"

#define LEVEL_TROUGH UINT64_C(20000) /* 2 % of the peak */
#define CYCLES 2

/* Where in a cycle of 1000 parts the tide turns. The trough is so long that what became surplus
 * at its begin has decayed at its end, with the default number of passes. */
#define RISEN 100
#define HELD 300
#define FALLEN 400

static uint64_t level(uint64_t share, bool *rests)
{
	uint64_t part = share * CYCLES * 1000 / PFS_TIDES_FULL % 1000;
	uint64_t height = PFS_TIDES_FULL - LEVEL_TROUGH;

	*rests = part >= FALLEN;
	if (part < RISEN)
		return LEVEL_TROUGH + height * part / RISEN;
	if (part < HELD)
		return PFS_TIDES_FULL;
	if (part < FALLEN)
		return PFS_TIDES_FULL - height * (part - HELD) / (FALLEN - HELD);
	return LEVEL_TROUGH;
}

const struct pfs_workload pfs_workload_tide = {
	PFS_TIDES,         .has_policy = true,
	.name = "tide",    .summary = "the load rises, holds and falls",
	.window_ms = 1000, .tick_share = 200,
	.level = level,
};
