/*
 * prepared.c - prepared statements: COM_STMT_PREPARE, EXECUTE, RESET, CLOSE, and rows in binary.
 *
 * Parameters are values of SQLite's. There are no cursors: all rows come with EXECUTE, which the
 * protocol allows a server; parts of values that are sent ahead (SEND_LONG_DATA) are refused at
 * EXECUTE, because SEND_LONG_DATA has no answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mysql.h"

enum {
	TINY = 1,
	SHORT,
	LONG,
	FLOAT,
	DOUBLE,
	NOTHING,
	TIMESTAMP,
	LONGLONG,
	INT24,
	DATE,
	TIME,
	DATETIME,
	YEAR
};
#define UNSIGNED 0x80u

struct pfs_prepared {
	struct pfs_prepared *next;
	uint32_t id;
	sqlite3_stmt *statement; /* NULL: SET, BEGIN and the like: nothing to do */
	unsigned parameters;
	uint8_t *types; /* two bytes each: as the client said last; NULL: not yet */
	bool has_long_data;
};

/* ---- which there are ---- */

static struct pfs_prepared *find(struct pfs_mysql *self)
{
	uint64_t id = self->in_bytes < 5 ? 0 : pfs_mysql_little(self->in + 1, 4);
	struct pfs_prepared *one = self->prepared;
	while (one != NULL && (one->id != id || self->in_bytes < 5))
		one = one->next;
	return one;
}

static void drop(struct pfs_prepared *one)
{
	(void)sqlite3_finalize(one->statement);
	free(one->types);
	free(one);
}

void pfs_mysql_forget(struct pfs_mysql *self)
{
	while (self->prepared != NULL) {
		struct pfs_prepared *one = self->prepared;
		self->prepared = one->next;
		drop(one);
	}
	self->prepared_count = 0;
}

static void refuse_unknown(struct pfs_mysql *self, const char *what)
{
	pfs_mysql_error(self, 1243, "HY000", "Unknown prepared statement handler given to %s",
			what);
}

/* ---- PREPARE ---- */

/* Of what SQLite does not see. */
static unsigned count_marks(const char *at)
{
	unsigned count = 0;
	for (struct pfs_word word = pfs_word_next(&at); word.kind != 0; word = pfs_word_next(&at))
		count += word.kind == 'p' && word.text[0] == '?';
	return count < UINT16_MAX ? count : UINT16_MAX;
}

/* Only '?' is a parameter; SQLite knows others by names. NULL stays the value of @x. */
static bool count_parameters(struct pfs_mysql *self, struct pfs_prepared *one)
{
	int count = sqlite3_bind_parameter_count(one->statement);
	for (int i = 1; i <= count; i++) {
		const char *name = sqlite3_bind_parameter_name(one->statement, i);
		one->parameters += name == NULL;
		if (name != NULL && name[0] != '@') {
			pfs_mysql_error(self, 1064, "42000",
					"You have an error in your SQL syntax near '%.80s'", name);
			return false;
		}
	}
	return true;
}

static void put_parameter(struct pfs_mysql *self)
{
	pfs_mysql_begin(self);
	pfs_mysql_put_text(self, "def");
	for (int i = 0; i < 3; i++)
		pfs_mysql_put_text(self, "");
	pfs_mysql_put_text(self, "?");
	pfs_mysql_put_text(self, "");
	pfs_mysql_put_number(self, 0x3F0C, 3); /* charset binary */
	pfs_mysql_put_number(self, 0, 4);
	pfs_mysql_put_number(self, 253, 1);
	pfs_mysql_put_number(self, 0, 5);
	pfs_mysql_end(self);
}

static void say_prepared(struct pfs_mysql *self, const struct pfs_prepared *one)
{
	unsigned columns = (unsigned)sqlite3_column_count(one->statement);
	pfs_mysql_begin(self);
	pfs_mysql_put_number(self, 0, 1);
	pfs_mysql_put_number(self, one->id, 4);
	pfs_mysql_put_number(self, columns, 2);
	pfs_mysql_put_number(self, one->parameters, 2);
	pfs_mysql_put_number(self, 0, 3); /* no warnings */
	pfs_mysql_end(self);
	for (unsigned i = 0; i < one->parameters; i++)
		put_parameter(self);
	if (one->parameters > 0)
		pfs_mysql_eof(self);
	if (columns > 0)
		pfs_mysql_columns(self, one->statement, false);
}

/* What is answered without SQLite: only where the answer would be OK is there something to keep. */
static bool is_settled(struct pfs_mysql *self, size_t answer)
{
	bool fine = self->out_bytes >= answer + 5 && self->out[answer + 4] == 0;
	if (fine) {
		self->out_bytes = answer;
		self->sequence--;
	}
	return fine;
}

