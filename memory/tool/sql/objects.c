/*
 * objects.c - setup_instruments, threads, accounts, users, hosts: the columns of MySQL's.
 */
#include <string.h>
#include <strings.h>

#include "session.h"

/* ---- setup_instruments: its rows' numbers are those of the records ---- */

static uint64_t instruments_limit(const struct pfs_cursor *cursor)
{
	uint64_t limit = 0;
	for (uint32_t i = 0; i < cursor->snapshot->instrument_count; i++)
		if (cursor->snapshot->instruments[i].number >= limit)
			limit = (uint64_t)cursor->snapshot->instruments[i].number + 1;
	return limit;
}

static const struct pfs_seen_instrument *instrument_of(const struct pfs_cursor *cursor,
						       uint64_t number)
{
	uint32_t i = pfs_snapshot_instrument(cursor->snapshot, (uint32_t)number + 1);
	return i < cursor->snapshot->instrument_count ? &cursor->snapshot->instruments[i] : NULL;
}

static bool instruments_there(struct pfs_cursor *cursor, uint64_t *row)
{
	return instrument_of(cursor, *row) != NULL;
}

static void instruments_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	const struct pfs_seen_instrument *one = instrument_of(cursor, cursor->row);
	if (one == NULL)
		return;
	if (column == 0)
		pfs_result_text(context, one->name);
	else
		pfs_result_text(context, column == 1 && one->is_enabled ? "YES" : "NO");
}

/* YES or NO, in any case; false: neither. */
static bool switch_of(sqlite3_value *value, bool *on)
{
	const char *text = (const char *)sqlite3_value_text(value);
	if (text == NULL)
		return false;
	*on = strcasecmp(text, "YES") == 0;
	return *on || strcasecmp(text, "NO") == 0;
}

static bool instruments_update(struct pfs_session *session, int64_t rowid, sqlite3_value **values,
			       struct pfs_message *message)
{
	bool enabled, timed;
	if (!sqlite3_value_nochange(values[0]))
		return pfs_refuse(message, "setup_instruments: NAME cannot be changed; "
					   "ENABLED can");
	if (!sqlite3_value_nochange(values[2]) && !switch_of(values[2], &timed))
		return pfs_refuse(message, "setup_instruments: TIMED must be 'YES' or 'NO'");
	if (sqlite3_value_nochange(values[1]))
		return true; /* TIMED has no effect on memory */
	if (!switch_of(values[1], &enabled))
		return pfs_refuse(message, "setup_instruments: ENABLED must be 'YES' or 'NO'");
	return pfs_reader_enable(session->reader, (uint32_t)(rowid - 1), enabled, message);
}

/* ---- threads ---- */

static uint64_t threads_limit(const struct pfs_cursor *cursor)
{
	return cursor->snapshot->thread_count;
}

static bool threads_there(struct pfs_cursor *cursor, uint64_t *row)
{
	return !cursor->keys.has_id ||
	       cursor->snapshot->threads[*row].thread_id == (uint64_t)cursor->keys.id;
}

/* NULL: it has none. */
static const struct pfs_seen_account *one_of(const struct pfs_seen_account *array, uint32_t count,
					     uint32_t i)
{
	return i < count ? &array[i] : NULL;
}

static void threads_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	const struct pfs_snapshot *snapshot = cursor->snapshot;
	const struct pfs_seen_thread *thread = &snapshot->threads[cursor->row];
	const struct pfs_seen_account *user = one_of(snapshot->users, snapshot->user_count,
						     thread->user);
	const struct pfs_seen_account *host = one_of(snapshot->hosts, snapshot->host_count,
						     thread->host);
	bool has_user = user != NULL && user->has_user;
	uint64_t age_ns = snapshot->taken_realtime_ns > thread->begun_realtime_ns
				  ? snapshot->taken_realtime_ns - thread->begun_realtime_ns
				  : 0;
	switch (column) {
	case 0: pfs_result_number(context, thread->thread_id); break;
	case 1: pfs_result_text(context, thread->name); break;
	case 2: pfs_result_text(context, has_user ? "FOREGROUND" : "BACKGROUND"); break;
	case 3: /* of a connection */
		if (has_user)
			pfs_result_number(context, thread->thread_id);
		break;
	case 4: pfs_result_text(context, has_user ? user->user_name : NULL); break;
	case 5:
		pfs_result_text(context, host != NULL && host->has_host ? host->host_name : NULL);
		break;
	case 8: pfs_result_number(context, age_ns / UINT64_C(1000000000)); break;
	case 13: pfs_result_text(context, thread->is_instrumented ? "YES" : "NO"); break;
	case 14: pfs_result_text(context, "NO"); break;
	case 16: pfs_result_number(context, thread->os_tid); break;
	default:; /* unknown: NULL */
	}
}

#define NUMBER_BITS 17 /* of 65536 records */

