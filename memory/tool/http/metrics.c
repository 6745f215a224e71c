/*
 * metrics.c - answers for /metrics, from each living box or from the named one.
 */
#define _GNU_SOURCE
#include "metrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memory/box/reader_profile.h"

#define LARGEST                                                                \
	"row_number() OVER (ORDER BY sum(CURRENT_NUMBER_OF_BYTES_USED) DESC, " \
	"sum(SUM_NUMBER_OF_BYTES_ALLOC) DESC, "
#define SUMS                                                                            \
	"sum(CURRENT_NUMBER_OF_BYTES_USED) AS b, sum(HIGH_NUMBER_OF_BYTES_USED) AS h, " \
	"sum(CURRENT_COUNT_USED) AS c, sum(SUM_NUMBER_OF_BYTES_ALLOC) AS a, "           \
	"sum(SUM_NUMBER_OF_BYTES_FREE) AS f, sum(COUNT_ALLOC) AS n"
#define ALL_SUMS "sum(b), sum(h), sum(c), sum(a), sum(f), sum(n)"
#define SEEN "HAVING sum(COUNT_ALLOC) > 0 OR sum(CURRENT_COUNT_USED) > 0"

/* %u: so many by name. */
static const char *const queries[PFS_METRIC_ANSWERS] = {
	[PFS_METRIC_INSTRUMENTS] =
		"WITH each AS (SELECT EVENT_NAME AS e, " SUMS ", " LARGEST "EVENT_NAME) AS k FROM "
		"memory_summary_global_by_event_name GROUP BY EVENT_NAME " SEEN ") "
		"SELECT CASE WHEN k > %u THEN '(others)' ELSE e END, " ALL_SUMS " FROM each "
		"GROUP BY min(k, %u + 1) ORDER BY k",
	[PFS_METRIC_ACCOUNTS] =
		"WITH each AS (SELECT USER AS u, HOST AS o, " SUMS ", " LARGEST "USER, HOST) AS k "
		"FROM memory_summary_by_account_by_event_name GROUP BY USER, HOST " SEEN ") "
		"SELECT CASE WHEN k > %u THEN '(others)' ELSE u END, "
		"CASE WHEN k > %u THEN NULL ELSE o END, " ALL_SUMS " FROM each "
		"GROUP BY min(k, %u + 1) ORDER BY k",
	[PFS_METRIC_OS] = "SELECT NAME, PART_OF, BYTES FROM memory_os WHERE NAME <> 'blocks'",
	[PFS_METRIC_ARENAS] =
		"SELECT ifnull(CAST(ARENA AS TEXT), '(others)'), ifnull(POOL, ''), "
		"ALLOCATED_BYTES, CACHED_BYTES, ACTIVE_BYTES, RESIDENT_BYTES, MAPPED_BYTES, "
		"RETAINED_BYTES, THREADS FROM memory_arenas",
	/* An owner's sum includes those below it: the rest needs no row of its own. */
	[PFS_METRIC_TRACE] =
		"SELECT ifnull(PARENT || '/', '') || NAME, OWN_BYTES, SUM_BYTES, HIGH_BYTES, "
		"LIMIT_BYTES, REFUSED FROM memory_trace ORDER BY SUM_BYTES DESC, 1 LIMIT %u",
	[PFS_METRIC_LOST] =
		"SELECT replace(replace(replace(lower(VARIABLE_NAME), 'performance_schema_', ''), "
		"'pfs_', ''), '_lost', ''), CAST(VARIABLE_VALUE AS INTEGER) FROM global_status "
		"WHERE lower(VARIABLE_NAME) LIKE '%%\\_lost' ESCAPE '\\'",
};

static bool ask_tables(struct pfs_metric_box *self, const struct pfs_http_box *box, unsigned names,
		       struct pfs_message *message)
{
	sqlite3 *db = pfs_tables_open(box->path, message);
	bool fine = db != NULL;
	for (int i = 0; fine && i < PFS_METRIC_ANSWERS; i++)
		if (queries[i] != NULL)
			fine = pfs_answer_ask(db, sqlite3_mprintf(queries[i], names, names, names),
					      &self->answers[i], message);
	(void)sqlite3_close(db);
	return fine;
}

/* A row of numbers that did not come from a query. */
static bool keep(struct pfs_answer *answer, const int64_t *numbers, size_t count)
{
	answer->values = calloc(count, sizeof(*answer->values));
	if (answer->values == NULL)
		return false;
	for (size_t i = 0; i < count; i++)
		answer->values[i].number = numbers[i];
	answer->column_count = count;
	answer->row_count = answer->room = 1;
	return true;
}

static double bytes_of(const struct pfs_seen_profile *profile)
{
	double bytes = 0;
	for (uint32_t i = 0; i < profile->sample_count; i++)
		bytes += profile->samples[i].objects * (double)profile->samples[i].bytes;
	return bytes;
}

