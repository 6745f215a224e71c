/*
 * status.c - global_status and global_variables.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "session.h"

static bool every_row(struct pfs_cursor *cursor, uint64_t *row)
{
	(void)cursor;
	(void)row;
	return true;
}

/* ---- variables: a name, and its value into text; false: NULL ---- */

#define VALUE_BYTES 1100u

struct variable {
	const char *name;
	bool (*value)(const struct pfs_snapshot *snapshot, char *text);
	int lost; /* of lost, where there is no function */
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

static bool rows_missed(const struct pfs_snapshot *snapshot, char *text)
{
	return number(text, snapshot->rows_missed);
}

static bool damaged(const struct pfs_snapshot *snapshot, char *text)
{
	return number(text, snapshot->damaged);
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

static bool box_path(const struct pfs_snapshot *snapshot, char *text)
{
	return copy(text, snapshot->info.path);
}

static bool rule(const struct pfs_snapshot *snapshot, char *text)
{
	return copy(text, snapshot->info.rule);
}

static bool pid(const struct pfs_snapshot *snapshot, char *text)
{
	return number(text, snapshot->info.pid);
}

static bool program(const struct pfs_snapshot *snapshot, char *text)
{
	return copy(text, snapshot->info.program);
}

static bool command(const struct pfs_snapshot *snapshot, char *text)
{
	return copy(text, snapshot->info.command);
}

static bool ticks(const struct pfs_snapshot *snapshot, char *text)
{
	return number(text, snapshot->info.ticks);
}

static bool cells(const struct pfs_snapshot *snapshot, char *text)
{
	return number(text, snapshot->cell_count);
}

static bool threads_connected(const struct pfs_snapshot *snapshot, char *text)
{
	return number(text, snapshot->thread_count);
}

/* In seconds; of a dead one until it was seen last. */
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

static bool started(const struct pfs_snapshot *snapshot, char *text)
{
	return at_time(text, snapshot->info.start_realtime_ns);
}

static bool seen(const struct pfs_snapshot *snapshot, char *text)
{
	return at_time(text, snapshot->info.seen_realtime_ns);
}

static bool taken(const struct pfs_snapshot *snapshot, char *text)
{
	return at_time(text, snapshot->taken_realtime_ns);
}

static bool tick_ms(const struct pfs_snapshot *snapshot, char *text)
{
	return number(text, snapshot->info.tick_ms);
}

static bool owners_lost(const struct pfs_snapshot *snapshot, char *text)
{
	return number(text, snapshot->owners_lost);
}

static const struct variable status[] = {
	{ "Performance_schema_accounts_lost", NULL, PFS_LOST_ACCOUNTS },
	{ "Performance_schema_hosts_lost", NULL, PFS_LOST_HOSTS },
	{ "Performance_schema_memory_classes_lost", NULL, PFS_LOST_INSTRUMENTS },
	{ "Performance_schema_thread_instances_lost", NULL, PFS_LOST_THREADS },
	{ "Performance_schema_users_lost", NULL, PFS_LOST_USERS },
	{ "Pfs_box_cells", cells, 0 },
	{ "Pfs_box_command", command, 0 },
	{ "Pfs_box_damage", damage, 0 },
	{ "Pfs_box_damaged_records", damaged, 0 },
	{ "Pfs_box_died", box_died, 0 },
	{ "Pfs_box_path", box_path, 0 },
	{ "Pfs_box_pid", pid, 0 },
	{ "Pfs_box_program", program, 0 },
	{ "Pfs_box_rule", rule, 0 },
	{ "Pfs_box_seen", seen, 0 },
	{ "Pfs_box_started", started, 0 },
	{ "Pfs_box_state", box_state, 0 },
	{ "Pfs_box_taken", taken, 0 },
	{ "Pfs_box_tick_ms", tick_ms, 0 },
	{ "Pfs_box_ticks", ticks, 0 },
	{ "Pfs_cells_lost", NULL, PFS_LOST_CELLS },
	{ "Pfs_frees_from_before", NULL, PFS_LOST_FOREIGN },
	{ "Pfs_mapped_lost", NULL, PFS_LOST_MAPPED },
	{ "Pfs_memory_lost", NULL, PFS_LOST_MEMORY },
	{ "Pfs_owners_lost", owners_lost, 0 },
	{ "Pfs_rows_missed", rows_missed, 0 },
	{ "Threads_connected", threads_connected, 0 },
	{ "Uptime", uptime, 0 },
};

static bool on(const struct pfs_snapshot *snapshot, char *text)
{
	(void)snapshot;
	return copy(text, "ON");
}

static bool instruments_max(const struct pfs_snapshot *snapshot, char *text)
{
	return number(text, snapshot->info.instruments_max);
}

static bool version(const struct pfs_snapshot *snapshot, char *text)
{
	(void)snapshot;
	return copy(text, PFS_SQL_VERSION);
}

static bool version_comment(const struct pfs_snapshot *snapshot, char *text)
{
	(void)snapshot;
	return copy(text, PFS_SQL_COMMENT);
}

static const struct variable variables[] = {
	{ "performance_schema", on, 0 },
	{ "performance_schema_max_memory_classes", instruments_max, 0 },
	{ "version", version, 0 },
	{ "version_comment", version_comment, 0 },
};

static void variable_value(const struct variable *one, const struct pfs_cursor *cursor, int column,
			   sqlite3_context *context)
{
	char text[VALUE_BYTES];
	bool is_known;
	if (column == 0) {
		pfs_result_text(context, one->name);
		return;
	}
	if (one->value != NULL)
		is_known = one->value(cursor->snapshot, text);
	else
		is_known = number(text, cursor->snapshot->lost[one->lost]);
	pfs_result_text(context, is_known ? text : NULL);
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

/* Their names are compared as MySQL compares them. */
#define VARIABLE_COLUMNS                                      \
	"VARIABLE_NAME VARCHAR(64) NOT NULL COLLATE NOCASE, " \
	"VARIABLE_VALUE VARCHAR(4096)"

const struct pfs_table pfs_sql_status = { .name = "global_status",
					  .schema = "performance_schema",
					  .columns = VARIABLE_COLUMNS,
					  .row_limit = status_limit,
					  .there = every_row,
					  .value = status_value };
const struct pfs_table pfs_sql_variables = { .name = "global_variables",
					     .schema = "performance_schema",
					     .columns = VARIABLE_COLUMNS,
					     .row_limit = variables_limit,
					     .there = every_row,
					     .value = variables_value };
