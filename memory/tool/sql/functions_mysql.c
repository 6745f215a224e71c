/*
 * functions_mysql.c - functions with MySQL's meaning: those that its manual and its sys schema use
 * for the tables of memory, also where SQLite has another function of that name.
 *
 * A function gives MySQL's number or an error that names it. Exact decimals of MySQL are doubles
 * here, so a quotient has 15 digits and not 4 more than its operands.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "session.h"

static void fail(sqlite3_context *context, const char *line)
{
	sqlite3_result_error(context, line, -1);
}

static bool is_null(sqlite3_value *value)
{
	return sqlite3_value_type(value) == SQLITE_NULL;
}

static bool any_null(int argc, sqlite3_value **argv)
{
	for (int i = 0; i < argc; i++)
		if (is_null(argv[i]))
			return true;
	return false;
}

static bool is_integer(sqlite3_value *value)
{
	return sqlite3_value_numeric_type(value) == SQLITE_INTEGER;
}

/* ---- division ---- */

static void result_integer(sqlite3_context *context, long double value, const char *function)
{
	char line[96];
	if (value >= -0x1p63L && value < 0x1p63L) {
		sqlite3_result_int64(context, (sqlite3_int64)value);
		return;
	}
	(void)snprintf(line, sizeof(line), "%s: BIGINT value is out of range", function);
	fail(context, line);
}

/* An integer to all its digits, else a double. */
static long double number_of(sqlite3_value *value)
{
	return is_integer(value) ? (long double)sqlite3_value_int64(value)
				 : (long double)sqlite3_value_double(value);
}

PFS_SQL_FUNCTION(do_divide)
{
	if (!any_null(argc, argv) && number_of(argv[1]) != 0)
		sqlite3_result_double(context,
				      (double)(number_of(argv[0]) / number_of(argv[1])));
}

PFS_SQL_FUNCTION(do_div)
{
	if (any_null(argc, argv) || number_of(argv[1]) == 0)
		return;
	sqlite3_int64 one = sqlite3_value_int64(argv[0]), other = sqlite3_value_int64(argv[1]);
	if (is_integer(argv[0]) && is_integer(argv[1]) && other != -1)
		sqlite3_result_int64(context, one / other);
	else
		result_integer(context, truncl(number_of(argv[0]) / number_of(argv[1])), "DIV");
}

PFS_SQL_FUNCTION(do_mod)
{
	if (any_null(argc, argv) || number_of(argv[1]) == 0)
		return;
	sqlite3_int64 one = sqlite3_value_int64(argv[0]), other = sqlite3_value_int64(argv[1]);
	if (is_integer(argv[0]) && is_integer(argv[1]))
		sqlite3_result_int64(context, other == -1 ? 0 : one % other);
	else
		sqlite3_result_double(context, fmod(sqlite3_value_double(argv[0]),
						    sqlite3_value_double(argv[1])));
}

/* ---- rounding ---- */

/* So that a decimal as 2.675, which a double cannot be exactly, rounds as a decimal. */
static long double nudged(long double value)
{
	return value + copysignl(fabsl(value) * (DBL_EPSILON / 2), value);
}

static void result_rounded(sqlite3_context *context, int argc, sqlite3_value **argv,
			   long double (*round_off)(long double value), const char *function)
{
	sqlite3_int64 digits = argc > 1 ? sqlite3_value_int64(argv[1]) : 0;
	if (any_null(argc, argv))
		return;
	digits = digits > 30 ? 30 : digits < -30 ? -30 : digits;
	bool is_whole = is_integer(argv[0]);
	if (is_whole && digits >= 0) {
		sqlite3_result_int64(context, sqlite3_value_int64(argv[0]));
		return;
	}
	long double value = number_of(argv[0]), by = powl(10, (long double)llabs(digits));
	if (digits <= 0) {
		value = digits == 0 ? nudged(value) : value / by;
		value = round_off(value) * (digits == 0 ? 1 : by);
		if (is_whole || fabsl(value) < 0x1p63L)
			result_integer(context, value, function);
		else
			sqlite3_result_double(context, (double)value);
	} else if (fabsl(value) * by < 0x1p63L) {
		sqlite3_result_double(context, (double)(round_off(nudged(value * by)) / by));
	} else {
		sqlite3_result_double(context, (double)value); /* it has no such digits */
	}
}

