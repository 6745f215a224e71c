/*
 * functions.h - what functions of SQL share: arguments, and text by characters of UTF-8.
 */
#ifndef PFS_SQL_FUNCTIONS_H
#define PFS_SQL_FUNCTIONS_H

#include <string.h>

#include "session.h"

static inline void pfs_sql_fail(sqlite3_context *context, const char *line)
{
	sqlite3_result_error(context, line, -1);
}

static inline bool pfs_sql_is_null(sqlite3_value *value)
{
	return sqlite3_value_type(value) == SQLITE_NULL;
}

static inline bool pfs_sql_any_null(int argc, sqlite3_value **argv)
{
	for (int i = 0; i < argc; i++)
		if (pfs_sql_is_null(argv[i]))
			return true;
	return false;
}

static inline sqlite3_int64 pfs_sql_characters(const char *text)
{
	sqlite3_int64 count = 0;
	for (; *text != '\0'; text++)
		count += (*text & 0xC0) != 0x80;
	return count;
}

/* Behind so many characters, or the end. */
static inline const char *pfs_sql_behind(const char *text, sqlite3_int64 count)
{
	while (*text != '\0' && (count > 0 || (*text & 0xC0) == 0x80))
		count -= (*text++ & 0xC0) != 0x80 && count > 0;
	return text;
}

static inline const char *pfs_sql_text_of(sqlite3_value *value)
{
	const char *text = (const char *)sqlite3_value_text(value);
	return text == NULL ? "" : text;
}

static inline void pfs_sql_result_part(sqlite3_context *context, const char *from, const char *to)
{
	sqlite3_result_text(context, from, (int)(to - from), SQLITE_TRANSIENT);
}

#endif
