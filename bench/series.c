/*
 * series.c - see series.h.
 *
 * [{"benchmark": NAME, "run": N, "t_ms": T, "live": L, "pages": P, "ideal": I,
 *   "resident_bytes": R}, ...]; run counts repetitions and repeated trials of one name from 0.
 */
#include "series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"

#define NAME_MAX_CHARS 256

struct pfs_series {
	FILE *file; /* of output */
	bool any;
	char benchmark[NAME_MAX_CHARS];
	uint32_t run;
};

static struct pfs_output output; /* one at a time; too large for the heap of a simulated run */

struct pfs_series *pfs_series_open(const char *path)
{
	struct pfs_series *self = calloc(1, sizeof(*self));

	if (self == NULL)
		return NULL;
	if (!pfs_output_begin(&output, path)) {
		free(self);
		return NULL;
	}
	self->file = output.file;
	fputs("[", self->file);
	return self;
}

void pfs_series_begin(struct pfs_series *self, const char *benchmark)
{
	if (self == NULL)
		return;
	if (strcmp(self->benchmark, benchmark) == 0) {
		self->run++;
		return;
	}
	snprintf(self->benchmark, sizeof(self->benchmark), "%s", benchmark);
	self->run = 0;
}

void pfs_series_add(struct pfs_series *self, const struct pfs_series_sample *sample)
{
	if (self == NULL)
		return;
	fprintf(self->file,
		"%s\n{\"benchmark\": \"%s\", \"run\": %u, \"t_ms\": %.3f, \"live\": %llu, "
		"\"pages\": %llu, \"ideal\": %llu, \"resident_bytes\": %llu}",
		self->any ? "," : "", self->benchmark, self->run, sample->t_ms,
		(unsigned long long)sample->live, (unsigned long long)sample->pages,
		(unsigned long long)sample->ideal, (unsigned long long)sample->resident_bytes);
	self->any = true;
}

bool pfs_series_close(struct pfs_series *self)
{
	if (self == NULL)
		return true;
	fputs("\n]\n", self->file);
	free(self);
	return pfs_output_end(&output);
}

void pfs_series_drop(struct pfs_series *self)
{
	if (self == NULL)
		return;
	free(self);
	pfs_output_drop(&output);
}
