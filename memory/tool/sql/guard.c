/*
 * guard.c - allow-lists and limits for statements of clients.
 */
#define _GNU_SOURCE
#include "guard.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- lists ---- */

/* SQLite's functions of numbers, text and time, which our views use: none has an effect, takes a
 * pointer, or tells of the process. Sorted. Clients call only those that give what MySQL's give. */
/* clang-format off */
static const char *const functions[] = {
	"abs", "avg", "ceil", "ceiling", "char", "coalesce", "count", "cume_dist", "current_date",
	"current_time", "current_timestamp", "date", "datetime", "dense_rank", "exp", "first_value",
	"floor", "format", "glob", "group_concat", "hex", "ifnull", "iif", "instr", "julianday",
	"lag", "last_value", "lead", "length", "like", "ln", "log", "log10", "log2", "lower",
	"ltrim", "max", "min", "mod", "nth_value", "ntile", "nullif", "percent_rank", "pow",
	"power", "printf", "quote", "rank", "replace", "round", "row_number", "rtrim", "sign",
	"sqrt", "strftime", "string_agg", "substr", "substring", "sum", "time", "total", "trim",
	"trunc", "typeof", "unicode", "unixepoch", "upper",
};
/* clang-format on */

/* Of ours, those that clients may not call: they open files, or are of a session. */
static const char *const owners_only[] = { "pfs_mem_open", "pfs_mem_hold" };

static bool is_in(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcasecmp(names[i], name) == 0)
			return true;
	return false;
}
#define IS_IN(list, name) is_in(list, sizeof(list) / sizeof((list)[0]), name)

/* Is it one of the words of "|one|other|"? */
static bool is_word(const char *words, const char *name)
{
	char wanted[80];
	int length = snprintf(wanted, sizeof(wanted), "|%s|", name);
	return words != NULL && length < (int)sizeof(wanted) && strcasestr(words, wanted) != NULL;
}

static bool is_ours(const char *table)
{
	static const char schema[] = "information_schema_"; /* views only: nothing is created */
	for (size_t i = 0; pfs_sql_name(i) != NULL; i++)
		if (strcasecmp(pfs_sql_name(i)->name, table) == 0)
			return true;
	return strncasecmp(table, schema, sizeof(schema) - 1) == 0 ||
	       strcasecmp(table, "pragma_table_info") == 0;
}

/* view: that the call stands in, or the name of a subquery; NULL: the statement itself. */
static bool may_call(const struct pfs_sql_guard *self, const char *name, const char *view)
{
	return pfs_sql_is_function(name) ||
	       (is_word(self->own, name) && !IS_IN(owners_only, name)) ||
	       (view != NULL && is_ours(view) && IS_IN(functions, name));
}

/*
 * SQLite names a table without a column if none of its columns is read, and then names a WITH as
 * well. A name without a table behind it reads nothing; only pragmas and SQLite's own tables are
 * found without a module.
 */
static bool may_read(const char *table, const char *column)
{
	if (is_ours(table))
		return true;
	return column[0] == '\0' && strncasecmp(table, "pragma_", 7) != 0 &&
	       strncasecmp(table, "sqlite_", 7) != 0;
}

/* ---- the authorizer ---- */

static int deny(struct pfs_sql_guard *self, const char *what, const char *name)
{
	self->denied = PFS_DENIED_OTHER;
	if (name == NULL)
		(void)snprintf(self->why, sizeof(self->why), "a server lets clients use %s", what);
	else
		(void)snprintf(self->why, sizeof(self->why),
			       "%s '%.64s' is not one that a server lets clients use", what, name);
	return SQLITE_DENY;
}

static int deny_statement(struct pfs_sql_guard *self)
{
	return deny(self, "SELECT, SHOW, DESCRIBE, TRUNCATE and UPDATE", NULL);
}

static int change(struct pfs_sql_guard *self, const char *table)
{
	if (!is_ours(table))
		return deny_statement(self);
	if (self->may_change)
		return SQLITE_OK;
	self->denied = PFS_DENIED_CHANGE;
	return SQLITE_DENY;
}

