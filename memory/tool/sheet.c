#include "sheet.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

struct value {
	char *text; /* NULL: a number, or no value */
	int64_t number;
	double real;
	bool is_real, is_null, is_blank, is_bound;
};

struct pfs_sheet {
	const char *const *columns;
	size_t column_count;
	struct value *values;
	size_t count, room;
	bool failed;
};

struct pfs_sheet *pfs_sheet_begin(const char *const *columns)
{
	struct pfs_sheet *self = calloc(1, sizeof(*self));
	if (self == NULL)
		return NULL;
	self->columns = columns;
	while (columns[self->column_count] != NULL)
		self->column_count++;
	return self;
}

static struct value *add(struct pfs_sheet *self)
{
	static struct value nowhere;
	if (self->count == self->room) {
		size_t room = self->room == 0 ? 256 : self->room * 2;
		struct value *more = realloc(self->values, room * sizeof(*more));
		if (more == NULL) {
			self->failed = true;
			return &nowhere;
		}
		self->values = more;
		self->room = room;
	}
	self->values[self->count] = (struct value){ .text = NULL };
	return &self->values[self->count++];
}

void pfs_sheet_text(struct pfs_sheet *self, const char *text)
{
	struct value *value = add(self);
	value->is_null = text == NULL;
	value->text = text != NULL ? strdup(text) : NULL;
	self->failed |= text != NULL && value->text == NULL;
}

void pfs_sheet_number(struct pfs_sheet *self, int64_t number)
{
	add(self)->number = number;
}

void pfs_sheet_bound(struct pfs_sheet *self, int64_t number, bool is_exact)
{
	struct value *value = add(self);
	value->number = number;
	value->is_bound = !is_exact;
}

void pfs_sheet_blank(struct pfs_sheet *self)
{
	struct value *value = add(self);
	value->is_null = value->is_blank = true;
}

void pfs_sheet_real(struct pfs_sheet *self, double number)
{
	struct value *value = add(self);
	value->is_real = true;
	value->real = number;
}

/* ---- formats ---- */

static const char *text_of(const struct value *value, char buffer[24])
{
	if (value->is_null)
		return "NULL";
	if (value->text != NULL)
		return value->text;
	if (value->is_real)
		(void)snprintf(buffer, 24, "%.15g", value->real);
	else
		(void)snprintf(buffer, 24, "%" PRId64, value->number);
	return buffer;
}

/* As text_of, with the mark of a bound, and nothing for a blank. */
static const char *shown_of(const struct value *value, char buffer[32])
{
	if (value->is_blank)
		return "";
	if (!value->is_bound)
		return text_of(value, buffer);
	(void)snprintf(buffer, 32, "≤ %" PRId64, value->number);
	return buffer;
}

/* In characters: continuation bytes of UTF-8 do not count. */
static int width_of(const char *text)
{
	int width = 0;
	for (; *text != '\0'; text++)
		width += ((unsigned char)*text & 0xC0) != 0x80;
	return width;
}

static void put_padded(const char *text, int width, bool right, bool last)
{
	int pad = width - width_of(text);
	(void)printf("%*s%s%*s%s", right ? pad : 0, "", text, right || last ? 0 : pad, "",
		     last ? "\n" : "  ");
}

static bool put_text(const struct pfs_sheet *self)
{
	size_t columns = self->column_count;
	int *widths = calloc(columns + 1, sizeof(*widths));
	char buffer[32];
	if (widths == NULL)
		return false;
	for (size_t i = 0; i < columns; i++)
		widths[i] = width_of(self->columns[i]);
	for (size_t i = 0; i < self->count; i++) {
		int width = width_of(shown_of(&self->values[i], buffer));
		if (width > widths[i % columns])
			widths[i % columns] = width;
	}
	for (size_t i = 0; i < columns; i++) {
		bool right = self->count > i && self->values[i].text == NULL;
		put_padded(self->columns[i], widths[i], right, i + 1 == columns);
	}
	for (size_t i = 0; i < self->count; i++) {
		const struct value *value = &self->values[i];
		put_padded(shown_of(value, buffer), widths[i % columns],
			   value->text == NULL && !value->is_null, (i + 1) % columns == 0);
	}
	free(widths);
	return true;
}

static void put_quoted(const char *text)
{
	if (strpbrk(text, ",\"\r\n") == NULL) {
		(void)fputs(text, stdout);
		return;
	}
	(void)putchar('"');
	for (; *text != '\0'; text++) {
		if (*text == '"')
			(void)putchar('"');
		(void)putchar(*text);
	}
	(void)putchar('"');
}

/* The names of the columns, then the values; null: what stands for SQL's NULL. */
static bool put_lines(const struct pfs_sheet *self, void (*put)(const char *text), char between,
		      const char *end, const char *null)
{
	char buffer[24];
	for (size_t i = 0; i < self->column_count + self->count; i++) {
		bool is_name = i < self->column_count;
		const struct value *value = &self->values[is_name ? 0 : i - self->column_count];
		put(is_name ? self->columns[i] : value->is_null ? null : text_of(value, buffer));
		if ((i + 1) % self->column_count == 0)
			(void)fputs(end, stdout);
		else
			(void)putchar(between);
	}
	return true;
}

static bool put_csv(const struct pfs_sheet *self)
{
	return put_lines(self, put_quoted, ',', "\r\n", "");
}

static bool put_json(const struct pfs_sheet *self)
{
	struct pfs_json json = { .out = stdout };
	pfs_json_array(&json, NULL);
	pfs_json_lines(&json);
	for (size_t i = 0; i < self->count; i++) {
		const struct value *value = &self->values[i];
		const char *column = self->columns[i % self->column_count];
		if (i % self->column_count == 0)
			pfs_json_object(&json, NULL);
		if (value->is_real)
			pfs_json_real(&json, column, 17, value->real);
		else if (value->is_null || value->text != NULL)
			pfs_json_text(&json, column, value->text);
		else
			pfs_json_integer(&json, column, value->number);
		if ((i + 1) % self->column_count == 0)
			pfs_json_end(&json);
	}
	pfs_json_end(&json);
	return true;
}

static void put_escaped(const char *text)
{
	static const char from[] = "\t\n\r\\", to[] = "tnr\\";
	for (; *text != '\0'; text++) {
		const char *at = strchr(from, *text);
		if (at != NULL)
			(void)putchar('\\');
		(void)putchar(at != NULL ? to[at - from] : *text);
	}
}

static bool put_tab(const struct pfs_sheet *self)
{
	return put_lines(self, put_escaped, '\t', "\n", "NULL");
}

void pfs_sheet_drop(struct pfs_sheet *self)
{
	for (size_t i = 0; i < self->count; i++)
		free(self->values[i].text);
	free(self->values);
	free(self);
}

bool pfs_sheet_end(struct pfs_sheet *self, enum pfs_format format)
{
	static bool (*const puts[PFS_FORMATS])(const struct pfs_sheet *) = { put_text, put_csv,
									     put_json, put_tab };
	bool fine = !self->failed && puts[format](self);
	pfs_sheet_drop(self);
	return fine && fflush(stdout) == 0 && ferror(stdout) == 0;
}
