/*
 * limits.c - memory_limits: limits of the program, threads, accounts and users, and refusals.
 * LIMIT_BYTES can be changed. A row has the number of its entry.
 */
#include <string.h>

#include "session.h"

enum column {
	SCOPE,
	USER,
	HOST,
	LIMIT,
	REFUSED,
	LAST_NAME,
	LAST_BYTES,
	LAST_THREAD,
	LAST_TIME,
	IS_USED,
	COLUMNS
};

static const struct pfs_seen_limit *limit_at(const struct pfs_cursor *cursor, uint64_t number)
{
	const struct pfs_snapshot *snapshot = cursor->snapshot;
	for (uint32_t i = 0; i < snapshot->limit_count; i++)
		if (snapshot->limits[i].number == number)
			return &snapshot->limits[i];
	return NULL;
}

static uint64_t limits_limit(const struct pfs_cursor *cursor)
{
	(void)cursor;
	return PFS_BOX_LIMITS_MAX;
}

static bool limits_there(struct pfs_cursor *cursor, uint64_t *row)
{
	return limit_at(cursor, *row) != NULL;
}

static const char *instrument_name(const struct pfs_snapshot *snapshot, uint32_t reference)
{
	for (uint32_t i = 0; i < snapshot->instrument_count; i++)
		if (snapshot->instruments[i].number + 1 == reference)
			return snapshot->instruments[i].name;
	return NULL;
}

static void last_value(const struct pfs_snapshot *snapshot, const struct pfs_seen_limit *one,
		       int column, sqlite3_context *context)
{
	const char *name = instrument_name(snapshot, one->last_instrument);
	if (one->last_realtime_ns == 0)
		return;
	if (column == LAST_NAME && name != NULL)
		pfs_result_text(context, name);
	else if (column == LAST_BYTES)
		pfs_result_number(context, one->last_bytes);
	else if (column == LAST_THREAD)
		pfs_result_number(context, one->last_thread_id);
	else if (column == LAST_TIME)
		pfs_result_number(context, one->last_realtime_ns / 1000000000);
}

static void limits_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	static const char *const scopes[] = { "",     "PROGRAM", "THREAD", "ACCOUNT",
					      "USER", "ACCOUNT", "USER" };
	const struct pfs_seen_limit *one = limit_at(cursor, cursor->row);
	if (one == NULL)
		return;
	bool is_each = one->scope >= PFS_SCOPE_EACH_THREAD && one->scope <= PFS_SCOPE_EACH_USER;
	if (column == SCOPE)
		pfs_result_text(context, scopes[one->scope]);
	else if (column == USER && (is_each || one->has_user))
		pfs_result_text(context, is_each ? "%" : one->user);
	else if (column == HOST && one->scope != PFS_SCOPE_EACH_USER && (is_each || one->has_host))
		pfs_result_text(context, is_each ? "%" : one->host);
	else if (column == LIMIT && one->limit_bytes != UINT64_MAX)
		pfs_result_number(context, one->limit_bytes);
	else if (column == REFUSED)
		pfs_result_number(context, one->refused);
	else if (column == IS_USED)
		pfs_result_text(context, one->is_used ? "YES" : "NO");
	else if (column >= LAST_NAME)
		last_value(cursor->snapshot, one, column, context);
}

static bool limits_update(struct pfs_session *session, int64_t rowid, sqlite3_value **values,
			  struct pfs_message *message)
{
	uint64_t bytes;
	if (!pfs_sql_take_limit("memory_limits", values, COLUMNS, LIMIT, &bytes, message))
		return false;
	return sqlite3_value_nochange(values[LIMIT]) ||
	       pfs_reader_limit_account(session->reader, (uint32_t)(rowid - 1), bytes, message);
}

/* clang-format off */
const struct pfs_table pfs_sql_limits = {
	.name = "memory_limits", .schema = "pfs",
	.columns = "SCOPE VARCHAR(8) NOT NULL, USER VARCHAR(63), HOST VARCHAR(255), "
		   "LIMIT_BYTES BIGINT, REFUSED BIGINT NOT NULL, LAST_EVENT_NAME VARCHAR(128), "
		   "LAST_BYTES BIGINT, LAST_THREAD_ID BIGINT, LAST_TIME BIGINT, "
		   "IS_USED VARCHAR(3) NOT NULL",
	.row_limit = limits_limit, .there = limits_there, .value = limits_value,
	.update = limits_update
};
/* clang-format on */
