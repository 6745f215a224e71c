/*
 * query.c - a query of a client's, run by SQLite, and its result as text or binary.
 */
#define _GNU_SOURCE
#include <string.h>
#include <strings.h>
#include <time.h>

#include "mysql.h"
#include "base/now.h"

#define TYPE_LONGLONG 8u
#define TYPE_DOUBLE 5u
#define TYPE_TEXT 253u
#define FLAG_NOT_NULL 1u
#define FLAG_UNSIGNED 32u
#define FLAG_NUMBER 0x8000u
#define CHARSET_BINARY 63u
#define CHARSET_UTF8MB4 45u

static int is_too_late(void *opaque)
{
	const struct pfs_mysql *self = opaque;
	return pfs_now_ns(CLOCK_MONOTONIC) > self->query_end_ns;
}

/* ---- columns ---- */

/* From the table's declaration, else from the first row's value. */
static unsigned type_of(sqlite3_stmt *statement, int column, bool has_row)
{
	const char *declared = sqlite3_column_decltype(statement, column);
	if (declared != NULL)
		return strncasecmp(declared, "BIGINT", 6) == 0 ? TYPE_LONGLONG : TYPE_TEXT;
	if (!has_row)
		return TYPE_TEXT;
	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER: return TYPE_LONGLONG;
	case SQLITE_FLOAT: return TYPE_DOUBLE;
	default: return TYPE_TEXT;
	}
}

static void put_column(struct pfs_mysql *self, sqlite3_stmt *statement, int column, bool has_row,
		       const char *table, bool with_default)
{
	const char *declared = sqlite3_column_decltype(statement, column);
	const char *name = sqlite3_column_name(statement, column);
	unsigned type = type_of(statement, column, has_row);
	unsigned flags = type == TYPE_TEXT ? 0 : FLAG_NUMBER;
	if (declared != NULL && strcasestr(declared, "UNSIGNED") != NULL)
		flags |= FLAG_UNSIGNED;
	pfs_mysql_begin(self);
	pfs_mysql_put_text(self, "def");
	pfs_mysql_put_text(self, self->schema);
	pfs_mysql_put_text(self, table);
	pfs_mysql_put_text(self, table);
	pfs_mysql_put_text(self, name == NULL ? "" : name);
	pfs_mysql_put_text(self, name == NULL ? "" : name);
	pfs_mysql_put_number(self, 0x0C, 1);
	pfs_mysql_put_number(self, type == TYPE_TEXT ? CHARSET_UTF8MB4 : CHARSET_BINARY, 2);
	pfs_mysql_put_number(self, type == TYPE_TEXT ? 1024 : 21, 4);
	pfs_mysql_put_number(self, type, 1);
	pfs_mysql_put_number(self, flags, 2);
	pfs_mysql_put_number(self, type == TYPE_DOUBLE ? 31 : 0, 1);
	pfs_mysql_put_number(self, 0, 2);
	if (with_default)
		pfs_mysql_put_number(self, 0xFB, 1);
	pfs_mysql_end(self);
}

void pfs_mysql_columns(struct pfs_mysql *self, sqlite3_stmt *statement, bool has_row)
{
	for (int i = 0; i < sqlite3_column_count(statement); i++)
		put_column(self, statement, i, has_row, "", false);
	pfs_mysql_eof(self);
}

static void put_columns(struct pfs_mysql *self, sqlite3_stmt *statement, bool has_row)
{
	int columns = sqlite3_column_count(statement);
	pfs_mysql_begin(self);
	pfs_mysql_put_length(self, (uint64_t)columns);
	pfs_mysql_end(self);
	pfs_mysql_columns(self, statement, has_row);
}

static void put_row(struct pfs_mysql *self, sqlite3_stmt *statement)
{
	pfs_mysql_begin(self);
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		const void *text = sqlite3_column_text(statement, i);
		if (text == NULL) {
			pfs_mysql_put_number(self, 0xFB, 1);
			continue;
		}
		size_t bytes = (size_t)sqlite3_column_bytes(statement, i);
		pfs_mysql_put_length(self, bytes);
		pfs_mysql_put(self, text, bytes);
	}
	pfs_mysql_end(self);
}

