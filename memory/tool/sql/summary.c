/*
 * summary.c - the five tables memory_summary_..._by_event_name: a row for each owner and
 * instrument, including rows of zeroes, as in MySQL.
 */
#include <string.h>

#include "session.h"

#define SUMS                                                                          \
	"EVENT_NAME VARCHAR(128) NOT NULL, COUNT_ALLOC BIGINT UNSIGNED NOT NULL, "    \
	"COUNT_FREE BIGINT UNSIGNED NOT NULL, "                                       \
	"SUM_NUMBER_OF_BYTES_ALLOC BIGINT UNSIGNED NOT NULL, "                        \
	"SUM_NUMBER_OF_BYTES_FREE BIGINT UNSIGNED NOT NULL, "                         \
	"LOW_COUNT_USED BIGINT NOT NULL, CURRENT_COUNT_USED BIGINT NOT NULL, "        \
	"HIGH_COUNT_USED BIGINT NOT NULL, LOW_NUMBER_OF_BYTES_USED BIGINT NOT NULL, " \
	"CURRENT_NUMBER_OF_BYTES_USED BIGINT NOT NULL, "                              \
	"HIGH_NUMBER_OF_BYTES_USED BIGINT NOT NULL, "                                 \
	"HIGH_IS TEXT HIDDEN, HIGH_COUNT_IS TEXT HIDDEN"

static uint64_t summary_limit(const struct pfs_cursor *cursor)
{
	return pfs_snapshot_row_count(cursor->snapshot, cursor->table->rows);
}

/* NULL: it has none. */
static const char *user_of(const struct pfs_snapshot *snapshot, enum pfs_box_table rows,
			   uint32_t who)
{
	const struct pfs_seen_account *array = rows == PFS_TABLE_ACCOUNT ? snapshot->accounts
									 : snapshot->users;
	return array[who].has_user ? array[who].user_name : NULL;
}

static const char *host_of(const struct pfs_snapshot *snapshot, enum pfs_box_table rows,
			   uint32_t who)
{
	const struct pfs_seen_account *array = rows == PFS_TABLE_ACCOUNT ? snapshot->accounts
									 : snapshot->hosts;
	return array[who].has_host ? array[who].host_name : NULL;
}

static bool text_fits(const char *key, const char *text)
{
	return key == NULL || (text != NULL && strcmp(key, text) == 0);
}

static bool who_fits(const struct pfs_cursor *cursor, uint32_t who)
{
	const struct pfs_snapshot *snapshot = cursor->snapshot;
	const struct pfs_keys *keys = &cursor->keys;
	enum pfs_box_table rows = cursor->table->rows;
	if (keys->has_id && snapshot->threads[who].thread_id != (uint64_t)keys->id)
		return false;
	if (keys->text[PFS_KEY_USER] != NULL &&
	    !text_fits(keys->text[PFS_KEY_USER], user_of(snapshot, rows, who)))
		return false;
	return keys->text[PFS_KEY_HOST] == NULL ||
	       text_fits(keys->text[PFS_KEY_HOST], host_of(snapshot, rows, who));
}

/* row is who * instruments + instrument. */
static bool summary_there(struct pfs_cursor *cursor, uint64_t *row)
{
	uint64_t instruments = cursor->snapshot->instrument_count;
	uint64_t who = *row / instruments, instrument = *row % instruments;
	bool is_first = instrument == 0;
	if (cursor->keys.text[PFS_KEY_EVENT] != NULL) {
		if (cursor->key_instrument == PFS_NONE) {
			*row = cursor->row_limit;
			return false;
		}
		if (instrument != cursor->key_instrument) {
			*row = (instrument < cursor->key_instrument ? who : who + 1) * instruments +
			       cursor->key_instrument;
			return false;
		}
		is_first = true;
	}
	/* The other rows of a matching owner match too. */
	if (is_first && !who_fits(cursor, (uint32_t)who)) {
		*row = (who + 1) * instruments;
		return false;
	}
	return true;
}