PFS_SQL_FUNCTION(do_round)
{
	result_rounded(context, argc, argv, roundl, "ROUND");
}

PFS_SQL_FUNCTION(do_truncate)
{
	result_rounded(context, argc, argv, truncl, "TRUNCATE");
}

PFS_SQL_FUNCTION(do_ceiling)
{
	if (!is_null(argv[0]))
		result_integer(context, ceill(number_of(argv[0])), "CEILING");
}

PFS_SQL_FUNCTION(do_floor)
{
	if (!is_null(argv[0]))
		result_integer(context, floorl(number_of(argv[0])), "FLOOR");
}

PFS_SQL_FUNCTION(do_log)
{
	double base = argc > 1 ? sqlite3_value_double(argv[0]) : M_E;
	double value = sqlite3_value_double(argv[argc - 1]);
	if (!any_null(argc, argv) && value > 0 && base > 0 && base != 1)
		sqlite3_result_double(context, argc > 1 ? log(value) / log(base) : log(value));
}

/* 12,345.68: with commas, and so many digits behind the point. */
PFS_SQL_FUNCTION(do_format)
{
	char digits[400], text[540];
	sqlite3_int64 places = sqlite3_value_int64(argv[1]);
	if (any_null(argc, argv))
		return;
	if (sqlite3_value_numeric_type(argv[0]) == SQLITE_TEXT) {
		fail(context, "FORMAT(X, D): X is not a number; SQLite's format() is printf()");
		return;
	}
	places = places < 0 ? 0 : places > 30 ? 30 : places;
	long double value = number_of(argv[0]), by = powl(10, (long double)places);
	if (!is_integer(argv[0]) && fabsl(value) * by < 0x1p63L)
		value = roundl(nudged(value * by)) / by;
	(void)snprintf(digits, sizeof(digits), "%.*Lf", (int)places, value);
	size_t whole = strcspn(digits, "."), to = 0;
	for (size_t from = 0; digits[from] != '\0' && to + 2 < sizeof(text); from++) {
		bool is_third = from < whole && (whole - from) % 3 == 0;
		if (is_third && from > 0 && digits[from - 1] != '-')
			text[to++] = ',';
		text[to++] = digits[from];
	}
	text[to] = '\0';
	pfs_result_text(context, text);
}

/* ---- the largest and the smallest ---- */

static void result_extreme(sqlite3_context *context, int argc, sqlite3_value **argv, int sign,
			   const char *mixed)
{
	int found = 0, texts = 0;
	if (argc == 0 || any_null(argc, argv))
		return;
	for (int i = 0; i < argc; i++)
		texts += sqlite3_value_type(argv[i]) == SQLITE_TEXT;
	if (texts != 0 && texts != argc) {
		fail(context, mixed);
		return;
	}
	for (int i = 1; i < argc; i++) {
		long double difference = texts != 0 ? 0 : number_of(argv[i]) - number_of(argv[found]);
		if (texts != 0)
			difference = strcasecmp((const char *)sqlite3_value_text(argv[i]),
						(const char *)sqlite3_value_text(argv[found]));
		if (difference * (long double)sign > 0)
			found = i;
	}
	sqlite3_result_value(context, argv[found]);
}

PFS_SQL_FUNCTION(do_greatest)
{
	result_extreme(context, argc, argv, 1, "GREATEST: numbers and text are mixed: CAST them");
}

PFS_SQL_FUNCTION(do_least)
{
	result_extreme(context, argc, argv, -1, "LEAST: numbers and text are mixed: CAST them");
}

PFS_SQL_FUNCTION(do_if)
{
	sqlite3_result_value(context, sqlite3_value_double(argv[0]) != 0 ? argv[1] : argv[2]);
}

PFS_SQL_FUNCTION(do_isnull)
{
	sqlite3_result_int(context, is_null(argv[0]));
}

/* ---- text, by characters of UTF-8 ---- */