/* ---- errors, under MySQL's numbers ---- */

static void put_error(struct pfs_mysql *self, int code, const char *text)
{
	static const struct {
		const char *begin;
		unsigned code;
		const char *state;
		/* clang-format off */
	} kinds[] = {
		{ "no such table", 1146, "42S02" },	{ "no such column", 1054, "42S22" },
		{ "no such function", 1305, "42000" },	{ "ambiguous column", 1052, "23000" },
		{ "near ", 1064, "42000" },		{ "incomplete input", 1064, "42000" },
		{ "unrecognized token", 1064, "42000" },
	};
	/* clang-format on */
	if (code == SQLITE_INTERRUPT) {
		pfs_mysql_error(self, 3024, "HY000",
				"Query execution was interrupted, maximum "
				"statement execution time exceeded");
		return;
	}
	if (self->guard.denied == PFS_DENIED_CHANGE) {
		pfs_mysql_error(self, 1290, "HY000",
				"this server is read-only: pfs-mem serve --allow-changes lets "
				"clients change what a program counts and may allocate");
		return;
	}
	if (self->guard.denied == PFS_DENIED_OTHER) {
		pfs_mysql_error(self, 1142, "42000", "command denied: %s", self->guard.why);
		return;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(text, kinds[i].begin, strlen(kinds[i].begin)) == 0) {
			pfs_mysql_error(self, kinds[i].code, kinds[i].state, "%s", text);
			return;
		}
	pfs_mysql_error(self, code == SQLITE_READONLY ? 1290 : 1105, "HY000", "%s", text);
}

/* ---- rows in binary ---- */

#define COLUMNS_MAX 200 /* as memory/tool/sql/guard.c limits it */

/* The first row decides the type of each column. False: a value does not fit it. */
static bool put_binary(struct pfs_mysql *self, sqlite3_stmt *statement, const uint8_t *types)
{
	int columns = sqlite3_column_count(statement);
	uint8_t nulls[(COLUMNS_MAX + 9) / 8] = { 0 };
	for (int i = 0; i < columns; i++)
		if (sqlite3_column_type(statement, i) == SQLITE_NULL)
			nulls[(i + 2) / 8] |= (uint8_t)(1 << (i + 2) % 8);
	pfs_mysql_put_number(self, 0, 1);
	pfs_mysql_put(self, nulls, (size_t)(columns + 9) / 8);
	for (int i = 0; i < columns; i++) {
		int type = sqlite3_column_type(statement, i);
		double real = sqlite3_column_double(statement, i);
		int64_t number = sqlite3_column_int64(statement, i);
		uint64_t bits;
		if (type == SQLITE_NULL)
			continue;
		if (types[i] == TYPE_TEXT) {
			const void *text = sqlite3_column_text(statement, i);
			size_t bytes = (size_t)sqlite3_column_bytes(statement, i);
			pfs_mysql_put_length(self, bytes);
			pfs_mysql_put(self, text == NULL ? "" : text, bytes);
			continue;
		}
		if (type != SQLITE_INTEGER && (types[i] == TYPE_LONGLONG || type != SQLITE_FLOAT))
			return false;
		memcpy(&bits, &real, sizeof(bits));
		pfs_mysql_put_number(self, types[i] == TYPE_DOUBLE ? bits : (uint64_t)number, 8);
	}
	return true;
}

static bool put_binary_row(struct pfs_mysql *self, sqlite3_stmt *statement, const uint8_t *types)
{
	pfs_mysql_begin(self);
	if (put_binary(self, statement, types)) {
		pfs_mysql_end(self);
		return true;
	}
	self->out_bytes = self->out_begin;
	pfs_mysql_error(self, 1105, "HY000",
			"a column has integers first and others later: CAST "
			"it, so that its rows have one type");
	return false;
}

