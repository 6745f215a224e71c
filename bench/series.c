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

#include "base/json.h"
#include "base/output.h"

#define NAME_MAX_CHARS 256

struct pfs_series {
	struct pfs_json json; /* to output */
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
	self->json.out = output.file;
	pfs_json_array(&self->json, NULL);
	pfs_json_lines(&self->json);
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
	pfs_json_object(&self->json, NULL);
	pfs_json_text(&self->json, "benchmark", self->benchmark);
	pfs_json_count(&self->json, "run", self->run);
	pfs_json_fixed(&self->json, "t_ms", 3, sample->t_ms);
	pfs_json_count(&self->json, "live", sample->live);
	pfs_json_count(&self->json, "pages", sample->pages);
	pfs_json_count(&self->json, "ideal", sample->ideal);
	pfs_json_count(&self->json, "resident_bytes", sample->resident_bytes);
	pfs_json_end(&self->json);
}

bool pfs_series_close(struct pfs_series *self)
{
	if (self == NULL)
		return true;
	pfs_json_end(&self->json);
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