static sqlite3_int64 characters(const char *text)
{
	sqlite3_int64 count = 0;
	for (; *text != '\0'; text++)
		count += (*text & 0xC0) != 0x80;
	return count;
}

/* Behind so many characters, or the end. */
static const char *behind(const char *text, sqlite3_int64 count)
{
	while (*text != '\0' && (count > 0 || (*text & 0xC0) == 0x80))
		count -= (*text++ & 0xC0) != 0x80 && count > 0;
	return text;
}

static const char *text_of(sqlite3_value *value)
{
	const char *text = (const char *)sqlite3_value_text(value);
	return text == NULL ? "" : text;
}

static void result_part(sqlite3_context *context, const char *from, const char *to)
{
	sqlite3_result_text(context, from, (int)(to - from), SQLITE_TRANSIENT);
}

PFS_SQL_FUNCTION(do_left)
{
	const char *text = text_of(argv[0]);
	if (!any_null(argc, argv))
		result_part(context, text, behind(text, sqlite3_value_int64(argv[1])));
}

PFS_SQL_FUNCTION(do_right)
{
	const char *text = text_of(argv[0]);
	sqlite3_int64 count = sqlite3_value_int64(argv[1]);
	if (!any_null(argc, argv))
		result_part(context, behind(text, characters(text) - (count < 0 ? 0 : count)),
			    text + strlen(text));
}

/* From 1 on; negative: from the end; 0: nothing. */
PFS_SQL_FUNCTION(do_substring)
{
	const char *text = text_of(argv[0]);
	sqlite3_int64 at = sqlite3_value_int64(argv[1]), all = characters(text);
	sqlite3_int64 count = argc > 2 ? sqlite3_value_int64(argv[2]) : all;
	if (any_null(argc, argv))
		return;
	at = at < 0 ? all + at : at - 1;
	if (at < 0 || at >= all || count <= 0)
		pfs_result_text(context, "");
	else
		result_part(context, behind(text, at), behind(behind(text, at), count));
}

/* What is in front of the delimiter's count-th occurrence; negative: behind, from the right. */
PFS_SQL_FUNCTION(do_substring_index)
{
	const char *text = text_of(argv[0]), *delimiter = text_of(argv[1]);
	const char *end = text + strlen(text), *at = text;
	sqlite3_int64 count = sqlite3_value_int64(argv[2]), all = 0;
	size_t bytes = strlen(delimiter);
	if (any_null(argc, argv))
		return;
	if (count == 0 || bytes == 0) {
		pfs_result_text(context, "");
		return;
	}
	for (const char *found = text; (found = strstr(found, delimiter)) != NULL; found += bytes)
		all++;
	sqlite3_int64 wanted = count > 0 ? count : all + count + 1;
	if (wanted <= 0 || wanted > all) {
		result_part(context, text, end);
		return;
	}
	for (sqlite3_int64 i = 0; i < wanted; i++)
		at = strstr(at, delimiter) + bytes;
	if (count > 0)
		result_part(context, text, at - bytes);
	else
		result_part(context, at, end);
}