/* The thread's id and its record. */
static int64_t threads_rowid(const struct pfs_cursor *cursor)
{
	const struct pfs_seen_thread *thread = &cursor->snapshot->threads[cursor->row];
	return (int64_t)(thread->thread_id << NUMBER_BITS | thread->number);
}

static bool threads_update(struct pfs_session *session, int64_t rowid, sqlite3_value **values,
			   struct pfs_message *message)
{
	const int instrumented = 13, history = 14;
	bool on;
	for (int i = 0; i < 17; i++)
		if (i != instrumented && i != history && !sqlite3_value_nochange(values[i]))
			return pfs_refuse(message, "threads: only INSTRUMENTED can be changed");
	if (!sqlite3_value_nochange(values[history]) && !switch_of(values[history], &on))
		return pfs_refuse(message, "threads: HISTORY must be 'YES' or 'NO'");
	if (sqlite3_value_nochange(values[instrumented]))
		return true; /* HISTORY has no effect on memory */
	if (!switch_of(values[instrumented], &on))
		return pfs_refuse(message, "threads: INSTRUMENTED must be 'YES' or 'NO'");
	return pfs_reader_instrument(session->reader,
				     (uint32_t)(rowid & ((1 << NUMBER_BITS) - 1)),
				     (uint64_t)rowid >> NUMBER_BITS, on, message);
}

/* ---- accounts, users, hosts ---- */

static const struct pfs_seen_account *people_of(const struct pfs_cursor *cursor, uint32_t *count)
{
	const struct pfs_snapshot *snapshot = cursor->snapshot;
	switch (cursor->table->name[0]) {
	case 'a': *count = snapshot->account_count; return snapshot->accounts;
	case 'u': *count = snapshot->user_count; return snapshot->users;
	default: *count = snapshot->host_count; return snapshot->hosts;
	}
}

static uint64_t people_limit(const struct pfs_cursor *cursor)
{
	uint32_t count;
	(void)people_of(cursor, &count);
	return count;
}

static void people_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	uint32_t count;
	const struct pfs_seen_account *one = people_of(cursor, &count) + cursor->row;
	bool is_account = cursor->table->name[0] == 'a', is_host = cursor->table->name[0] == 'h';
	int connections = is_account ? 2 : 1;
	if (column == 0 && !is_host)
		pfs_result_text(context, one->has_user ? one->user_name : NULL);
	else if (column < connections)
		pfs_result_text(context, one->has_host ? one->host_name : NULL);
	else
		pfs_result_number(context, column == connections ? one->current_connections
								 : one->total_connections);
}

#define CONNECTIONS "CURRENT_CONNECTIONS BIGINT NOT NULL, TOTAL_CONNECTIONS BIGINT NOT NULL"
#define PEOPLE(table_name, who)                                                                 \
	{                                                                                       \
		.name = table_name, .schema = "performance_schema", .columns = who CONNECTIONS, \
		.row_limit = people_limit, .value = people_value                                \
	}

/* clang-format off */
const struct pfs_table pfs_sql_objects[] = {
	{ .name = "setup_instruments", .schema = "performance_schema",
	  .columns = "NAME VARCHAR(128) NOT NULL, ENABLED VARCHAR(3) NOT NULL, "
		     "TIMED VARCHAR(3) NOT NULL",
	  .row_limit = instruments_limit, .there = instruments_there, .value = instruments_value,
	  .update = instruments_update },
	{ .name = "threads", .schema = "performance_schema",
	  .columns = "THREAD_ID BIGINT UNSIGNED NOT NULL, NAME VARCHAR(128) NOT NULL, "
		     "TYPE VARCHAR(10) NOT NULL, PROCESSLIST_ID BIGINT UNSIGNED, "
		     "PROCESSLIST_USER VARCHAR(128), PROCESSLIST_HOST VARCHAR(255), "
		     "PROCESSLIST_DB VARCHAR(64), PROCESSLIST_COMMAND VARCHAR(16), "
		     "PROCESSLIST_TIME BIGINT, PROCESSLIST_STATE VARCHAR(64), "
		     "PROCESSLIST_INFO TEXT, PARENT_THREAD_ID BIGINT UNSIGNED, "
		     "ROLE VARCHAR(64), INSTRUMENTED VARCHAR(3) NOT NULL, "
		     "HISTORY VARCHAR(3) NOT NULL, CONNECTION_TYPE VARCHAR(16), "
		     "THREAD_OS_ID BIGINT UNSIGNED",
	  .keys = { [PFS_KEY_ID] = 1 },
	  .row_limit = threads_limit, .there = threads_there, .value = threads_value,
	  .rowid = threads_rowid, .update = threads_update },
	PEOPLE("accounts", "USER CHAR(128), HOST CHAR(255), "),
	PEOPLE("users", "USER CHAR(128), "),
	PEOPLE("hosts", "HOST CHAR(255), "),
};
/* clang-format on */
const size_t pfs_sql_object_count = sizeof(pfs_sql_objects) / sizeof(pfs_sql_objects[0]);
