/*
 * functions.c - pfs_mem_open, and format_bytes as sys has it.
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
	if (code != SQLITE_OK)
		return code;
	return sqlite3_create_function_v2(db, "format_bytes", 1,
					  SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
					  NULL, format_bytes, NULL, NULL, NULL);
}