static void result_place(sqlite3_context *context, const char *text, const char *part,
			 sqlite3_int64 from)
{
	size_t bytes = strlen(part);
	if (from < 1 || from > characters(text) + 1) {
		sqlite3_result_int(context, 0);
		return;
	}
	for (const char *at = behind(text, from - 1);; at++) {
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
	if (!any_null(argc, argv))
		result_place(context, text_of(argv[1]), text_of(argv[0]),
			     argc > 2 ? sqlite3_value_int64(argv[2]) : 1);
}

PFS_SQL_FUNCTION(do_instr)
{
	if (!any_null(argc, argv))
		result_place(context, text_of(argv[0]), text_of(argv[1]), 1);
}

PFS_SQL_FUNCTION(do_length)
{
	if (!is_null(argv[0]))
		sqlite3_result_int(context, sqlite3_value_bytes(argv[0]));
}

PFS_SQL_FUNCTION(do_char_length)
{
	if (!is_null(argv[0]))
		sqlite3_result_int64(context, characters(text_of(argv[0])));
}

static void result_joined(sqlite3_context *context, int argc, sqlite3_value **argv,
			  const char *between)
{
	sqlite3_str *text = sqlite3_str_new(NULL);
	bool is_first = true;
	for (int i = 0; i < argc; i++) {
		if (is_null(argv[i]))
			continue;
		sqlite3_str_appendall(text, is_first ? "" : between);
		sqlite3_str_appendall(text, text_of(argv[i]));
		is_first = false;
	}
	char *whole = sqlite3_str_finish(text);
	sqlite3_result_text(context, whole == NULL ? "" : whole, -1, SQLITE_TRANSIENT);
	sqlite3_free(whole);
}

PFS_SQL_FUNCTION(do_concat)
{
	if (!any_null(argc, argv))
		result_joined(context, argc, argv, "");
}

PFS_SQL_FUNCTION(do_concat_ws)
{
	if (argc > 0 && !is_null(argv[0]))
		result_joined(context, argc - 1, argv + 1, text_of(argv[0]));
}

/* ---- repeated and padded ---- */

#define REPEATED_MAX (1 << 20) /* bytes: a value's limit of the server */

static void result_filled(sqlite3_context *context, const char *front, const char *fill,
			  sqlite3_int64 count, const char *back)
{
	sqlite3_str *text = sqlite3_str_new(NULL);
	sqlite3_str_appendall(text, front);
	for (const char *at = fill; count > 0; count--) {
		const char *next = behind(at, 1);
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
	const char *text = text_of(argv[0]);
	sqlite3_int64 count = sqlite3_value_int64(argv[1]), all = characters(text);
	if (any_null(argc, argv))
		return;
	if (count > REPEATED_MAX || all * count > REPEATED_MAX)
		fail(context, "REPEAT: the result is larger than 1 MiB");
	else
		result_filled(context, "", text, count <= 0 ? 0 : all * count, "");
}

static void result_padded(sqlite3_context *context, sqlite3_value **argv, bool is_left)
{
	const char *text = text_of(argv[0]), *fill = text_of(argv[2]);
	sqlite3_int64 width = sqlite3_value_int64(argv[1]), all = characters(text);
	if (width < 0 || (width > all && *fill == '\0'))
		return;
	if (width > REPEATED_MAX)
		fail(context, "LPAD, RPAD: the result is larger than 1 MiB");
	else if (width <= all)
		result_part(context, text, behind(text, width));
	else
		result_filled(context, is_left ? "" : text, fill, width - all,
			      is_left ? text : "");
}

PFS_SQL_FUNCTION(do_lpad)
{
	if (!any_null(argc, argv))
		result_padded(context, argv, true);
}

PFS_SQL_FUNCTION(do_rpad)
{
	if (!any_null(argc, argv))
		result_padded(context, argv, false);
}

/* ---- CAST ---- */

static void cast_integer(sqlite3_context *context, sqlite3_value *value, bool is_unsigned)
{
	bool is_text = sqlite3_value_type(value) == SQLITE_TEXT;
	sqlite3_int64 number = sqlite3_value_int64(value);
	long double rounded = is_text ? (long double)number
				      : roundl(nudged((long double)sqlite3_value_double(value)));
	if (is_integer(value))
		rounded = (long double)number;
	if (is_unsigned && rounded < 0)
		fail(context, "CAST AS UNSIGNED: the number is negative");
	else
		result_integer(context, rounded, "CAST");
}

static void cast_decimal(sqlite3_context *context, sqlite3_value *value, const char *size)
{
	int digits = 10, places = 0;
	(void)sscanf(size, " ( %d , %d", &digits, &places);
	places = places < 0 ? 0 : places > 30 ? 30 : places;
	long double by = powl(10, places), number = number_of(value);
	long double scaled = roundl(nudged(number * by));
	if (fabsl(scaled) >= powl(10, digits) || fabsl(scaled) >= 0x1p63L)
		fail(context, "CAST AS DECIMAL: the number has more digits than the type");
	else if (places == 0)
		result_integer(context, scaled, "CAST");
	else
		sqlite3_result_double(context, (double)(scaled / by));
}

static void cast_text(sqlite3_context *context, sqlite3_value *value, const char *size)
{
	const char *text = text_of(value);
	long long count = -1;
	(void)sscanf(size, " ( %lld", &count);
	result_part(context, text, count < 0 ? text + strlen(text) : behind(text, count));
}

/* Behind the word that type begins with; NULL: it begins with another. */
static const char *behind_word(const char *type, const char *word)
{
	size_t bytes = strlen(word);
	return strncasecmp(type, word, bytes) == 0 && (type[bytes] == ' ' || type[bytes] == '\0')
		       ? type + bytes
		       : NULL;
}

/* The types of SQLite. False: it is another. */
static bool cast_sqlite(sqlite3_context *context, sqlite3_value *value, const char *type)
{
	if (behind_word(type, "integer") != NULL || behind_word(type, "int") != NULL)
		sqlite3_result_int64(context, sqlite3_value_int64(value));
	else if (behind_word(type, "text") != NULL)
		pfs_result_text(context, text_of(value));
	else
		return false;
	return true;
}

PFS_SQL_FUNCTION(do_cast)
{
	const char *type = text_of(argv[1]), *size;
	char line[96];
	if (any_null(argc, argv))
		return;
	if (behind_word(type, "signed") != NULL || behind_word(type, "unsigned") != NULL)
		cast_integer(context, argv[0], *type == 'u' || *type == 'U');
	else if ((size = behind_word(type, "decimal")) != NULL ||
		 (size = behind_word(type, "dec")) != NULL)
		cast_decimal(context, argv[0], size);
	else if ((size = behind_word(type, "char")) != NULL ||
		 (size = behind_word(type, "nchar")) != NULL)
		cast_text(context, argv[0], size);
	else if (behind_word(type, "double") != NULL || behind_word(type, "real") != NULL ||
		 behind_word(type, "float") != NULL)
		sqlite3_result_double(context, sqlite3_value_double(argv[0]));
	else if (!cast_sqlite(context, argv[0], type)) {
		(void)snprintf(line, sizeof(line), "CAST AS %.60s is not supported", type);
		fail(context, line);
	}
}

/* clang-format off */
const struct pfs_sql_function pfs_sql_mysql_functions[] = {
	{ "mysql_divide", 2, 2, do_divide, false },	{ "mysql_div", 2, 2, do_div, false },
	{ "mysql_mod", 2, 2, do_mod, false },		{ "mysql_cast", 2, 2, do_cast, false },
	{ "mod", 2, 2, do_mod, true },			{ "round", 1, 2, do_round, true },
	{ "truncate", 2, 2, do_truncate, false },	{ "format", 2, 2, do_format, true },
	{ "ceil", 1, 1, do_ceiling, true },		{ "ceiling", 1, 1, do_ceiling, true },
	{ "floor", 1, 1, do_floor, true },		{ "log", 1, 2, do_log, true },
	{ "greatest", -1, -1, do_greatest, false },	{ "least", -1, -1, do_least, false },
	{ "if", 3, 3, do_if, false },			{ "isnull", 1, 1, do_isnull, false },
	{ "left", 2, 2, do_left, false },		{ "right", 2, 2, do_right, false },
	{ "substr", 2, 3, do_substring, true },		{ "substring", 2, 3, do_substring, true },
	{ "mid", 2, 3, do_substring, false },
	{ "substring_index", 3, 3, do_substring_index, false },
	{ "locate", 2, 3, do_locate, false },		{ "instr", 2, 2, do_instr, true },
	{ "length", 1, 1, do_length, true },		{ "octet_length", 1, 1, do_length, true },
	{ "char_length", 1, 1, do_char_length, false },
	{ "character_length", 1, 1, do_char_length, false },
	{ "concat", -1, -1, do_concat, false },		{ "concat_ws", -1, -1, do_concat_ws, false },
	{ "repeat", 2, 2, do_repeat, false },		{ "lpad", 3, 3, do_lpad, false },
	{ "rpad", 3, 3, do_rpad, false },
	{ NULL, 0, 0, NULL, false }
};
/* clang-format on */
