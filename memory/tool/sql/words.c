/*
 * words.c - the words of a query, in MySQL's dialect or in SQLite's.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "sql.h"
#include "words.h"

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80) != 0;
}

static const char *behind_line(const char *text)
{
	return text + strcspn(text, "\n");
}

static bool is_line_comment(const char *text, enum pfs_dialect dialect)
{
	if (dialect == PFS_DIALECT_SQLITE)
		return strncmp(text, "--", 2) == 0;
	return *text == '#' || (strncmp(text, "--", 2) == 0 &&
				(text[2] == '\0' || isspace((unsigned char)text[2])));
}

/* Behind spaces and comments. */
static const char *behind_spaces(const char *text, enum pfs_dialect dialect)
{
	for (;;) {
		const char *before = text;
		text += strspn(text, " \t\r\n\f\v");
		if (is_line_comment(text, dialect)) {
			text = behind_line(text);
		} else if (strncmp(text, "/*", 2) == 0) {
			const char *end = strstr(text + 2, "*/");
			text = end == NULL ? text + strlen(text) : end + 2;
		}
		if (text == before)
			return text;
	}
}

/* Behind the quote that ends what begins here. A doubled one does not, nor, in MySQL's strings, one
 * behind a backslash. */
static const char *behind_quoted(const char *text, enum pfs_dialect dialect)
{
	char quote = *text++;
	bool has_escapes = dialect == PFS_DIALECT_MYSQL && quote != '`';
	while (*text != '\0') {
		if (*text == '\\' && has_escapes && text[1] != '\0')
			text += 2;
		else if (*text == quote && text[1] == quote)
			text += 2;
		else if (*text++ == quote)
			break;
	}
	return text;
}

/* Behind 12, 1.5, .5, 1e-5; text itself if no number begins there. */
static const char *behind_number(const char *text)
{
	const char *end = text + strspn(text, "0123456789");
	size_t digits = (size_t)(end - text);
	if (*end == '.') {
		size_t fraction = strspn(end + 1, "0123456789");
		if (digits + fraction == 0)
			return text;
		end += 1 + fraction;
	} else if (digits == 0) {
		return text;
	}
	if (*end == 'e' || *end == 'E') {
		const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');
		if (isdigit((unsigned char)*exponent))
			end = exponent + strspn(exponent, "0123456789");
	}
	while (is_name(*end))
		end++;
	return end;
}

static char quoted_kind(char quote, enum pfs_dialect dialect)
{
	if (quote == '\'' || (quote == '"' && dialect == PFS_DIALECT_MYSQL))
		return 's';
	return 'q';
}

struct pfs_word pfs_word_next_in(const char **at, enum pfs_dialect dialect)
{
	const char *text = behind_spaces(*at, dialect), *end = text;
	char kind = 'p';
	if (*text == '\0') {
		kind = 0;
	} else if (*text == '\'' || *text == '"' || *text == '`') {
		kind = quoted_kind(*text, dialect);
		end = behind_quoted(text, dialect);
	} else if (behind_number(text) != text) {
		kind = 'n';
		end = behind_number(text);
	} else if (is_name(*text)) {
		kind = 'w';
		while (is_name(*end))
			end++;
	} else if (strncmp(text, "@@", 2) == 0) {
		kind = '@';
		end += 2;
		while (is_name(*end) || *end == '.')
			end++;
	} else {
		end++;
	}
	*at = end;
	return (struct pfs_word){ text, (size_t)(end - text), kind };
}

struct pfs_word pfs_word_next(const char **at)
{
	return pfs_word_next_in(at, PFS_DIALECT_MYSQL);
}

bool pfs_word_is(struct pfs_word word, const char *text)
{
	return word.kind != 's' && strlen(text) == word.bytes &&
	       strncasecmp(word.text, text, word.bytes) == 0;
}

static char escaped(char c)
{
	static const char from[] = "ntr0bZ", to[] = "\n\t\r\0\b\x1a";
	const char *at = c == '\0' ? NULL : strchr(from, c);
	return at == NULL ? c : to[at - from];
}

char *pfs_word_text(struct pfs_word word)
{
	char *text = sqlite3_malloc((int)word.bytes + 1);
	size_t bytes = 0;
	bool is_quoted = word.kind == 's' || word.kind == 'q';
	if (text == NULL)
		return NULL;
	for (size_t i = is_quoted ? 1 : 0; i + (is_quoted ? 1 : 0) < word.bytes; i++) {
		char c = word.text[i], next = word.text[i + 1];
		if (word.kind == 's' && c == '\\' && i + 2 < word.bytes) {
			i++;
			/* LIKE's own escapes stay. */
			if (next == '%' || next == '_')
				text[bytes++] = '\\';
			c = escaped(next);
		} else if (is_quoted && c == word.text[0] && next == c) {
			i++;
		}
		text[bytes++] = c;
	}
	text[bytes] = '\0';
	return text;
}