static int64_t seconds_of(const struct pfs_snapshot *snapshot)
{
	const struct pfs_box_info *info = &snapshot->info;
	uint64_t until = info->is_live ? snapshot->taken_realtime_ns : info->seen_realtime_ns;
	return until > info->start_realtime_ns
		       ? (int64_t)((until - info->start_realtime_ns) / 1000000000u)
		       : 0;
}

static bool keep_profile(struct pfs_metric_box *self, const struct pfs_seen_profile *profile)
{
	const struct pfs_snapshot *snapshot = profile->snapshot;
	const int64_t box[] = { snapshot->info.is_live, snapshot->info.pid,
				seconds_of(snapshot),   (int64_t)snapshot->info.ticks,
				snapshot->thread_count, (int64_t)snapshot->cell_count };
	double bytes = bytes_of(profile);
	const int64_t numbers[] = { profile->is_active, (int64_t)profile->interval,
				    profile->sample_count, bytes < 9e18 ? (int64_t)bytes : 0,
				    profile->stack_count };
	return keep(&self->answers[PFS_METRIC_BOX], box, sizeof(box) / sizeof(box[0])) &&
	       (!profile->is_there || keep(&self->answers[PFS_METRIC_PROFILE], numbers,
					   sizeof(numbers) / sizeof(numbers[0])));
}

static bool ask_profile(struct pfs_metric_box *self, const struct pfs_http_box *box,
			struct pfs_message *message)
{
	struct pfs_reader *reader = pfs_reader_open(box->path, message);
	struct pfs_seen_profile *profile = reader == NULL ? NULL
							  : pfs_profile_take(reader, message);
	bool fine = profile != NULL && keep_profile(self, profile);
	pfs_profile_free(profile);
	pfs_reader_close(reader);
	return fine;
}

static void drop(struct pfs_metric_box *self)
{
	for (int i = 0; i < PFS_METRIC_ANSWERS; i++)
		pfs_answer_drop(&self->answers[i]);
	memset(self, 0, sizeof(*self));
}

static bool take(struct pfs_metric_box *self, const struct pfs_box_info *info, unsigned names,
		 struct pfs_message *message)
{
	struct pfs_http_box box;
	(void)snprintf(box.path, sizeof(box.path), "%s", info->path);
	pfs_http_id(info->path, box.id);
	memcpy(self->id, box.id, sizeof(self->id));
	(void)snprintf(self->program, sizeof(self->program), "%s", pfs_http_program(info));
	if (ask_tables(self, &box, names, message) && ask_profile(self, &box, message))
		return true;
	drop(self);
	return false;
}

/* The named one; else living ones, and those named when the server started. */
static bool is_wanted(const struct pfs_http_ask *ask, const struct pfs_http_box *box,
		      const struct pfs_box_info *info)
{
	if (ask->target[0] != '\0')
		return strcmp(info->path, box->path) == 0;
	return info->is_live || !pfs_http.is_all;
}

static void put_rest(FILE *to, size_t left_out, size_t refused)
{
	(void)fprintf(to,
		      "# HELP pfs_memory_boxes_left_out Boxes that are not in here.\n"
		      "# TYPE pfs_memory_boxes_left_out gauge\n"
		      "pfs_memory_boxes_left_out{why=\"too many\"} %zu\n"
		      "pfs_memory_boxes_left_out{why=\"unreadable\"} %zu\n",
		      left_out, refused);
}

PFS_HTTP_MAKES(pfs_http_metrics)
{
	struct pfs_http_box wanted = { .path = "" };
	struct pfs_box_list list;
	size_t count = 0, all = 0, refused;
	if (ask->target[0] != '\0' && !pfs_http_find(ask->target, &wanted, status, message))
		return false;
	struct pfs_metric_box *boxes = calloc(PFS_METRIC_BOXES_MAX, sizeof(*boxes));
	if (boxes == NULL || !pfs_http_list(&list, message)) {
		free(boxes);
		return false;
	}
	refused = list.refused;
	for (size_t i = 0; i < list.count; i++)
		all += is_wanted(ask, &wanted, &list.boxes[i]);
	size_t shown = all < PFS_METRIC_BOXES_MAX ? all : PFS_METRIC_BOXES_MAX;
	size_t names = shown == 0 ? 0 : PFS_METRIC_SERIES_MAX / shown;
	names = names < PFS_METRIC_NAMES_MAX ? names : PFS_METRIC_NAMES_MAX;
	for (size_t i = 0, tried = 0; i < list.count && tried < shown; i++) {
		if (!is_wanted(ask, &wanted, &list.boxes[i]))
			continue;
		tried++;
		if (take(&boxes[count], &list.boxes[i], (unsigned)names, message))
			count++;
		else
			refused++;
	}
	put_rest(to, all - shown, refused);
	pfs_metrics_write(boxes, count, ask->open_metrics, to);
	for (size_t i = 0; i < count; i++)
		drop(&boxes[i]);
	free(boxes);
	pfs_box_list_free(&list);
	return true;
}
