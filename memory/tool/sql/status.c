/*
 * status.c - global_status and global_variables.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "session.h"

/* ---- variables ---- */

#define VALUE_BYTES 1100u

/* Where the value of a variable is: in the snapshot, at offset, unless the kind says otherwise. */
enum kind {
	NUMBER_64,
	NUMBER_32,
	TEXT,
	TIME,
	CONSTANT, /* text */
	CALL      /* value; false: NULL */
};

struct variable {
	const char *name;
	enum kind kind;
	size_t offset;
	bool (*value)(const struct pfs_snapshot *snapshot, char *text);
	const char *text;
};

static bool number(char *text, uint64_t value)
{
	(void)snprintf(text, VALUE_BYTES, "%" PRIu64, value);
	return true;
}

static bool copy(char *text, const char *from)
{
	(void)snprintf(text, VALUE_BYTES, "%.*s", (int)VALUE_BYTES - 1, from);
	return true;
}

static bool damage(const struct pfs_snapshot *snapshot, char *text)
{
	return snapshot->damaged > 0 && copy(text, snapshot->damage.text);
}

static bool box_state(const struct pfs_snapshot *snapshot, char *text)
{
	const struct pfs_box_info *info = &snapshot->info;
	return copy(text, info->is_live                   ? "living"
			  : info->state == PFS_BOX_ENDED  ? "ended"
			  : info->state == PFS_BOX_EXECED ? "became another program"
							  : "died");
}

static bool box_died(const struct pfs_snapshot *snapshot, char *text)
{
	return !snapshot->info.is_live && pfs_box_died(&snapshot->info, text, VALUE_BYTES) != NULL;
}

static bool box_name(const struct pfs_snapshot *snapshot, char *text)
{
	return snprintf(text, VALUE_BYTES, "%s", pfs_box_called(&snapshot->info)) >= 0;
}

/* In seconds; of a dead program until it was last seen. */
static bool uptime(const struct pfs_snapshot *snapshot, char *text)
{
	const struct pfs_box_info *info = &snapshot->info;
	uint64_t until = info->is_live                ? snapshot->taken_realtime_ns
			 : info->end_realtime_ns != 0 ? info->end_realtime_ns
						      : info->seen_realtime_ns;
	uint64_t ns = until > info->start_realtime_ns ? until - info->start_realtime_ns : 0;
	return number(text, ns / UINT64_C(1000000000));
}

/* Local time, to the second. */
static bool at_time(char *text, uint64_t realtime_ns)
{
	struct tm parts;
	time_t seconds = (time_t)(realtime_ns / UINT64_C(1000000000));
	return realtime_ns != 0 && localtime_r(&seconds, &parts) != NULL &&
	       strftime(text, VALUE_BYTES, "%Y-%m-%d %H:%M:%S", &parts) != 0;
}

#define AT(kind, field) kind, offsetof(struct pfs_snapshot, field), NULL, NULL
#define LOST(which) AT(NUMBER_64, lost[which])
#define IS(words) CONSTANT, 0, NULL, words
#define BY(call) CALL, 0, call, NULL