void pfs_mysql_stmt_prepare(struct pfs_mysql *self, const char *text)
{
	const char *at = text;
	size_t answer = self->out_bytes;
	if (pfs_word_is(pfs_word_next(&at), "use")) {
		pfs_mysql_error(self, 1295, "HY000",
				"This command is not supported in the "
				"prepared statement protocol yet");
		return;
	}
	if (self->prepared_count >= PFS_MYSQL_PREPARED_MAX) {
		pfs_mysql_error(self, 1461, "42000",
				"Can't create more than "
				"max_prepared_stmt_count statements (current value: %u)",
				PFS_MYSQL_PREPARED_MAX);
		return;
	}
	sqlite3_stmt *statement = pfs_mysql_compile(self, text);
	if (statement == NULL && !is_settled(self, answer))
		return;
	struct pfs_prepared *one = calloc(1, sizeof(*one));
	if (one == NULL) {
		(void)sqlite3_finalize(statement);
		pfs_mysql_error(self, 1041, "HY000", "Out of memory");
		return;
	}
	one->statement = statement;
	one->id = ++self->last_prepared;
	if (statement == NULL)
		one->parameters = count_marks(text);
	if (!count_parameters(self, one)) {
		drop(one);
		return;
	}
	one->next = self->prepared;
	self->prepared = one;
	self->prepared_count++;
	say_prepared(self, one);
}

/* ---- EXECUTE: the values ---- */

/* What is left of the packet. */
struct rest {
	const uint8_t *at, *end;
	bool is_short;
};

static const uint8_t *take(struct rest *rest, uint64_t bytes)
{
	const uint8_t *at = rest->at;
	if ((uint64_t)(rest->end - rest->at) < bytes) {
		rest->is_short = true;
		return NULL;
	}
	rest->at += bytes;
	return at;
}

static uint64_t take_number(struct rest *rest, unsigned bytes)
{
	const uint8_t *at = take(rest, bytes);
	return at == NULL ? 0 : pfs_mysql_little(at, bytes);
}

static uint64_t take_length(struct rest *rest)
{
	uint64_t first = take_number(rest, 1);
	return first < 0xFB    ? first
	       : first == 0xFC ? take_number(rest, 2)
	       : first == 0xFD ? take_number(rest, 3)
	       : first == 0xFE ? take_number(rest, 8)
			       : UINT64_MAX; /* longer than any packet, so it is refused as short */
}

static int bind_integer(sqlite3_stmt *statement, int i, struct rest *rest, unsigned bytes,
			bool is_unsigned)
{
	uint64_t value = take_number(rest, bytes), sign = UINT64_C(1) << (bytes * 8 - 1);
	if (!is_unsigned && bytes < 8 && (value & sign) != 0)
		value |= ~(sign * 2 - 1);
	if (is_unsigned && value > INT64_MAX)
		return sqlite3_bind_double(statement, i, (double)value);
	return sqlite3_bind_int64(statement, i, (int64_t)value);
}

static int bind_float(sqlite3_stmt *statement, int i, struct rest *rest, unsigned bytes)
{
	uint64_t bits = take_number(rest, bytes);
	uint32_t low = (uint32_t)bits;
	double value;
	float half;
	memcpy(&value, &bits, sizeof(value));
	memcpy(&half, &low, sizeof(half));
	return sqlite3_bind_double(statement, i, bytes == 4 ? (double)half : value);
}

/* As text: "2026-01-31 12:00:00.000001"; what is left out is 0. */
static int bind_date(sqlite3_stmt *statement, int i, struct rest *rest, bool is_date)
{
	uint64_t left = take_number(rest, 1), part[7] = { 0 };
	static const unsigned bytes[] = { 2, 1, 1, 1, 1, 1, 4 };
	char text[64];
	if (left != 0 && left != 4 && left != 7 && left != 11)
		rest->is_short = true;
	for (size_t k = 0; k < 7 && left > 0 && !rest->is_short; left -= bytes[k], k++)
		part[k] = take_number(rest, bytes[k]);
	int length = snprintf(text, sizeof(text), "%04u-%02u-%02u", (unsigned)part[0],
			      (unsigned)part[1], (unsigned)part[2]);
	if (!is_date)
		length += snprintf(text + length, sizeof(text) - (size_t)length, " %02u:%02u:%02u",
				   (unsigned)part[3], (unsigned)part[4], (unsigned)part[5]);
	if (part[6] != 0)
		(void)snprintf(text + length, sizeof(text) - (size_t)length, ".%06u",
			       (unsigned)part[6]);
	return sqlite3_bind_text(statement, i, text, -1, SQLITE_TRANSIENT);
}

/* "-25:00:01": a time that may be more than a day. */
static int bind_time(sqlite3_stmt *statement, int i, struct rest *rest)
{
	uint64_t left = take_number(rest, 1), is_negative = 0, days = 0, part[3] = { 0 };
	char text[64];
	if (left != 0 && left != 8 && left != 12)
		rest->is_short = true;
	if (left > 0) {
		is_negative = take_number(rest, 1);
		days = take_number(rest, 4);
		for (size_t k = 0; k < 3; k++)
			part[k] = take_number(rest, 1);
	}
	if (left == 12)
		(void)take_number(rest, 4);
	(void)snprintf(text, sizeof(text), "%s%02llu:%02u:%02u", is_negative != 0 ? "-" : "",
		       (unsigned long long)(days * 24 + part[0]), (unsigned)part[1],
		       (unsigned)part[2]);
	return sqlite3_bind_text(statement, i, text, -1, SQLITE_TRANSIENT);
}

