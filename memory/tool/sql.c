/*
 * sql.c - pfs-mem sql: runs queries on a box, and prints the results.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "sql/sql.h"
#include "sql/words.h"

#define QUERY_BYTES_MAX (16u << 20)

/* All of standard input, ended by 0. NULL: a message was printed. */
static char *read_input(void)
{
	size_t room = 64 * 1024, bytes = 0;
	char *text = malloc(room);
	while (text != NULL) {
		bytes += fread(text + bytes, 1, room - bytes - 1, stdin);
		if (feof(stdin) || ferror(stdin) || bytes + 1 < room)
			break;
		char *more = room * 2 > QUERY_BYTES_MAX ? NULL : realloc(text, room * 2);
		if (more == NULL) {
			free(text);
			(void)pfs_complain(
				0, "sql: standard input has more than %u MiB: split the queries",
				QUERY_BYTES_MAX >> 20);
			return NULL;
		}
		text = more;
		room *= 2;
	}
	if (text != NULL)
		text[bytes] = '\0';
	return text;
}

static void put_value(struct pfs_sheet *sheet, sqlite3_stmt *statement, int column)
{
	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		pfs_sheet_number(sheet, sqlite3_column_int64(statement, column));
		break;
	case SQLITE_FLOAT: pfs_sheet_real(sheet, sqlite3_column_double(statement, column)); break;
	default: pfs_sheet_text(sheet, (const char *)sqlite3_column_text(statement, column));
	}
}

/* Runs one statement. Returns SQLite's last code. */
static int answer(sqlite3_stmt *statement, enum pfs_format format)
{
	int columns = sqlite3_column_count(statement), code;
	const char **names = calloc((size_t)columns + 1, sizeof(*names));
	struct pfs_sheet *sheet = NULL;
	for (int i = 0; names != NULL && i < columns; i++)
		names[i] = sqlite3_column_name(statement, i);
	if (names != NULL && columns > 0)
		sheet = pfs_sheet_begin(names);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW)
		for (int i = 0; sheet != NULL && i < columns; i++)
			put_value(sheet, statement, i);
	bool fine = names != NULL && (columns == 0 || sheet != NULL);
	if (sheet != NULL && code == SQLITE_DONE)
		fine &= pfs_sheet_end(sheet, format);
	else if (sheet != NULL)
		pfs_sheet_drop(sheet);
	free(names);
	return fine || code != SQLITE_DONE ? code : SQLITE_IOERR_WRITE;
}

static int run_all(sqlite3 *db, const char *text, enum pfs_format format)
{
	while (*text != '\0') {
		sqlite3_stmt *statement = NULL;
		int code = sqlite3_prepare_v2(db, text, -1, &statement, &text);
		if (code != SQLITE_OK)
			return pfs_complain(PFS_EXIT_USAGE, "sql: %s", sqlite3_errmsg(db));
		if (statement == NULL)
			continue; /* only a comment or spaces */
		code = answer(statement, format);
		if (code == SQLITE_IOERR_WRITE)
			(void)pfs_complain(0, "sql: the answer cannot be written");
		else if (code != SQLITE_DONE)
			(void)pfs_complain(0, "sql: %s", sqlite3_errmsg(db));
		(void)sqlite3_finalize(statement);
		if (code != SQLITE_DONE)
			return PFS_EXIT_REFUSED;
	}
	return PFS_EXIT_FINE;
}

static int run_text(sqlite3 *db, const char *text, enum pfs_format format)
{
	struct pfs_message message;
	char *query = pfs_sql_operators(text, PFS_DIALECT_SQLITE, &message);
	if (query == NULL)
		return pfs_complain(PFS_EXIT_USAGE, "sql: %s", message.text);
	int status = run_all(db, query, format);
	sqlite3_free(query);
	return status;
}

/* Warns on stderr that the program is dead: the results are of its last moment. */
static void remark_end(sqlite3 *db)
{
	sqlite3_stmt *statement = NULL;
	if (sqlite3_prepare_v2(db,
			       "SELECT p.VARIABLE_VALUE, d.VARIABLE_VALUE "
			       "FROM global_status AS p, global_status AS d "
			       "WHERE p.VARIABLE_NAME = 'Pfs_box_pid' "
			       "AND d.VARIABLE_NAME = 'Pfs_box_died'",
			       -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 1) != NULL)
		(void)pfs_complain(0, "process %s %s", sqlite3_column_text(statement, 0),
				   sqlite3_column_text(statement, 1));
	(void)sqlite3_finalize(statement);
}

static int run_sql(const struct pfs_arguments *arguments)
{
	struct pfs_message message;
	sqlite3 *db = NULL;
	int status = PFS_EXIT_REFUSED;
	if (sqlite3_open(":memory:", &db) != SQLITE_OK) {
		(void)pfs_complain(0, "sql: SQLite cannot be opened: no memory");
	} else if (pfs_sql_attach(db, arguments->words[0], &message) != SQLITE_OK) {
		status = pfs_complain_of(&message);
	} else {
		char *input = arguments->word_count > 1 ? NULL : read_input();
		const char *text = arguments->word_count > 1 ? arguments->words[1] : input;
		remark_end(db);
		if (text != NULL)
			status = run_text(db, text, arguments->format);
		free(input);
	}
	(void)sqlite3_close(db);
	return status;
}

static const struct pfs_option sql_options[] = { PFS_MEM_READ("format", 'f', "FORMAT",
							      pfs_take_format,
							      "table (default), csv, json, or tab"),
						 { 0 } };

/* clang-format off */
const struct pfs_command pfs_command_sql = {
	.name = "sql", .words = "TARGET [QUERY]", .words_min = 1, .words_max = 2,
	.doc = "ask a box in SQL; without QUERY, what standard input says\v"
	       "SELECT * FROM tables names the tables. DELETE FROM memory_summary_... is TRUNCATE, "
	       "UPDATE setup_instruments SET ENABLED = 'NO' WHERE NAME LIKE '...' switches what is "
	       "counted; both want a living program.",
	.options = sql_options, .format = PFS_FORMAT_TEXT, .run = run_sql
};
/* clang-format on */