static int authorize(void *opaque, int action, const char *one, const char *two, const char *schema,
		     const char *view)
{
	struct pfs_sql_guard *self = opaque;
	(void)schema;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE: return SQLITE_OK;
	case SQLITE_READ: return may_read(one, two) ? SQLITE_OK : deny(self, "table", one);
	case SQLITE_FUNCTION:
		return may_call(self, two, view) ? SQLITE_OK : deny(self, "function", two);
	case SQLITE_PRAGMA:
		return strcasecmp(one, "table_info") == 0 ? SQLITE_OK : deny(self, "pragma", one);
	case SQLITE_UPDATE:
	case SQLITE_DELETE:
	case SQLITE_INSERT: /* refused by the tables */ return change(self, one);
	default: return deny_statement(self);
	}
}

/* ---- limits ---- */

/* The longest opcode is a trim, of all letters of one text times all of another: less than a second
 * with these, as memory.sql.guard_test measures. */
static void set_limits(sqlite3 *db)
{
	static const int limits[][2] = {
		{ SQLITE_LIMIT_LENGTH, PFS_GUARD_VALUE_BYTES },
		{ SQLITE_LIMIT_SQL_LENGTH, PFS_GUARD_VALUE_BYTES },
		{ SQLITE_LIMIT_COLUMN, 200 },
		{ SQLITE_LIMIT_EXPR_DEPTH, 100 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 100 },
		{ SQLITE_LIMIT_VDBE_OP, 50000 },
		{ SQLITE_LIMIT_FUNCTION_ARG, 100 },
		{ SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 512 },
		{ SQLITE_LIMIT_VARIABLE_NUMBER, 1000 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		(void)sqlite3_limit(db, limits[i][0], limits[i][1]);
	(void)sqlite3_hard_heap_limit64(PFS_GUARD_HEAP_BYTES);
}

/* ---- beginning ---- */

/* "|one|other|": the functions that are not SQLite's own. NULL: no memory, or an old SQLite. */
static char *foreign_functions(sqlite3 *db)
{
	sqlite3_stmt *statement = NULL;
	char *words = NULL;
	if (sqlite3_prepare_v2(db,
			       "SELECT '|' || group_concat(DISTINCT name || '|') FROM "
			       "(SELECT name FROM pragma_function_list WHERE NOT builtin "
			       "UNION SELECT '')",
			       -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW)
		words = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
	(void)sqlite3_finalize(statement);
	/* Of "a|,b|" the commas go. */
	size_t kept = 0;
	for (size_t i = 0; words != NULL && words[i] != '\0'; i++)
		if (words[i] != ',')
			words[kept++] = words[i];
	if (words != NULL)
		words[kept] = '\0';
	return words;
}

/* Removes the words of other from words. */
static void take_out(char *words, char *other)
{
	char *rest = NULL;
	for (char *word = strtok_r(other, "|", &rest); word != NULL;
	     word = strtok_r(NULL, "|", &rest)) {
		char wanted[80];
		int length = snprintf(wanted, sizeof(wanted), "|%s|", word);
		char *at = length < (int)sizeof(wanted) ? strcasestr(words, wanted) : NULL;
		if (at != NULL)
			memmove(at, at + length - 1, strlen(at + length - 1) + 1);
	}
}

/* A table's first use asks the authorizer for more than a use: it is made here. */
static bool use_all(sqlite3 *db)
{
	int code = SQLITE_OK;
	for (size_t i = 0; pfs_sql_name(i) != NULL && code == SQLITE_OK; i++) {
		sqlite3_stmt *statement = NULL;
		char *query = sqlite3_mprintf("SELECT 1 FROM \"%w\", pragma_table_info('x')",
					      pfs_sql_name(i)->name);
		code = query == NULL ? SQLITE_NOMEM
				     : sqlite3_prepare_v2(db, query, -1, &statement, NULL);
		(void)sqlite3_finalize(statement);
		sqlite3_free(query);
	}
	return code == SQLITE_OK;
}

bool pfs_sql_guard_begin(struct pfs_sql_guard *self, sqlite3 *db)
{
	static const int switches[][2] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
	};
	int code = SQLITE_OK;
	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
		code |= sqlite3_db_config(db, switches[i][0], switches[i][1], NULL);
	/* Before views exist: this drops them. */
	code |= sqlite3_exec(db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
	code |= sqlite3_drop_modules(db, NULL);
	self->foreign = foreign_functions(db);
	return code == SQLITE_OK && self->foreign != NULL;
}

bool pfs_sql_guard_end(struct pfs_sql_guard *self, sqlite3 *db)
{
	self->own = foreign_functions(db);
	if (self->own == NULL || !use_all(db))
		return false;
	take_out(self->own, self->foreign);
	set_limits(db);
	return sqlite3_set_authorizer(db, authorize, self) == SQLITE_OK;
}
