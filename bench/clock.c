/*
 * clock.c - calibration of the tick source, see clock.h.
 */
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALIBRATION_NS UINT64_C(20000000)
#define COST_SAMPLES 1001

static bool tsc_is_steady(void)
{
	char line[4096];
	bool steady = false;
	FILE *file = fopen("/proc/cpuinfo", "r");

	if (!PFS_CLOCK_HAS_TSC || file == NULL) {
		if (file != NULL)
			fclose(file);
		return false;
	}
	while (fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, "flags", 5) != 0)
			continue;
		steady = strstr(line, " constant_tsc") && strstr(line, " nonstop_tsc");
		break;
	}
	fclose(file);
	return steady;
}

static int compare_u64(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

uint64_t pfs_clock_step(const uint64_t *differences, size_t count)
{
	uint64_t step = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t rest = differences[i];
		while (rest != 0) { /* Euclid's */
			uint64_t next = step % rest;
			step = rest;
			rest = next;
		}
	}
	return step;
}

void pfs_clock_init(struct pfs_clock *self)
{
	uint64_t costs[COST_SAMPLES];

	self->tsc = tsc_is_steady();
	self->ns_per_tick = 1.0;
	if (self->tsc) {
		uint64_t wall = pfs_clock_wall_ns(), ticks = pfs_clock_ticks(self);

		pfs_clock_sleep_until_ns(wall + CALIBRATION_NS);
		uint64_t wall_end = pfs_clock_wall_ns(), ticks_end = pfs_clock_ticks(self);

		self->ns_per_tick = (double)(wall_end - wall) / (double)(ticks_end - ticks);
	}
	for (int i = 0; i < COST_SAMPLES; i++) {
		uint64_t begin = pfs_clock_ticks(self);

		costs[i] = pfs_clock_ticks(self) - begin;
	}
	self->step_ns = (double)pfs_clock_step(costs, COST_SAMPLES) * self->ns_per_tick;
	qsort(costs, COST_SAMPLES, sizeof(costs[0]), compare_u64);
	self->cost_ns = (double)costs[COST_SAMPLES / 2] * self->ns_per_tick;
}

void pfs_clock_sleep_until_ns(uint64_t wall_ns)
{
	struct timespec until = {
		.tv_sec = (time_t)(wall_ns / UINT64_C(1000000000)),
		.tv_nsec = (long)(wall_ns % UINT64_C(1000000000)),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
		;
}
