/* series.c - the values of a measurement, one for each round, and their quartiles. */
#include "sim/calibrate/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pfs_series_add(struct pfs_calibration *self, const char *name, const char *unit,
		    const char *what, double value)
{
	struct pfs_series_of *series = NULL;
	for (uint32_t i = 0; i < self->series_count && series == NULL; i++) {
		if (strcmp(self->series[i].name, name) == 0)
			series = &self->series[i];
	}
	if (series == NULL) {
		if (self->series_count == PFS_SERIES_MAX)
			return;
		series = &self->series[self->series_count++];
		(void)snprintf(series->name, sizeof(series->name), "%s", name);
		series->unit = unit;
		series->what = what;
	}
	if (!isfinite(value))
		series->rejected++;
	else if (series->count < PFS_ROUNDS_MAX)
		series->values[series->count++] = fmax(value, 0);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Of sorted values, interpolated between the two nearest. */
static double quantile(const double *values, uint32_t count, double share)
{
	double place = share * (count - 1);
	uint32_t at = (uint32_t)place;
	if (at + 1 >= count)
		return values[count - 1];
	return values[at] + (place - at) * (values[at + 1] - values[at]);
}

double pfs_median_of(double *values, uint32_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return count != 0 ? quantile(values, count, 0.5) : NAN;
}

struct pfs_series_of *pfs_series_find(struct pfs_calibration *self, const char *name)
{
	for (uint32_t i = 0; i < self->series_count; i++) {
		if (strcmp(self->series[i].name, name) == 0)
			return self->series[i].count != 0 ? &self->series[i] : NULL;
	}
	return NULL;
}

void pfs_series_summarize(struct pfs_calibration *self)
{
	for (uint32_t i = 0; i < self->series_count; i++) {
		struct pfs_series_of *series = &self->series[i];
		if (series->count == 0)
			continue;
		series->mid = pfs_median_of(series->values, series->count);
		series->low = quantile(series->values, series->count, 0.25);
		series->high = quantile(series->values, series->count, 0.75);
	}
}
