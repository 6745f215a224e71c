/*
 * functions_number.c - functions of numbers with MySQL's meaning: those that its manual and its sys
 * schema use for the tables of memory, also where SQLite has another function of that name.
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

#include "functions.h"

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
	pfs_sql_fail(context, line);
}

/* An integer to all its digits, else a double. */
static long double number_of(sqlite3_value *value)
{
	return is_integer(value) ? (long double)sqlite3_value_int64(value)
				 : (long double)sqlite3_value_double(value);
}

PFS_SQL_FUNCTION(do_divide)
{
	if (!pfs_sql_any_null(argc, argv) && number_of(argv[1]) != 0)
		sqlite3_result_double(context, (double)(number_of(argv[0]) / number_of(argv[1])));
}

PFS_SQL_FUNCTION(do_div)
{
	if (pfs_sql_any_null(argc, argv) || number_of(argv[1]) == 0)
		return;
	sqlite3_int64 one = sqlite3_value_int64(argv[0]), other = sqlite3_value_int64(argv[1]);
	if (is_integer(argv[0]) && is_integer(argv[1]) && other != -1)
		sqlite3_result_int64(context, one / other);
	else
		result_integer(context, truncl(number_of(argv[0]) / number_of(argv[1])), "DIV");
}

PFS_SQL_FUNCTION(do_mod)
{
	if (pfs_sql_any_null(argc, argv) || number_of(argv[1]) == 0)
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
	if (pfs_sql_any_null(argc, argv))
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
	if (!pfs_sql_is_null(argv[0]))
		result_integer(context, ceill(number_of(argv[0])), "CEILING");
}

PFS_SQL_FUNCTION(do_floor)
{
	if (!pfs_sql_is_null(argv[0]))
		result_integer(context, floorl(number_of(argv[0])), "FLOOR");
}

PFS_SQL_FUNCTION(do_log)
{
	double base = argc > 1 ? sqlite3_value_double(argv[0]) : M_E;
	double value = sqlite3_value_double(argv[argc - 1]);
	if (!pfs_sql_any_null(argc, argv) && value > 0 && base > 0 && base != 1)
		sqlite3_result_double(context, argc > 1 ? log(value) / log(base) : log(value));
}

/* 12,345.68: with commas, and so many digits behind the point. */
PFS_SQL_FUNCTION(do_format)
{
	char digits[400], text[540];
	sqlite3_int64 places = sqlite3_value_int64(argv[1]);
	if (pfs_sql_any_null(argc, argv))
		return;
	if (sqlite3_value_numeric_type(argv[0]) == SQLITE_TEXT) {
		pfs_sql_fail(context,
			     "FORMAT(X, D): X is not a number; SQLite's format() is printf()");
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
	if (argc == 0 || pfs_sql_any_null(argc, argv))
		return;
	for (int i = 0; i < argc; i++)
		texts += sqlite3_value_type(argv[i]) == SQLITE_TEXT;
	if (texts != 0 && texts != argc) {
		pfs_sql_fail(context, mixed);
		return;
	}
	for (int i = 1; i < argc; i++) {
		long double difference = texts != 0 ? 0
						    : number_of(argv[i]) - number_of(argv[found]);
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
	sqlite3_result_int(context, pfs_sql_is_null(argv[0]));
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
		pfs_sql_fail(context, "CAST AS UNSIGNED: the number is negative");
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
		pfs_sql_fail(context, "CAST AS DECIMAL: the number has more digits than the type");
	else if (places == 0)
		result_integer(context, scaled, "CAST");
	else
		sqlite3_result_double(context, (double)(scaled / by));
}

static void cast_text(sqlite3_context *context, sqlite3_value *value, const char *size)
{
	const char *text = pfs_sql_text_of(value);
	long long count = -1;
	(void)sscanf(size, " ( %lld", &count);
	pfs_sql_result_part(context, text,
			    count < 0 ? text + strlen(text) : pfs_sql_behind(text, count));
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
		pfs_result_text(context, pfs_sql_text_of(value));
	else
		return false;
	return true;
}

PFS_SQL_FUNCTION(do_cast)
{
	const char *type = pfs_sql_text_of(argv[1]), *size;
	char line[96];
	if (pfs_sql_any_null(argc, argv))
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
		pfs_sql_fail(context, line);
	}
}

/* clang-format off */
const struct pfs_sql_function pfs_sql_number_functions[] = {
	{ "mysql_divide", 2, 2, do_divide, false },
	{ "mysql_div", 2, 2, do_div, false },
	{ "mysql_mod", 2, 2, do_mod, false },
	{ "mysql_cast", 2, 2, do_cast, false },
	{ "mod", 2, 2, do_mod, true },
	{ "round", 1, 2, do_round, true },
	{ "truncate", 2, 2, do_truncate, false },
	{ "format", 2, 2, do_format, true },
	{ "ceil", 1, 1, do_ceiling, true },
	{ "ceiling", 1, 1, do_ceiling, true },
	{ "floor", 1, 1, do_floor, true },
	{ "log", 1, 2, do_log, true },
	{ "greatest", -1, -1, do_greatest, false },
	{ "least", -1, -1, do_least, false },
	{ "if", 3, 3, do_if, false },
	{ "isnull", 1, 1, do_isnull, false },
	{ NULL, 0, 0, NULL, false }
};
/* clang-format on */
