/*
 * functions.c - pfs_mem_open, format_bytes as sys has it, and the list of all functions.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "session.h"

PFS_SQL_FUNCTION(format_bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB" };
	char text[64];
	if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	double bytes = sqlite3_value_double(argv[0]), part = bytes / 1024;
	size_t unit = 0;
	while (unit + 1 < sizeof(units) / sizeof(units[0]) && fabs(part) >= 1024) {
		part /= 1024;
		unit++;
	}
	if (fabs(bytes) < 1024)
		(void)snprintf(text, sizeof(text), "%.0f bytes", bytes);
	else
		(void)snprintf(text, sizeof(text), "%.2f %s", part, units[unit]);
	pfs_result_text(context, text);
}

/* Returns the file name of the box that was opened. */
PFS_SQL_FUNCTION(mem_open)
{
	struct pfs_session *session = sqlite3_user_data(context);
	const char *target = (const char *)sqlite3_value_text(argv[0]);
	struct pfs_message message;
	if (target == NULL)
		sqlite3_result_error(context, "pfs_mem_open(NULL): name a pid, a file, or last",
				     -1);
	else if (session->moments != NULL)
		sqlite3_result_error(
			context,
			"pfs_mem_open: a statement on a box is still active; finish it first", -1);
	else if (pfs_session_open(session, target, &message))
		pfs_result_text(context, pfs_reader_info(session->reader)->path);
	else
		sqlite3_result_error(context, message.text, -1);
}

/* pfs_mem_hold(1): all statements see one moment, until pfs_mem_hold(0), or a newer one. */
PFS_SQL_FUNCTION(mem_hold)
{
	struct pfs_session *session = sqlite3_user_data(context);
	if (session->moments != NULL) {
		sqlite3_result_error(
			context,
			"pfs_mem_hold: a statement on a box is still active; finish it first", -1);
		return;
	}
	pfs_session_hold(session, sqlite3_value_int(argv[0]) != 0);
	sqlite3_result_int(context, session->holds);
}

/* Those of this file that take no session. */
static const struct pfs_sql_function plain_functions[] = {
	{ "format_bytes", 1, 1, format_bytes, false }, { NULL, 0, 0, NULL, false }
};

/* SQLite's own, with the meaning that MySQL gives them. */
static const char *const same_functions[] = {
	"abs",       "avg",    "coalesce",    "count",      "exp",    "group_concat",
	"hex",       "ifnull", "like",        "ln",         "log10",  "log2",
	"lower",     "ltrim",  "max",         "min",        "nullif", "pi",
	"pow",       "power",  "replace",     "row_number", "rank",   "dense_rank",
	"rtrim",     "sign",   "sqrt",        "sum",        "trim",   "upper",
	"lag",       "lead",   "first_value", "last_value", "ntile",  "percent_rank",
	"cume_dist",
};

static const struct pfs_sql_function *const function_tables[] = { plain_functions,
								  pfs_sql_number_functions,
								  pfs_sql_text_functions };
#define FUNCTION_TABLES (sizeof(function_tables) / sizeof(function_tables[0]))

bool pfs_sql_is_function(const char *name)
{
	for (size_t i = 0; i < FUNCTION_TABLES; i++)
		for (const struct pfs_sql_function *at = function_tables[i]; at->name; at++)
			if (sqlite3_stricmp(at->name, name) == 0)
				return true;
	for (size_t i = 0; i < sizeof(same_functions) / sizeof(same_functions[0]); i++)
		if (sqlite3_stricmp(same_functions[i], name) == 0)
			return true;
	return false;
}

/* A library that SQLite loads leaves the functions of its host as they are. */
static bool may_replace(void)
{
#ifdef SQLITE_CORE
	return true;
#else
	return false;
#endif
}

static int register_functions(sqlite3 *db, const struct pfs_sql_function *at)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int code = SQLITE_OK;
	for (; at->name != NULL && code == SQLITE_OK; at++)
		for (int argc = at->arguments_min; argc <= at->arguments_max && code == SQLITE_OK;
		     argc++)
			if (!at->is_replacing || may_replace())
				code = sqlite3_create_function_v2(db, at->name, argc, flags, NULL,
								  at->call, NULL, NULL, NULL);
	return code;
}

int pfs_sql_functions(struct pfs_session *session)
{
	sqlite3 *db = session->db;
	int code = sqlite3_create_function_v2(db, "pfs_mem_open", 1,
					      SQLITE_UTF8 | SQLITE_DIRECTONLY, session, mem_open,
					      NULL, NULL, pfs_session_free);
	if (code == SQLITE_OK)
		code = sqlite3_create_function_v2(db, "pfs_mem_hold", 1,
						  SQLITE_UTF8 | SQLITE_DIRECTONLY, session,
						  mem_hold, NULL, NULL, NULL);
	for (size_t i = 0; i < FUNCTION_TABLES && code == SQLITE_OK; i++)
		code = register_functions(db, function_tables[i]);
	return code;
}