static void result_who(const struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	const struct pfs_snapshot *snapshot = cursor->snapshot;
	enum pfs_box_table rows = cursor->table->rows;
	uint32_t who = (uint32_t)(cursor->row / snapshot->instrument_count);
	if (rows == PFS_TABLE_THREAD)
		pfs_result_number(context, snapshot->threads[who].thread_id);
	else if (rows == PFS_TABLE_USER || (rows == PFS_TABLE_ACCOUNT && column == 0))
		pfs_result_text(context, user_of(snapshot, rows, who));
	else
		pfs_result_text(context, host_of(snapshot, rows, who));
}

static const struct pfs_row *sums_of(struct pfs_cursor *cursor)
{
	if (!cursor->has_sums) {
		/* A row that changed during each attempt to read it is all 0, and is counted. */
		if (!pfs_snapshot_row(cursor->snapshot, cursor->table->rows, cursor->row,
				      &cursor->sums))
			memset(&cursor->sums, 0, sizeof(cursor->sums));
		cursor->has_sums = true;
	}
	return &cursor->sums;
}

static void summary_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	int event = cursor->table->keys[PFS_KEY_EVENT] - 1;
	if (column < event) {
		result_who(cursor, column, context);
		return;
	}
	if (column == event) {
		uint64_t instrument = cursor->row % cursor->snapshot->instrument_count;
		pfs_result_text(context, cursor->snapshot->instruments[instrument].name);
		return;
	}
	const struct pfs_row *row = sums_of(cursor);
	const int64_t values[] = { row->count_alloc, row->count_free, row->bytes_alloc,
				   row->bytes_free,  row->low_count,  row->current_count,
				   row->high_count,  row->low_bytes,  row->current_bytes,
				   row->high_bytes };
	int at = column - event - 1, all = (int)(sizeof(values) / sizeof(values[0]));
	if (at >= 0 && at < all)
		sqlite3_result_int64(context, values[at]);
	else
		pfs_result_text(context, (at == all ? row->is_high_bytes_exact
						    : row->is_high_count_exact)
						 ? "exact"
						 : "at most");
}

#define SUMMARY(kind, table, who_columns, ...)                                                   \
	{                                                                                        \
		.name = "memory_summary_" kind "_by_event_name", .schema = "performance_schema", \
		.columns = who_columns SUMS, .rows = table, .row_limit = summary_limit,          \
		.there = summary_there, .value = summary_value, __VA_ARGS__                      \
	}
#define USER "USER CHAR(32), "
#define HOST "HOST CHAR(255), "

const struct pfs_table pfs_sql_summaries[PFS_TABLES] = {
	[PFS_TABLE_THREAD] = SUMMARY("by_thread", PFS_TABLE_THREAD,
				     "THREAD_ID BIGINT UNSIGNED NOT NULL, ",
				     .keys = { [PFS_KEY_ID] = 1, [PFS_KEY_EVENT] = 2 }),
	[PFS_TABLE_ACCOUNT] =
		SUMMARY("by_account", PFS_TABLE_ACCOUNT, USER HOST,
			.keys = { [PFS_KEY_USER] = 1, [PFS_KEY_HOST] = 2, [PFS_KEY_EVENT] = 3 }),
	[PFS_TABLE_USER] = SUMMARY("by_user", PFS_TABLE_USER, USER,
				   .keys = { [PFS_KEY_USER] = 1, [PFS_KEY_EVENT] = 2 }),
	[PFS_TABLE_HOST] = SUMMARY("by_host", PFS_TABLE_HOST, HOST,
				   .keys = { [PFS_KEY_HOST] = 1, [PFS_KEY_EVENT] = 2 }),
	[PFS_TABLE_GLOBAL] = SUMMARY("global", PFS_TABLE_GLOBAL, "",
				     .keys = { [PFS_KEY_EVENT] = 1 }),
};
