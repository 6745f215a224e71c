/*
 * over_time.c - rows of memory_history as stacked series.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report.h"

enum { TICK, TIME, KIND, NAME, BYTES, RSS, PLACE };

/* "2026-01-31 12:00:00.123" as milliseconds, without a time zone. */
static int64_t milliseconds_of(const char *text)
{
	struct tm parts;
	memset(&parts, 0, sizeof(parts));
	const char *behind = strptime(text, "%Y-%m-%d %H:%M:%S", &parts);
	if (behind == NULL)
		return 0;
	return (int64_t)timegm(&parts) * 1000 + (*behind == '.' ? atoi(behind + 1) : 0);
}

static bool is_total(const struct pfs_answer *answer, size_t row)
{
	const char *kind = pfs_answer_at(answer, row, KIND)->text;
	return kind != NULL && strcmp(kind, "total") == 0;
}

static bool make_room(struct pfs_history *self, size_t moments)
{
	self->ticks = calloc(moments + 1, sizeof(*self->ticks));
	self->times_ms = calloc(moments + 1, sizeof(*self->times_ms));
	self->times = calloc(moments + 1, sizeof(*self->times));
	self->rss = calloc(moments + 1, sizeof(*self->rss));
	self->tracked = calloc(moments + 1, sizeof(*self->tracked));
	self->edge[0] = calloc(moments + 1, sizeof(**self->edge));
	self->edge[1] = calloc(moments + 1, sizeof(**self->edge));
	for (size_t i = 0; i < PFS_SERIES_MAX; i++) {
		self->bytes[i] = calloc(moments + 1, sizeof(**self->bytes));
		if (self->bytes[i] == NULL)
			return false;
	}
	return self->ticks != NULL && self->times_ms != NULL && self->times != NULL &&
	       self->rss != NULL && self->tracked != NULL && self->edge[0] != NULL &&
	       self->edge[1] != NULL;
}

/* The series of that name, new if there is room; else the last, for the others. */
static size_t series_of(struct pfs_history *self, const char *name)
{
	for (size_t i = 0; i < self->series_count; i++)
		if (strcmp(self->names[i], name) == 0)
			return i;
	if (self->series_count == PFS_SERIES_MAX - 1)
		return PFS_SERIES_MAX - 1;
	self->names[self->series_count] = name;
	return self->series_count++;
}

/* Only a damaged box has more; sums of this do not overflow. */
static int64_t bytes_at(const struct pfs_answer *answer, size_t row, size_t column)
{
	int64_t bytes = pfs_answer_at(answer, row, column)->number;
	return bytes < INT64_MAX / 16 ? bytes : INT64_MAX / 16;
}

static void add_row(struct pfs_history *self, const struct pfs_answer *answer, size_t row)
{
	const char *name = pfs_answer_at(answer, row, NAME)->text;
	int64_t bytes = bytes_at(answer, row, BYTES);
	size_t moment;
	if (is_total(answer, row)) {
		moment = self->moment_count++;
		self->ticks[moment] = (uint64_t)pfs_answer_at(answer, row, TICK)->number;
		const char *time = pfs_answer_at(answer, row, TIME)->text;
		self->times[moment] = time != NULL ? time : ""; /* of a damaged box */
		self->times_ms[moment] = milliseconds_of(self->times[moment]);
		self->rss[moment] = bytes_at(answer, row, RSS);
		self->tracked[moment] = bytes;
	} else if (self->moment_count > 0 && name != NULL) {
		moment = self->moment_count - 1;
		size_t series = series_of(self, name);
		if (series < PFS_SERIES_MAX - 1)
			self->bytes[series][moment] += bytes;
	}
}

int64_t pfs_history_most(const struct pfs_history *self, const int64_t *bytes)
{
	int64_t most = 0;
	for (size_t i = 0; i < self->moment_count; i++)
		most = bytes[i] > most ? bytes[i] : most;
	return most;
}

static int64_t most_of(const struct pfs_history *self, size_t series)
{
	return pfs_history_most(self, self->bytes[series]);
}

static void largest_first(struct pfs_history *self)
{
	for (size_t i = 0; i < self->series_count; i++)
		for (size_t j = i; j > 0 && most_of(self, j) > most_of(self, j - 1); j--) {
			const char *name = self->names[j];
			int64_t *bytes = self->bytes[j];
			self->names[j] = self->names[j - 1];
			self->bytes[j] = self->bytes[j - 1];
			self->names[j - 1] = name;
			self->bytes[j - 1] = bytes;
		}
}

/*
 * What is tracked beyond the named series. The program runs while a tick adds up its parts, so
 * these can exceed the whole: the others then have 0.
 */
static void add_others(struct pfs_history *self, const char *others)
{
	int64_t *rest = self->bytes[PFS_SERIES_MAX - 1];
	bool has_any = false;
	for (size_t i = 0; i < self->moment_count; i++) {
		rest[i] = self->tracked[i];
		for (size_t series = 0; series < self->series_count; series++)
			rest[i] -= self->bytes[series][i];
		int64_t sum = rest[i] > 0 ? self->tracked[i] : self->tracked[i] - rest[i];
		int64_t higher = self->rss[i] > sum ? self->rss[i] : sum;
		self->most = higher > self->most ? higher : self->most;
		rest[i] = rest[i] > 0 ? rest[i] : 0;
		has_any |= rest[i] > 0;
	}
	if (!has_any)
		return;
	self->bytes[PFS_SERIES_MAX - 1] = self->bytes[self->series_count];
	self->bytes[self->series_count] = rest;
	self->names[self->series_count++] = others;
}

bool pfs_history_make(struct pfs_history *self, const struct pfs_answer *answer, const char *others)
{
	size_t moments = 0;
	memset(self, 0, sizeof(*self));
	for (size_t i = 0; i < answer->row_count; i++)
		moments += is_total(answer, i);
	if (!make_room(self, moments)) {
		pfs_history_free(self);
		return false;
	}
	for (size_t i = 0; i < answer->row_count; i++)
		add_row(self, answer, i);
	if (answer->column_count <= PLACE) /* else PLACE orders them */
		largest_first(self);
	add_others(self, others);
	return true;
}

void pfs_history_free(struct pfs_history *self)
{
	free(self->ticks);
	free(self->times_ms);
	free(self->times);
	free(self->rss);
	free(self->tracked);
	free(self->edge[0]);
	free(self->edge[1]);
	for (size_t i = 0; i < PFS_SERIES_MAX; i++)
		free(self->bytes[i]);
	memset(self, 0, sizeof(*self));
}
