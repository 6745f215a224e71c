/*
 * workload_day.c - a database's day from midnight to midnight: a batch of the night, a morning that
 * rises, a peak before noon, a higher one in the evening. Workers rest all day between a few
 * operations, so that 24 hours are no more of them than a test can take.
 */
#include "tides.h"

#define HOURS 24

/* Records in use, in thousandths of the evening's, at the begin of each hour; between them it moves
 * evenly. The batch begins at 1 and ends at 3. */
static const uint16_t levels[HOURS + 1] = {
	100, 60,  500, 450, 50,  40,  60,  150,  350, 600, 750, 800, 650,
	700, 750, 700, 600, 550, 650, 950, 1000, 800, 300, 120, 100,
};

static uint64_t level(uint64_t share, bool *rests)
{
	uint64_t place = share * HOURS;
	uint64_t hour = place / PFS_TIDES_FULL, past = place % PFS_TIDES_FULL;
	uint64_t before = levels[hour], after = levels[hour + 1];

	*rests = true;
	return (before * (PFS_TIDES_FULL - past) + after * past) / 1000;
}

const struct pfs_workload pfs_workload_day = {
	PFS_TIDES,         .has_policy = true,
	.name = "day",     .summary = "24 hours of a database's load",
	.window_ms = 240, /* 10 an hour */
	.tick_share = 288, .level = level,
};
