/*
 * json.c - see json.h.
 */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/utf8.h"

static uint64_t bit_of(unsigned depth)
{
	return UINT64_C(1) << (depth - 1);
}

static void put_string(const struct pfs_json *self, const char *text, size_t length)
{
	(void)fputc('"', self->out);
	for (size_t i = 0; i < length;) {
		size_t bytes = pfs_utf8_bytes(text + i, length - i);
		char c = text[i];
		if (bytes == 0)
			(void)fputc('?', self->out);
		else if ((unsigned char)c < ' ' ||
			 (self->is_in_html && (c == '<' || c == '>' || c == '&')))
			(void)fprintf(self->out, "\\u%04x", (unsigned)c);
		else if (c == '"' || c == '\\')
			(void)fprintf(self->out, "\\%c", c);
		else
			(void)fwrite(text + i, 1, bytes, self->out);
		i += bytes != 0 ? bytes : 1;
	}
	(void)fputc('"', self->out);
}

static void put_line(const struct pfs_json *self)
{
	(void)fprintf(self->out, "\n%*s", self->is_compact ? 0 : (int)self->depth, "");
}

/* What precedes a value. */
static void begin_item(struct pfs_json *self, const char *key)
{
	assert((key == NULL) == (self->depth == 0 || (self->is_array & bit_of(self->depth)) != 0));
	bool has_line = self->depth != 0 && (self->lines & bit_of(self->depth)) != 0;
	if (self->has_item)
		(void)fputs(self->is_compact || has_line ? "," : ", ", self->out);
	if (has_line)
		put_line(self);
	self->has_item = true;
	if (key != NULL) {
		put_string(self, key, strlen(key));
		(void)fputs(self->is_compact ? ":" : ": ", self->out);
	}
}

static void begin(struct pfs_json *self, const char *key, bool is_array)
{
	begin_item(self, key);
	assert(self->depth < PFS_JSON_DEPTH_MAX);
	(void)fputc(is_array ? '[' : '{', self->out);
	uint64_t bit = bit_of(++self->depth);
	self->is_array = is_array ? self->is_array | bit : self->is_array & ~bit;
	self->lines &= ~bit;
	self->has_item = false;
}

void pfs_json_object(struct pfs_json *self, const char *key)
{
	begin(self, key, false);
}

void pfs_json_array(struct pfs_json *self, const char *key)
{
	begin(self, key, true);
}

void pfs_json_lines(struct pfs_json *self)
{
	self->lines |= bit_of(self->depth);
}

void pfs_json_end(struct pfs_json *self)
{
	assert(self->depth > 0);
	uint64_t bit = bit_of(self->depth--);
	if (self->has_item && (self->lines & bit) != 0)
		put_line(self);
	(void)fputc((self->is_array & bit) != 0 ? ']' : '}', self->out);
	self->has_item = self->depth != 0;
	if (self->depth == 0)
		(void)fputc('\n', self->out);
}

void pfs_json_bytes(struct pfs_json *self, const char *key, const char *text, size_t bytes)
{
	begin_item(self, key);
	put_string(self, text, bytes);
}

void pfs_json_text(struct pfs_json *self, const char *key, const char *text)
{
	if (text != NULL)
		pfs_json_bytes(self, key, text, strlen(text));
	else
		pfs_json_null(self, key);
}

void pfs_json_integer(struct pfs_json *self, const char *key, int64_t value)
{
	begin_item(self, key);
	(void)fprintf(self->out, "%" PRId64, value);
}

void pfs_json_count(struct pfs_json *self, const char *key, uint64_t value)
{
	begin_item(self, key);
	(void)fprintf(self->out, "%" PRIu64, value);
}

void pfs_json_real(struct pfs_json *self, const char *key, int digits, double value)
{
	begin_item(self, key);
	(void)fprintf(self->out, isfinite(value) ? "%.*g" : "null", digits, value);
}

void pfs_json_fixed(struct pfs_json *self, const char *key, int decimals, double value)
{
	begin_item(self, key);
	(void)fprintf(self->out, isfinite(value) ? "%.*f" : "null", decimals, value);
}

void pfs_json_bool(struct pfs_json *self, const char *key, bool value)
{
	begin_item(self, key);
	(void)fputs(value ? "true" : "false", self->out);
}

void pfs_json_null(struct pfs_json *self, const char *key)
{
	begin_item(self, key);
	(void)fputs("null", self->out);
}
