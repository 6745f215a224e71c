/*
 * show.c - SHOW and DESCRIBE, as queries.
 */
#include <string.h>
#include <strings.h>

#include "mysql.h"

/* The clauses of a SHOW. All for sqlite3_free; NULL: absent. */
struct rest {
	char *table;  /* FROM or IN */
	char *schema; /* the second FROM, or in front of the table's name */
	char *like;
	bool is_odd; /* there is a clause that is not understood */
};

static void take_from(const char **at, struct rest *rest)
{
	char *name = pfs_word_text(pfs_word_next(at));
	const char *behind = *at;
	if (pfs_word_is(pfs_word_next(&behind), ".")) {
		rest->is_odd |= rest->table != NULL || rest->schema != NULL;
		sqlite3_free(rest->schema);
		sqlite3_free(rest->table);
		rest->schema = name;
		*at = behind;
		rest->table = pfs_word_text(pfs_word_next(at));
	} else if (rest->table == NULL) {
		rest->table = name;
	} else if (rest->schema == NULL) {
		rest->schema = name;
	} else {
		sqlite3_free(name);
		rest->is_odd = true;
	}
}

/* WHERE variable_name = 'x', or LIKE: as LIKE. */
static void take_where(const char **at, struct rest *rest)
{
	struct pfs_word column = pfs_word_next(at), how = pfs_word_next(at);
	struct pfs_word value = pfs_word_next(at);
	if (column.kind == 's' || value.kind != 's' || rest->like != NULL ||
	    !(pfs_word_is(how, "=") || pfs_word_is(how, "like")))
		rest->is_odd = true;
	else
		rest->like = pfs_word_text(value);
}

static struct rest take_rest(const char *at)
{
	struct rest rest = { 0 };
	for (;;) {
		struct pfs_word word = pfs_word_next(&at);
		if (word.kind == 0)
			return rest;
		if (pfs_word_is(word, "from") || pfs_word_is(word, "in"))
			take_from(&at, &rest);
		else if (pfs_word_is(word, "like") && rest.like == NULL)
			rest.like = pfs_word_text(pfs_word_next(&at));
		else if (pfs_word_is(word, "where"))
			take_where(&at, &rest);
		else if (!pfs_word_is(word, ";"))
			rest.is_odd = true;
	}
}

static void free_rest(struct rest *rest)
{
	sqlite3_free(rest->table);
	sqlite3_free(rest->schema);
	sqlite3_free(rest->like);
}

/* " AND column LIKE 'x'", or nothing. %z frees it. */
static char *and_like(const char *column, const struct rest *rest)
{
	if (rest->like == NULL)
		return sqlite3_mprintf("");
	return sqlite3_mprintf(" AND %s LIKE '%q' ESCAPE '\\'", column, rest->like);
}

static char *show_tables(struct pfs_mysql *self, const struct rest *rest, bool full)
{
	const char *schema = rest->table != NULL ? rest->table : self->schema;
	if (schema[0] != '\0')
		return sqlite3_mprintf("SELECT NAME AS \"Tables_in_%w\"%s FROM tables WHERE "
				       "TABLE_SCHEMA = lower('%q')%z ORDER BY NAME",
				       schema, full ? ", TABLE_TYPE AS Table_type" : "", schema,
				       and_like("NAME", rest));
	pfs_mysql_error(self, 1046, "3D000", "No database selected");
	return NULL;
}

/* False: answered by an error. */
static bool is_table(struct pfs_mysql *self, const char *name)
{
	const struct pfs_sql_name *one;
	for (size_t i = 0; (one = pfs_sql_name(i)) != NULL; i++)
		if (name != NULL && strcasecmp(one->name, name) == 0)
			return true;
	if (name != NULL && strncasecmp(name, "information_schema_", 19) == 0)
		return true;
	pfs_mysql_error(self, 1146, "42S02", "Table '%s' doesn't exist", name == NULL ? "" : name);
	return false;
}

/* information_schema.x is a view information_schema_x. */
static void join_schema(struct rest *rest)
{
	if (rest->schema == NULL || rest->table == NULL ||
	    strcasecmp(rest->schema, "information_schema") != 0)
		return;
	char *name = sqlite3_mprintf("information_schema_%s", rest->table);
	sqlite3_free(rest->table);
	rest->table = name;
}

static char *show_columns(struct pfs_mysql *self, struct rest *rest)
{
	join_schema(rest);
	if (!is_table(self, rest->table))
		return NULL;
	return sqlite3_mprintf(
		"SELECT name AS Field, lower(type) AS Type, CASE \"notnull\" WHEN 1 THEN 'NO' "
		"ELSE 'YES' END AS \"Null\", '' AS \"Key\", NULL AS \"Default\", '' AS Extra FROM "
		"pragma_table_info('%q') WHERE 1%z",
		rest->table == NULL ? "" : rest->table, and_like("name", rest));
}