/* ---- queries ---- */

void pfs_mysql_answer(struct pfs_mysql *self, sqlite3_stmt *statement, bool is_binary)
{
	uint8_t types[COLUMNS_MAX] = { 0 };
	self->queries++;
	sqlite3_progress_handler(self->db, 1000, is_too_late, self);
	int code = sqlite3_step(statement), columns = sqlite3_column_count(statement);
	if (columns > 0 && (code == SQLITE_ROW || code == SQLITE_DONE))
		put_columns(self, statement, code == SQLITE_ROW);
	for (int i = 0; i < columns && i < COLUMNS_MAX && code == SQLITE_ROW; i++)
		types[i] = (uint8_t)type_of(statement, i, true);
	for (; code == SQLITE_ROW && !self->has_failed; code = sqlite3_step(statement)) {
		if (!is_binary)
			put_row(self, statement);
		else if (!put_binary_row(self, statement, types))
			return;
	}
	if (self->has_failed)
		return;
	if (code != SQLITE_DONE)
		put_error(self, code & 0xFF, sqlite3_errmsg(self->db));
	else if (columns > 0)
		pfs_mysql_eof(self);
	else
		pfs_mysql_ok(self, (uint64_t)sqlite3_changes(self->db));
}

sqlite3_stmt *pfs_mysql_compile(struct pfs_mysql *self, const char *text)
{
	const char *behind = NULL, *spaces;
	sqlite3_stmt *statement = NULL;
	char *query = pfs_mysql_rewrite(self, text);
	if (query == NULL)
		return NULL;
	self->guard.denied = PFS_DENIED_NOTHING;
	int code = sqlite3_prepare_v2(self->db, query, -1, &statement, &behind);
	bool is_fine = false;
	spaces = behind;
	if (code != SQLITE_OK)
		put_error(self, code & 0xFF, sqlite3_errmsg(self->db));
	else if (statement == NULL)
		pfs_mysql_error(self, 1065, "42000", "Query was empty");
	else if (pfs_word_next(&spaces).kind != 0)
		pfs_mysql_error(self, 1064, "42000",
				"You have an error in your SQL syntax: one "
				"statement at a time; near '%.80s'",
				behind);
	else
		is_fine = true;
	if (!is_fine)
		(void)sqlite3_finalize(statement);
	sqlite3_free(query);
	return is_fine ? statement : NULL;
}

/* Parameters are for prepared statements; @x is one to SQLite, whose value is NULL, as it is. */
static bool has_parameters(sqlite3_stmt *statement)
{
	for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++) {
		const char *name = sqlite3_bind_parameter_name(statement, i);
		if (name == NULL || name[0] != '@')
			return true;
	}
	return false;
}

void pfs_mysql_query(struct pfs_mysql *self, const char *text)
{
	sqlite3_stmt *statement = pfs_mysql_compile(self, text);
	if (statement == NULL) {
		self->queries++;
		return;
	}
	if (has_parameters(statement))
		pfs_mysql_error(self, 1064, "42000",
				"You have an error in your SQL syntax: "
				"parameters are for prepared statements");
	else
		pfs_mysql_answer(self, statement, false);
	(void)sqlite3_finalize(statement);
}

void pfs_mysql_fields(struct pfs_mysql *self, const char *table)
{
	sqlite3_stmt *statement = NULL;
	char *query = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
	self->guard.denied = PFS_DENIED_NOTHING;
	int code = query == NULL ? SQLITE_NOMEM
				 : sqlite3_prepare_v2(self->db, query, -1, &statement, NULL);
	if (code != SQLITE_OK) {
		put_error(self, code & 0xFF, sqlite3_errmsg(self->db));
	} else {
		for (int i = 0; i < sqlite3_column_count(statement); i++)
			put_column(self, statement, i, false, table, true);
		pfs_mysql_eof(self);
	}
	(void)sqlite3_finalize(statement);
	sqlite3_free(query);
}