static const struct variable status[] = {
	{ "Performance_schema_accounts_lost", LOST(PFS_LOST_ACCOUNTS) },
	{ "Performance_schema_hosts_lost", LOST(PFS_LOST_HOSTS) },
	{ "Performance_schema_memory_classes_lost", LOST(PFS_LOST_INSTRUMENTS) },
	{ "Performance_schema_thread_instances_lost", LOST(PFS_LOST_THREADS) },
	{ "Performance_schema_users_lost", LOST(PFS_LOST_USERS) },
	{ "Pfs_box_cells", AT(NUMBER_64, cell_count) },
	{ "Pfs_box_command", AT(TEXT, info.command) },
	{ "Pfs_box_damage", BY(damage) },
	{ "Pfs_box_damaged_records", AT(NUMBER_64, damaged) },
	{ "Pfs_box_died", BY(box_died) },
	{ "Pfs_box_name", BY(box_name) },
	{ "Pfs_box_path", AT(TEXT, info.path) },
	{ "Pfs_box_pid", AT(NUMBER_32, info.pid) },
	{ "Pfs_box_program", AT(TEXT, info.program) },
	{ "Pfs_box_rule", AT(TEXT, info.rule) },
	{ "Pfs_box_seen", AT(TIME, info.seen_realtime_ns) },
	{ "Pfs_box_started", AT(TIME, info.start_realtime_ns) },
	{ "Pfs_box_state", BY(box_state) },
	{ "Pfs_box_taken", AT(TIME, taken_realtime_ns) },
	{ "Pfs_box_tick_ms", AT(NUMBER_32, info.tick_ms) },
	{ "Pfs_box_ticks", AT(NUMBER_64, info.ticks) },
	{ "Pfs_cells_lost", LOST(PFS_LOST_CELLS) },
	{ "Pfs_frees_from_before", LOST(PFS_LOST_FOREIGN) },
	{ "Pfs_mapped_lost", LOST(PFS_LOST_MAPPED) },
	{ "Pfs_memory_lost", LOST(PFS_LOST_MEMORY) },
	{ "Pfs_owners_lost", AT(NUMBER_64, owners_lost) },
	{ "Pfs_profile_stacks_taken", AT(NUMBER_64, stacks_taken) },
	{ "Pfs_profile_stacks_walked", AT(NUMBER_64, stacks_walked) },
	{ "Pfs_rows_missed", AT(NUMBER_64, rows_missed) },
	{ "Pfs_thread_bytes_lost", LOST(PFS_LOST_THREAD_BYTES) },
	{ "Threads_connected", AT(NUMBER_32, thread_count) },
	{ "Uptime", BY(uptime) },
};

static const struct variable variables[] = {
	{ "performance_schema", IS("ON") },
	{ "performance_schema_max_memory_classes", AT(NUMBER_32, info.instruments_max) },
	{ "version", IS(PFS_SQL_VERSION) },
	{ "version_comment", IS(PFS_SQL_COMMENT) },
};

/* False: NULL. */
static bool value_of(const struct variable *one, const struct pfs_snapshot *snapshot, char *text)
{
	const char *at = (const char *)snapshot + one->offset;
	uint64_t wide;
	uint32_t narrow;
	switch (one->kind) {
	case NUMBER_64: memcpy(&wide, at, sizeof(wide)); return number(text, wide);
	case NUMBER_32: memcpy(&narrow, at, sizeof(narrow)); return number(text, narrow);
	case TIME: memcpy(&wide, at, sizeof(wide)); return at_time(text, wide);
	case TEXT: return copy(text, at);
	case CONSTANT: return copy(text, one->text);
	default: return one->value(snapshot, text);
	}
}

static void variable_value(const struct variable *one, const struct pfs_cursor *cursor, int column,
			   sqlite3_context *context)
{
	char text[VALUE_BYTES];
	if (column == 0)
		pfs_result_text(context, one->name);
	else
		pfs_result_text(context, value_of(one, cursor->snapshot, text) ? text : NULL);
}

static uint64_t status_limit(const struct pfs_cursor *cursor)
{
	(void)cursor;
	return sizeof(status) / sizeof(status[0]);
}

static void status_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	variable_value(&status[cursor->row], cursor, column, context);
}

static uint64_t variables_limit(const struct pfs_cursor *cursor)
{
	(void)cursor;
	return sizeof(variables) / sizeof(variables[0]);
}

static void variables_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	variable_value(&variables[cursor->row], cursor, column, context);
}

/* MySQL compares their names without case. */
#define VARIABLE_COLUMNS                                      \
	"VARIABLE_NAME VARCHAR(64) NOT NULL COLLATE NOCASE, " \
	"VARIABLE_VALUE VARCHAR(4096)"

/* clang-format off */
const struct pfs_table pfs_sql_status = {
	.name = "global_status", .schema = "performance_schema", .columns = VARIABLE_COLUMNS,
	.row_limit = status_limit, .value = status_value
};
const struct pfs_table pfs_sql_variables = {
	.name = "global_variables", .schema = "performance_schema", .columns = VARIABLE_COLUMNS,
	.row_limit = variables_limit, .value = variables_value
};
/* clang-format on */
