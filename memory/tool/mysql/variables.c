/*
 * variables.c - what clients ask for by @@ and SHOW VARIABLES, and functions that they call.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "mysql.h"

static const struct {
	const char *name, *value; /* as SQL has it; NULL: of the connection */
} variables[] = {
	{ "auto_increment_increment", "1" },
	{ "autocommit", "1" },
	{ "character_set_client", "'utf8mb4'" },
	{ "character_set_connection", "'utf8mb4'" },
	{ "character_set_database", "'utf8mb4'" },
	{ "character_set_results", "'utf8mb4'" },
	{ "character_set_server", "'utf8mb4'" },
	{ "collation_connection", "'utf8mb4_bin'" },
	{ "collation_database", "'utf8mb4_bin'" },
	{ "collation_server", "'utf8mb4_bin'" },
	{ "init_connect", "''" },
	{ "interactive_timeout", NULL },
	{ "license", "''" },
	{ "lower_case_table_names", "0" },
	{ "max_allowed_packet", "1048576" },
	{ "net_buffer_length", "16384" },
	{ "net_write_timeout", "10" },
	{ "performance_schema", "1" },
	{ "performance_schema_max_memory_classes",
	  "(SELECT CAST(VARIABLE_VALUE AS INTEGER) FROM global_variables WHERE VARIABLE_NAME = "
	  "'performance_schema_max_memory_classes')" },
	{ "query_cache_size", "0" },
	{ "query_cache_type", "'OFF'" },
	{ "read_only", NULL },
	{ "sql_mode", "''" },
	{ "system_time_zone", "'SYSTEM'" },
	{ "time_zone", "'SYSTEM'" },
	{ "transaction_isolation", "'REPEATABLE-READ'" },
	{ "tx_isolation", "'REPEATABLE-READ'" },
	{ "version", "'" PFS_SQL_VERSION "'" },
	{ "version_comment", "'" PFS_SQL_COMMENT "'" },
	{ "version_compile_machine", "''" },
	{ "version_compile_os", "'Linux'" },
	{ "wait_timeout", NULL },
};
#define VARIABLES (sizeof(variables) / sizeof(variables[0]))

/* The value of row i. */
static char *value_of(const struct pfs_mysql *self, size_t i)
{
	if (variables[i].value != NULL)
		return sqlite3_mprintf("%s", variables[i].value);
	if (strcmp(variables[i].name, "read_only") == 0)
		return sqlite3_mprintf("%d", !self->guard.may_change);
	return sqlite3_mprintf("%u", self->idle_s);
}

char *pfs_mysql_variable(const struct pfs_mysql *self, const char *name)
{
	for (size_t i = 0; i < VARIABLES; i++)
		if (strcasecmp(variables[i].name, name) == 0)
			return value_of(self, i);
	return NULL;
}

char *pfs_mysql_variables(const struct pfs_mysql *self)
{
	sqlite3_str *text = sqlite3_str_new(NULL);
	for (size_t i = 0; i < VARIABLES; i++)
		sqlite3_str_appendf(text, "%sSELECT '%s' AS name, %z AS value",
				    i == 0 ? "" : " UNION ALL ", variables[i].name,
				    value_of(self, i));
	return sqlite3_str_finish(text);
}

/* ---- functions ---- */