static int bind_text(sqlite3_stmt *statement, int i, struct rest *rest)
{
	uint64_t bytes = take_length(rest);
	const uint8_t *text = take(rest, bytes);
	if (text == NULL)
		return SQLITE_OK; /* is_short says it */
	return sqlite3_bind_text(statement, i, (const char *)text, (int)bytes, SQLITE_TRANSIENT);
}

static int bind_value(sqlite3_stmt *statement, int i, struct rest *rest, const uint8_t *type)
{
	bool is_unsigned = (type[1] & UNSIGNED) != 0;
	switch (type[0]) {
	case NOTHING: return sqlite3_bind_null(statement, i);
	case TINY: return bind_integer(statement, i, rest, 1, is_unsigned);
	case SHORT:
	case YEAR: return bind_integer(statement, i, rest, 2, is_unsigned);
	case LONG:
	case INT24: return bind_integer(statement, i, rest, 4, is_unsigned);
	case LONGLONG: return bind_integer(statement, i, rest, 8, is_unsigned);
	case FLOAT: return bind_float(statement, i, rest, 4);
	case DOUBLE: return bind_float(statement, i, rest, 8);
	case DATE:
	case DATETIME:
	case TIMESTAMP: return bind_date(statement, i, rest, type[0] == DATE);
	case TIME: return bind_time(statement, i, rest);
	default: return bind_text(statement, i, rest);
	}
}

/* The types stay until an EXECUTE gives others. */
static bool take_types(struct pfs_prepared *one, struct rest *rest)
{
	const uint8_t *types;
	size_t bytes = (size_t)one->parameters * 2;
	if (take_number(rest, 1) != 1)
		return one->types != NULL;
	types = take(rest, bytes);
	if (types == NULL)
		return false;
	free(one->types);
	one->types = malloc(bytes);
	if (one->types != NULL)
		memcpy(one->types, types, bytes);
	return one->types != NULL;
}

static bool bind_all(struct pfs_prepared *one, struct rest *rest)
{
	const uint8_t *nulls = take(rest, (one->parameters + 7) / 8);
	int count = sqlite3_bind_parameter_count(one->statement), code = SQLITE_OK;
	unsigned k = 0;
	if (one->parameters == 0)
		return true;
	if (nulls == NULL || !take_types(one, rest))
		return false;
	for (int i = 1; i <= count && code == SQLITE_OK && !rest->is_short; i++) {
		if (sqlite3_bind_parameter_name(one->statement, i) != NULL)
			continue;
		if ((nulls[k / 8] >> k % 8 & 1) != 0)
			code = sqlite3_bind_null(one->statement, i);
		else
			code = bind_value(one->statement, i, rest, one->types + 2 * (size_t)k);
		k++;
	}
	return code == SQLITE_OK && !rest->is_short;
}

void pfs_mysql_stmt_execute(struct pfs_mysql *self)
{
	struct pfs_prepared *one = find(self);
	struct rest rest = { self->in, self->in + self->in_bytes, false };
	if (one == NULL) {
		refuse_unknown(self, "mysqld_stmt_execute");
	} else if (take(&rest, 10) == NULL) { /* the command, the number, flags, a count */
		pfs_mysql_error(self, 1835, "HY000", "Malformed communication packet");
	} else if (one->has_long_data) {
		pfs_mysql_error(self, 1235, "42000",
				"This version of MySQL doesn't yet support "
				"'values that are sent in parts'");
		one->has_long_data = false;
	} else if (one->statement == NULL) {
		pfs_mysql_ok(self, 0);
	} else if (!bind_all(one, &rest)) {
		pfs_mysql_error(self, 1210, "HY000", "Incorrect arguments to mysqld_stmt_execute");
	} else {
		pfs_mysql_answer(self, one->statement, true);
		(void)sqlite3_reset(one->statement);
	}
}

/* ---- RESET, CLOSE, SEND_LONG_DATA ---- */

void pfs_mysql_stmt_reset(struct pfs_mysql *self)
{
	struct pfs_prepared *one = find(self);
	if (one == NULL) {
		refuse_unknown(self, "mysqld_stmt_reset");
		return;
	}
	one->has_long_data = false;
	pfs_mysql_ok(self, 0);
}

void pfs_mysql_stmt_close(struct pfs_mysql *self)
{
	struct pfs_prepared *one = find(self), **at = &self->prepared;
	if (one == NULL)
		return;
	while (*at != one)
		at = &(*at)->next;
	*at = one->next;
	self->prepared_count--;
	drop(one);
}

void pfs_mysql_stmt_long_data(struct pfs_mysql *self)
{
	struct pfs_prepared *one = find(self);
	if (one != NULL)
		one->has_long_data = true;
}