/* SHOW CREATE TABLE or VIEW. */
static char *show_create(struct pfs_mysql *self, struct rest *rest)
{
	const char *view = rest->table == NULL ? NULL : pfs_sql_view_text(rest->table);
	if (view != NULL)
		return sqlite3_mprintf(
			"SELECT '%q' AS \"View\", 'CREATE VIEW `%q` AS ' || '%q' AS \"Create "
			"View\", 'utf8mb4' AS character_set_client, 'utf8mb4_bin' AS "
			"collation_connection",
			rest->table, rest->table, view);
	if (!is_table(self, rest->table))
		return NULL;
	return sqlite3_mprintf(
		"SELECT '%q' AS \"Table\", 'CREATE TABLE `%q` (\n' || group_concat('  `' "
		"|| name || '` ' || lower(type) || CASE \"notnull\" WHEN 1 THEN ' NOT NULL' ELSE ' "
		"DEFAULT NULL' END, ',\n') || '\n) ENGINE=PERFORMANCE_SCHEMA "
		"DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin' AS \"Create Table\" FROM (SELECT * "
		"FROM pragma_table_info('%q') ORDER BY cid)",
		rest->table, rest->table, rest->table);
}

/* The tables of a box have no indexes. */
static char *show_index(struct pfs_mysql *self, const struct rest *rest)
{
	if (!is_table(self, rest->table))
		return NULL;
	return sqlite3_mprintf(
		"SELECT '' AS \"Table\", 0 AS Non_unique, '' AS Key_name, 0 AS Seq_in_index, '' AS "
		"Column_name, '' AS Collation, 0 AS Cardinality, NULL AS Sub_part, NULL AS Packed, "
		"'' AS \"Null\", '' AS Index_type, '' AS Comment, '' AS Index_comment LIMIT 0");
}

static bool is_index(struct pfs_word what)
{
	return pfs_word_is(what, "index") || pfs_word_is(what, "indexes") ||
	       pfs_word_is(what, "keys");
}

/* NULL: no such thing is shown. */
static char *show(struct pfs_mysql *self, struct pfs_word what, struct rest *rest, bool full)
{
	if (pfs_word_is(what, "databases") || pfs_word_is(what, "schemas"))
		return sqlite3_mprintf(
			"SELECT SCHEMA_NAME AS \"Database\" FROM (SELECT SCHEMA_NAME "
			"FROM information_schema_schemata UNION SELECT "
			"'information_schema') WHERE 1%z ORDER BY 1",
			and_like("SCHEMA_NAME", rest));
	if (pfs_word_is(what, "tables"))
		return show_tables(self, rest, full);
	if ((pfs_word_is(what, "columns") || pfs_word_is(what, "fields")) && rest->table != NULL)
		return show_columns(self, rest);
	if (is_index(what))
		return show_index(self, rest);
	if (pfs_word_is(what, "status"))
		return sqlite3_mprintf("SELECT VARIABLE_NAME AS Variable_name, VARIABLE_VALUE AS "
				       "Value FROM global_status WHERE 1%z",
				       and_like("VARIABLE_NAME", rest));
	if (pfs_word_is(what, "variables"))
		return sqlite3_mprintf("SELECT name AS Variable_name, CAST(value AS TEXT) AS Value "
				       "FROM (%z) WHERE 1%z",
				       pfs_mysql_variables(self), and_like("name", rest));
	if (pfs_word_is(what, "warnings") || pfs_word_is(what, "errors"))
		return sqlite3_mprintf("SELECT '' AS Level, 0 AS Code, '' AS Message LIMIT 0");
	if (pfs_word_is(what, "processlist"))
		return sqlite3_mprintf("SELECT THREAD_ID AS Id, PROCESSLIST_USER AS User, "
				       "PROCESSLIST_HOST AS Host, PROCESSLIST_DB AS db, "
				       "PROCESSLIST_COMMAND AS Command, PROCESSLIST_TIME AS Time, "
				       "PROCESSLIST_STATE AS State, NAME AS Info FROM threads");
	pfs_mysql_error(self, 1235, "42000",
			"This version of MySQL doesn't yet support 'SHOW %.*s'", (int)what.bytes,
			what.text);
	return NULL;
}

char *pfs_mysql_show(struct pfs_mysql *self, const char *text)
{
	const char *at = text;
	bool full = false, is_describe = !pfs_word_is(pfs_word_next(&at), "show");
	struct rest rest = { 0 };
	char *query = NULL;
	if (is_describe) {
		take_from(&at, &rest);
		query = show_columns(self, &rest);
		free_rest(&rest);
		return query;
	}
	struct pfs_word what = pfs_word_next(&at);
	if (pfs_word_is(what, "create")) {
		(void)pfs_word_next(&at); /* TABLE or VIEW */
		take_from(&at, &rest);
		query = show_create(self, &rest);
	} else {
		while (pfs_word_is(what, "full") || pfs_word_is(what, "global") ||
		       pfs_word_is(what, "session") || pfs_word_is(what, "extended")) {
			full |= pfs_word_is(what, "full");
			what = pfs_word_next(&at);
		}
		rest = take_rest(at);
		if (rest.is_odd)
			pfs_mysql_error(self, 1064, "42000",
					"You have an error in your SQL syntax near '%.80s'", at);
		else
			query = show(self, what, &rest, full);
	}
	free_rest(&rest);
	return query;
}
