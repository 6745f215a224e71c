/*
 * functions_text.c - functions of text with MySQL's meaning, by characters of UTF-8.
 */
#include <strings.h>

#include "functions.h"

PFS_SQL_FUNCTION(do_left)
{
	const char *text = pfs_sql_text_of(argv[0]);
	if (!pfs_sql_any_null(argc, argv))
		pfs_sql_result_part(context, text,
				    pfs_sql_behind(text, sqlite3_value_int64(argv[1])));
}

PFS_SQL_FUNCTION(do_right)
{
	const char *text = pfs_sql_text_of(argv[0]);
	sqlite3_int64 count = sqlite3_value_int64(argv[1]);
	if (!pfs_sql_any_null(argc, argv))
		pfs_sql_result_part(
			context,
			pfs_sql_behind(text, pfs_sql_characters(text) - (count < 0 ? 0 : count)),
			text + strlen(text));
}

/* From 1 on; negative: from the end; 0: nothing. */
PFS_SQL_FUNCTION(do_substring)
{
	const char *text = pfs_sql_text_of(argv[0]);
	sqlite3_int64 at = sqlite3_value_int64(argv[1]), all = pfs_sql_characters(text);
	sqlite3_int64 count = argc > 2 ? sqlite3_value_int64(argv[2]) : all;
	if (pfs_sql_any_null(argc, argv))
		return;
	at = at < 0 ? all + at : at - 1;
	if (at < 0 || at >= all || count <= 0)
		pfs_result_text(context, "");
	else
		pfs_sql_result_part(context, pfs_sql_behind(text, at),
				    pfs_sql_behind(pfs_sql_behind(text, at), count));
}

/* What is in front of the delimiter's count-th occurrence; negative: behind, from the right. */
PFS_SQL_FUNCTION(do_substring_index)
{
	const char *text = pfs_sql_text_of(argv[0]), *delimiter = pfs_sql_text_of(argv[1]);
	const char *end = text + strlen(text), *at = text;
	sqlite3_int64 count = sqlite3_value_int64(argv[2]), all = 0;
	size_t bytes = strlen(delimiter);
	if (pfs_sql_any_null(argc, argv))
		return;
	if (count == 0 || bytes == 0) {
		pfs_result_text(context, "");
		return;
	}
	for (const char *found = text; (found = strstr(found, delimiter)) != NULL; found += bytes)
		all++;
	sqlite3_int64 wanted = count > 0 ? count : all + count + 1;
	if (wanted <= 0 || wanted > all) {
		pfs_sql_result_part(context, text, end);
		return;
	}
	for (sqlite3_int64 i = 0; i < wanted; i++)
		at = strstr(at, delimiter) + bytes;
	if (count > 0)
		pfs_sql_result_part(context, text, at - bytes);
	else
		pfs_sql_result_part(context, at, end);
}

static void result_place(sqlite3_context *context, const char *text, const char *part,
			 sqlite3_int64 from)
{
	size_t bytes = strlen(part);
	if (from < 1 || from > pfs_sql_characters(text) + 1) {
		sqlite3_result_int(context, 0);
		return;
	}
	for (const char *at = pfs_sql_behind(text, from - 1);; at++) {
		bool is_begin = (*at & 0xC0) != 0x80;
		if (is_begin && strncasecmp(at, part, bytes) == 0) {
			sqlite3_int64 place = 1;
			for (const char *byte = text; byte < at; byte++)
				place += (*byte & 0xC0) != 0x80;
			sqlite3_result_int64(context, place);
			return;
		}
		if (*at == '\0')
			break;
	}
	sqlite3_result_int(context, 0);
}

PFS_SQL_FUNCTION(do_locate)
{
	if (!pfs_sql_any_null(argc, argv))
		result_place(context, pfs_sql_text_of(argv[1]), pfs_sql_text_of(argv[0]),
			     argc > 2 ? sqlite3_value_int64(argv[2]) : 1);
}

PFS_SQL_FUNCTION(do_instr)
{
	if (!pfs_sql_any_null(argc, argv))
		result_place(context, pfs_sql_text_of(argv[0]), pfs_sql_text_of(argv[1]), 1);
}

PFS_SQL_FUNCTION(do_length)
{
	if (!pfs_sql_is_null(argv[0]))
		sqlite3_result_int(context, sqlite3_value_bytes(argv[0]));
}

PFS_SQL_FUNCTION(do_char_length)
{
	if (!pfs_sql_is_null(argv[0]))
		sqlite3_result_int64(context, pfs_sql_characters(pfs_sql_text_of(argv[0])));
}

