/*
 * trace.c - memory_trace: the owners of a memory trace, and their limits, which can be changed.
 * A row has the number of its record.
 */
#include <string.h>

#include "session.h"

#define PATH_BYTES (PFS_BOX_OWNER_DEPTH * PFS_BOX_OWNER_BYTES)

static uint64_t trace_limit(const struct pfs_cursor *cursor)
{
	const struct pfs_snapshot *snapshot = cursor->snapshot;
	return snapshot->owner_count == 0
		       ? 0
		       : (uint64_t)snapshot->owners[snapshot->owner_count - 1].number + 1;
}

static const struct pfs_seen_owner *owner_of(const struct pfs_cursor *cursor, uint64_t number)
{
	const struct pfs_snapshot *snapshot = cursor->snapshot;
	for (uint32_t i = 0; i < snapshot->owner_count; i++)
		if (snapshot->owners[i].number == number)
			return &snapshot->owners[i];
	return NULL;
}

static bool trace_there(struct pfs_cursor *cursor, uint64_t *row)
{
	return owner_of(cursor, *row) != NULL;
}

/* The path from the top, written from its end. */
static void result_path(const struct pfs_snapshot *snapshot, uint32_t index,
			sqlite3_context *context)
{
	char path[PATH_BYTES + 1];
	char *at = path + PATH_BYTES;
	*at = '\0';
	for (; index != PFS_NONE; index = snapshot->owners[index].parent) {
		size_t length = strlen(snapshot->owners[index].name);
		if (*at != '\0')
			*--at = '/';
		at -= length;
		memcpy(at, snapshot->owners[index].name, length);
	}
	pfs_result_text(context, at);
}

static void result_own_limit(const struct pfs_seen_owner *one, sqlite3_context *context)
{
	if (one->limit_bytes != UINT64_MAX)
		pfs_result_number(context, one->limit_bytes);
}

static void trace_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	static const char *const actions[] = { "REFUSE", "CALL", "REPORT" };
	const struct pfs_seen_owner *one = owner_of(cursor, cursor->row);
	if (one == NULL)
		return;
	const uint64_t numbers[] = { one->own_bytes, one->sum_bytes, one->high_bytes };
	if (column == 0)
		pfs_result_text(context, one->name);
	else if (column == 1 && one->parent != PFS_NONE)
		result_path(cursor->snapshot, one->parent, context);
	else if (column >= 2 && column <= 4)
		pfs_result_number(context, numbers[column - 2]);
	else if (column == 5)
		result_own_limit(one, context);
	else if (column == 6)
		pfs_result_text(context, actions[one->action]);
	else if (column > 6)
		pfs_result_number(context, column == 7   ? one->refused
					   : column == 8 ? one->over
							 : one->bad);
}

bool pfs_sql_take_limit(const char *table, sqlite3_value **values, int columns, int limit,
			uint64_t *bytes, struct pfs_message *message)
{
	for (int i = 0; i < columns; i++)
		if (i != limit && !sqlite3_value_nochange(values[i]))
			return pfs_refuse(message, "%s: only LIMIT_BYTES can be changed", table);
	*bytes = UINT64_MAX;
	if (sqlite3_value_nochange(values[limit]) ||
	    sqlite3_value_type(values[limit]) == SQLITE_NULL)
		return true;
	int64_t number = sqlite3_value_int64(values[limit]);
	*bytes = (uint64_t)number;
	return (sqlite3_value_numeric_type(values[limit]) == SQLITE_INTEGER && number >= 0) ||
	       pfs_refuse(message,
			  "%s: LIMIT_BYTES must be a number of bytes from 0 on, or NULL for no "
			  "limit",
			  table);
}

static bool trace_update(struct pfs_session *session, int64_t rowid, sqlite3_value **values,
			 struct pfs_message *message)
{
	uint64_t bytes;
	if (!pfs_sql_take_limit("memory_trace", values, 10, 5, &bytes, message))
		return false;
	return sqlite3_value_nochange(values[5]) ||
	       pfs_reader_limit(session->reader, (uint32_t)(rowid - 1), bytes, message);
}

/* clang-format off */
const struct pfs_table pfs_sql_trace = {
	.name = "memory_trace", .schema = "pfs",
	.columns = "NAME VARCHAR(47) NOT NULL, PARENT VARCHAR(768), OWN_BYTES BIGINT NOT NULL, "
		   "SUM_BYTES BIGINT NOT NULL, HIGH_BYTES BIGINT NOT NULL, LIMIT_BYTES BIGINT, "
		   "ACTION VARCHAR(8) NOT NULL, REFUSED BIGINT NOT NULL, "
		   "REPORTED BIGINT NOT NULL, BAD_GUARDS BIGINT NOT NULL",
	.row_limit = trace_limit, .there = trace_there, .value = trace_value,
	.update = trace_update
};
/* clang-format on */
