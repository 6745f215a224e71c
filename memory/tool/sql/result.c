/*
 * result.c - values of a box as results of SQLite; in a module, the pointer to SQLite's calls.
 */
#include <stdio.h>
#include <time.h>

#include "session.h"

SQLITE_EXTENSION_INIT1

void pfs_result_text(sqlite3_context *context, const char *text)
{
	if (text != NULL)
		sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
	else
		sqlite3_result_null(context);
}

void pfs_result_number(sqlite3_context *context, uint64_t number)
{
	/* Only a damaged box has more than SQLite's integers hold. */
	sqlite3_result_int64(context, number > INT64_MAX ? INT64_MAX : (int64_t)number);
}

void pfs_result_time(sqlite3_context *context, uint64_t realtime_ns)
{
	struct tm parts;
	char text[64];
	time_t seconds = (time_t)(realtime_ns / UINT64_C(1000000000));
	size_t length = 0;
	if (realtime_ns != 0 && localtime_r(&seconds, &parts) != NULL)
		length = strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
	if (length == 0)
		return;
	(void)snprintf(text + length, sizeof(text) - length, ".%03u",
		       (unsigned)(realtime_ns / 1000000 % 1000));
	pfs_result_text(context, text);
}