static void result_text(sqlite3_context *context, const char *text)
{
	if (text[0] == '\0')
		sqlite3_result_null(context);
	else
		sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

PFS_SQL_FUNCTION(do_database)
{
	const struct pfs_mysql *self = sqlite3_user_data(context);
	result_text(context, self->schema);
}

PFS_SQL_FUNCTION(do_user)
{
	const struct pfs_mysql *self = sqlite3_user_data(context);
	char text[2 * PFS_MYSQL_NAME_MAX + 2];
	(void)snprintf(text, sizeof(text), "%s@%s", self->user, self->host);
	result_text(context, text);
}

PFS_SQL_FUNCTION(do_version)
{
	result_text(context, PFS_SQL_VERSION);
}

PFS_SQL_FUNCTION(do_connection_id)
{
	const struct pfs_mysql *self = sqlite3_user_data(context);
	sqlite3_result_int64(context, self->id);
}

PFS_SQL_FUNCTION(do_unix_timestamp)
{
	sqlite3_result_int64(context, (sqlite3_int64)time(NULL));
}

PFS_SQL_FUNCTION(do_now)
{
	char text[64] = "";
	struct tm parts;
	time_t now = time(NULL);
	if (localtime_r(&now, &parts) != NULL)
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
	result_text(context, text);
}

/* LIKE without ESCAPE: the backslash escapes. */
PFS_SQL_FUNCTION(do_like)
{
	const char *pattern = (const char *)sqlite3_value_text(argv[0]);
	const char *text = (const char *)sqlite3_value_text(argv[1]);
	int most = sqlite3_limit(sqlite3_context_db_handle(context),
				 SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
	if (sqlite3_value_bytes(argv[0]) > most)
		sqlite3_result_error(context, "LIKE pattern too complex", -1);
	else if (pattern != NULL && text != NULL)
		sqlite3_result_int(context, sqlite3_strlike(pattern, text, '\\') == 0);
}

/* ---- information_schema ---- */

#define WIDTH "CAST(substr(c.type, instr(c.type, '(') + 1) AS INTEGER)"
#define IS_TEXT "(instr(c.type, 'CHAR') > 0 OR c.type IN ('TEXT', ''))"

/* A column of a view has no declared type; it is shown as text. */
static const char information_schema[] =
	"CREATE TEMP VIEW information_schema_tables AS SELECT 'def' AS TABLE_CATALOG, "
	"TABLE_SCHEMA, NAME AS TABLE_NAME, TABLE_TYPE, CASE TABLE_TYPE WHEN 'VIEW' THEN NULL ELSE "
	"'PERFORMANCE_SCHEMA' END AS ENGINE, CASE TABLE_TYPE WHEN 'VIEW' THEN NULL ELSE 10 END "
	"AS VERSION, CASE TABLE_TYPE WHEN 'VIEW' THEN NULL ELSE 'Dynamic' END AS ROW_FORMAT, "
	"NULL AS TABLE_ROWS, NULL AS AVG_ROW_LENGTH, NULL AS DATA_LENGTH, NULL AS "
	"MAX_DATA_LENGTH, NULL AS INDEX_LENGTH, NULL AS DATA_FREE, NULL AS AUTO_INCREMENT, "
	"NULL AS CREATE_TIME, NULL AS UPDATE_TIME, NULL AS CHECK_TIME, CASE TABLE_TYPE WHEN "
	"'VIEW' THEN NULL ELSE 'utf8mb4_bin' END AS TABLE_COLLATION, NULL AS CHECKSUM, '' AS "
	"CREATE_OPTIONS, CASE TABLE_TYPE WHEN 'VIEW' THEN 'VIEW' ELSE '' END AS TABLE_COMMENT "
	"FROM tables;"
	"CREATE TEMP VIEW information_schema_schemata AS SELECT DISTINCT 'def' AS "
	"CATALOG_NAME, TABLE_SCHEMA AS SCHEMA_NAME, 'utf8mb4' AS DEFAULT_CHARACTER_SET_NAME, "
	"'utf8mb4_bin' AS DEFAULT_COLLATION_NAME, NULL AS SQL_PATH FROM tables;"
	"CREATE TEMP VIEW information_schema_columns AS SELECT 'def' AS TABLE_CATALOG, "
	"t.TABLE_SCHEMA AS TABLE_SCHEMA, t.NAME AS TABLE_NAME, c.name AS COLUMN_NAME, "
	"c.cid + 1 AS ORDINAL_POSITION, NULL AS COLUMN_DEFAULT, CASE c.\"notnull\" WHEN 1 THEN "
	"'NO' ELSE 'YES' END AS IS_NULLABLE, CASE WHEN c.type = '' THEN 'text' WHEN "
	"instr(c.type, '(') > 0 THEN lower(substr(c.type, 1, instr(c.type, '(') - 1)) ELSE "
	"lower(replace(c.type, ' UNSIGNED', '')) END AS DATA_TYPE, CASE WHEN instr(c.type, '(') > "
	"0 THEN " WIDTH " WHEN " IS_TEXT " THEN 65535 END AS CHARACTER_MAXIMUM_LENGTH, CASE WHEN "
	"instr(c.type, '(') > 0 THEN 4 * " WIDTH " WHEN " IS_TEXT " THEN 65535 END AS "
	"CHARACTER_OCTET_LENGTH, CASE WHEN instr(c.type, 'UNSIGNED') > 0 THEN 20 WHEN "
	"instr(c.type, 'BIGINT') > 0 THEN 19 END AS NUMERIC_PRECISION, CASE WHEN instr(c.type, "
	"'BIGINT') > 0 THEN 0 END AS NUMERIC_SCALE, NULL AS DATETIME_PRECISION, CASE WHEN " IS_TEXT
	" THEN 'utf8mb4' END AS CHARACTER_SET_NAME, CASE WHEN " IS_TEXT " THEN 'utf8mb4_bin' END "
	"AS COLLATION_NAME, CASE c.type WHEN '' THEN 'text' ELSE lower(c.type) END AS COLUMN_TYPE, "
	"'' AS COLUMN_KEY, '' AS EXTRA, 'select' AS PRIVILEGES, '' AS COLUMN_COMMENT, '' AS "
	"GENERATION_EXPRESSION FROM tables AS t JOIN pragma_table_info(t.NAME) AS c";

int pfs_mysql_prepare(struct pfs_mysql *self)
{
	static const struct {
		const char *name;
		int argc;
		void (*call)(sqlite3_context *context, int argc, sqlite3_value **argv);
	} functions[] = {
		{ "database", 0, do_database }, { "schema", 0, do_database },
		{ "user", 0, do_user },         { "current_user", 0, do_user },
		{ "version", 0, do_version },   { "connection_id", 0, do_connection_id },
		{ "now", 0, do_now },           { "unix_timestamp", 0, do_unix_timestamp },
		{ "like", 2, do_like },
	};
	int code = SQLITE_OK;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]) && code == SQLITE_OK; i++)
		code = sqlite3_create_function_v2(self->db, functions[i].name, functions[i].argc,
						  SQLITE_UTF8, self, functions[i].call, NULL, NULL,
						  NULL);
	if (code != SQLITE_OK)
		return code;
	return sqlite3_exec(self->db, information_schema, NULL, NULL, NULL);
}