static void result_joined(sqlite3_context *context, int argc, sqlite3_value **argv,
			  const char *between)
{
	sqlite3_str *text = sqlite3_str_new(NULL);
	bool is_first = true;
	for (int i = 0; i < argc; i++) {
		if (pfs_sql_is_null(argv[i]))
			continue;
		sqlite3_str_appendall(text, is_first ? "" : between);
		sqlite3_str_appendall(text, pfs_sql_text_of(argv[i]));
		is_first = false;
	}
	char *whole = sqlite3_str_finish(text);
	sqlite3_result_text(context, whole == NULL ? "" : whole, -1, SQLITE_TRANSIENT);
	sqlite3_free(whole);
}

PFS_SQL_FUNCTION(do_concat)
{
	if (!pfs_sql_any_null(argc, argv))
		result_joined(context, argc, argv, "");
}

PFS_SQL_FUNCTION(do_concat_ws)
{
	if (argc > 0 && !pfs_sql_is_null(argv[0]))
		result_joined(context, argc - 1, argv + 1, pfs_sql_text_of(argv[0]));
}

/* ---- repeated and padded ---- */

#define REPEATED_MAX (1 << 20) /* bytes: a value's limit of the server */

static void result_filled(sqlite3_context *context, const char *front, const char *fill,
			  sqlite3_int64 count, const char *back)
{
	sqlite3_str *text = sqlite3_str_new(NULL);
	sqlite3_str_appendall(text, front);
	for (const char *at = fill; count > 0; count--) {
		const char *next = pfs_sql_behind(at, 1);
		sqlite3_str_append(text, at, (int)(next - at));
		at = *next == '\0' ? fill : next;
	}
	sqlite3_str_appendall(text, back);
	char *whole = sqlite3_str_finish(text);
	sqlite3_result_text(context, whole == NULL ? "" : whole, -1, SQLITE_TRANSIENT);
	sqlite3_free(whole);
}

PFS_SQL_FUNCTION(do_repeat)
{
	const char *text = pfs_sql_text_of(argv[0]);
	sqlite3_int64 count = sqlite3_value_int64(argv[1]), all = pfs_sql_characters(text);
	if (pfs_sql_any_null(argc, argv))
		return;
	if (count > REPEATED_MAX || all * count > REPEATED_MAX)
		pfs_sql_fail(context, "REPEAT: the result is larger than 1 MiB");
	else
		result_filled(context, "", text, count <= 0 ? 0 : all * count, "");
}

static void result_padded(sqlite3_context *context, sqlite3_value **argv, bool is_left)
{
	const char *text = pfs_sql_text_of(argv[0]), *fill = pfs_sql_text_of(argv[2]);
	sqlite3_int64 width = sqlite3_value_int64(argv[1]), all = pfs_sql_characters(text);
	if (width < 0 || (width > all && *fill == '\0'))
		return;
	if (width > REPEATED_MAX)
		pfs_sql_fail(context, "LPAD, RPAD: the result is larger than 1 MiB");
	else if (width <= all)
		pfs_sql_result_part(context, text, pfs_sql_behind(text, width));
	else
		result_filled(context, is_left ? "" : text, fill, width - all, is_left ? text : "");
}

PFS_SQL_FUNCTION(do_lpad)
{
	if (!pfs_sql_any_null(argc, argv))
		result_padded(context, argv, true);
}

PFS_SQL_FUNCTION(do_rpad)
{
	if (!pfs_sql_any_null(argc, argv))
		result_padded(context, argv, false);
}

/* clang-format off */
const struct pfs_sql_function pfs_sql_text_functions[] = {
	{ "left", 2, 2, do_left, false },
	{ "right", 2, 2, do_right, false },
	{ "substr", 2, 3, do_substring, true },
	{ "substring", 2, 3, do_substring, true },
	{ "mid", 2, 3, do_substring, false },
	{ "substring_index", 3, 3, do_substring_index, false },
	{ "locate", 2, 3, do_locate, false },
	{ "instr", 2, 2, do_instr, true },
	{ "length", 1, 1, do_length, true },
	{ "octet_length", 1, 1, do_length, true },
	{ "char_length", 1, 1, do_char_length, false },
	{ "character_length", 1, 1, do_char_length, false },
	{ "concat", -1, -1, do_concat, false },
	{ "concat_ws", -1, -1, do_concat_ws, false },
	{ "repeat", 2, 2, do_repeat, false },
	{ "lpad", 3, 3, do_lpad, false },
	{ "rpad", 3, 3, do_rpad, false },
	{ NULL, 0, 0, NULL, false }
};
/* clang-format on */
