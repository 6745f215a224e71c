/*
 * views.c - temporary views like those of MySQL's sys schema; those of x$ have the same columns
 * with plain numbers.
 *
 * user_summary and host_summary serve exporters, which cannot read NULL: they have 0 for what only
 * a database server has (statements, file latency). In text, "≤" marks a HIGH that is a bound.
 */
#include <string.h>

#include "session.h"

#define P "CURRENT_NUMBER_OF_BYTES_USED"
#define AVG(bytes, count) "ifnull(round(1.0 * " bytes " / nullif(" count ", 0), 4), 0.0)"
#define GROUP_SUMS(F)                                                             \
	"sum(CURRENT_COUNT_USED) AS current_count_used, " F "(sum(" P             \
	")) AS current_allocated, " F                                             \
	"(" AVG("sum(" P ")",                                                     \
		"sum(CURRENT_COUNT_USED)") ") AS current_avg_alloc, " F "(max(" P \
					   ")) AS current_max_alloc, " F          \
					   "(sum(SUM_NUMBER_OF_BYTES_ALLOC)) AS total_allocated "

/* An upper bound is marked in text. */
#define BOUND "CASE HIGH_IS WHEN 'exact' THEN '' ELSE '≤ ' END || "
#define RATIO "CASE WHEN HIGH_IS = 'exact' AND HIGH_COUNT_IS = 'exact' THEN '' ELSE '≈ ' END || "
/* clang-format off */
#define GLOBAL(F, BOUND_, RATIO_) \
	"SELECT EVENT_NAME AS event_name, CURRENT_COUNT_USED AS current_count, " \
	F "(" P ") AS current_alloc, " \
	F "(" AVG(P, "CURRENT_COUNT_USED") ") AS current_avg_alloc, " \
	"HIGH_COUNT_USED AS high_count, " \
	BOUND_ F "(HIGH_NUMBER_OF_BYTES_USED) AS high_alloc, " \
	RATIO_ F "(" AVG("HIGH_NUMBER_OF_BYTES_USED", "HIGH_COUNT_USED") ") AS high_avg_alloc " \
	"FROM memory_summary_global_by_event_name WHERE " P " > 0 ORDER BY " P " DESC"
/* clang-format on */

#define TOTAL(F) \
	"SELECT " F "(sum(" P ")) AS total_allocated FROM memory_summary_global_by_event_name"

#define THREAD(F)                                                                     \
	"SELECT mt.THREAD_ID AS thread_id, CASE WHEN t.PROCESSLIST_USER IS NOT NULL " \
	"THEN t.PROCESSLIST_USER || ifnull('@' || t.PROCESSLIST_HOST, '') "           \
	"ELSE replace(t.NAME, 'thread/', '') END AS user, " GROUP_SUMS(               \
		F) "FROM memory_summary_by_thread_by_event_name AS mt "               \
		   "JOIN threads AS t ON mt.THREAD_ID = t.THREAD_ID "                 \
		   "GROUP BY mt.THREAD_ID ORDER BY sum(" P ") DESC"

#define WHO(F, column, name, table)                                          \
	"SELECT ifnull(" column ", 'background') AS " name                   \
	", " GROUP_SUMS(F) "FROM memory_summary_by_" table "_by_event_name " \
			   "GROUP BY ifnull(" column ", 'background') ORDER BY sum(" P ") DESC"

#define SUMMARY(F, column, name, table, other, unique)                                             \
	"SELECT ifnull(w." column ", 'background') AS " name ", 0 AS statements, "                 \
	"0 AS statement_latency, 0 AS statement_avg_latency, 0 AS table_scans, "                   \
	"0 AS file_ios, 0 AS file_io_latency, "                                                    \
	"w.CURRENT_CONNECTIONS AS current_connections, "                                           \
	"w.TOTAL_CONNECTIONS AS total_connections, "                                               \
	"(SELECT count(DISTINCT " other ") FROM accounts AS a "                                    \
	"WHERE a." column " IS w." column ") AS " unique ", " F "(sum(m." P                        \
	")) AS current_memory, " F "(sum(m.SUM_NUMBER_OF_BYTES_ALLOC)) AS total_memory_allocated " \
	"FROM " table "s AS w LEFT JOIN memory_summary_by_" table "_by_event_name AS m "           \
	"ON m." column " IS w." column " GROUP BY w." column " ORDER BY sum(m." P ") DESC"

struct view {
	const char *name, *plain, *raw;
};

static const struct view views[] = {
	{ "memory_global_by_current_bytes", GLOBAL("format_bytes", BOUND, RATIO),
	  GLOBAL("", "", "") },
	{ "memory_global_total", TOTAL("format_bytes"), TOTAL("") },
	{ "memory_by_thread_by_current_bytes", THREAD("format_bytes"), THREAD("") },
	{ "memory_by_user_by_current_bytes", WHO("format_bytes", "USER", "user", "user"),
	  WHO("", "USER", "user", "user") },
	{ "memory_by_host_by_current_bytes", WHO("format_bytes", "HOST", "host", "host"),
	  WHO("", "HOST", "host", "host") },
	{ "user_summary", SUMMARY("format_bytes", "USER", "user", "user", "HOST", "unique_hosts"),
	  SUMMARY("", "USER", "user", "user", "HOST", "unique_hosts") },
	{ "host_summary", SUMMARY("format_bytes", "HOST", "host", "host", "USER", "unique_users"),
	  SUMMARY("", "HOST", "host", "host", "USER", "unique_users") },
};
#define VIEWS (sizeof(views) / sizeof(views[0]))

static int make_view(sqlite3 *db, const char *prefix, const char *name, const char *select)
{
	char *text = sqlite3_mprintf("CREATE TEMP VIEW IF NOT EXISTS \"%w%w\" AS %s", prefix, name,
				     select);
	int code = text == NULL ? SQLITE_NOMEM : sqlite3_exec(db, text, NULL, NULL, NULL);
	sqlite3_free(text);
	return code;
}

int pfs_sql_views(sqlite3 *db)
{
	int code = SQLITE_OK;
	for (size_t i = 0; code == SQLITE_OK && i < VIEWS; i++) {
		code = make_view(db, "", views[i].name, views[i].plain);
		if (code == SQLITE_OK)
			code = make_view(db, "x$", views[i].name, views[i].raw);
	}
	return code;
}

const char *pfs_sql_view_name(size_t i)
{
	/* clang-format off */
	static const char *const raw[VIEWS] = {
		"x$memory_global_by_current_bytes", "x$memory_global_total",
		"x$memory_by_thread_by_current_bytes", "x$memory_by_user_by_current_bytes",
		"x$memory_by_host_by_current_bytes", "x$user_summary", "x$host_summary"
	};
	/* clang-format on */
	return i >= 2 * VIEWS ? NULL : i % 2 == 0 ? views[i / 2].name : raw[i / 2];
}

const char *pfs_sql_view_text(const char *name)
{
	bool is_raw = strncmp(name, "x$", 2) == 0;
	for (size_t i = 0; i < VIEWS; i++)
		if (sqlite3_stricmp(views[i].name, is_raw ? name + 2 : name) == 0)
			return is_raw ? views[i].raw : views[i].plain;
	return NULL;
}
