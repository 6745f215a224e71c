/*
 * words.c - the words of a query of MySQL's.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "mysql.h"

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80) != 0;
}

static const char *behind_line(const char *text)
{
	return text + strcspn(text, "\n");
}

/* Behind spaces and comments. */
static const char *behind_spaces(const char *text)
{
	for (;;) {
		const char *before = text;
		text += strspn(text, " \t\r\n\f\v");
		if (*text == '#' || (strncmp(text, "--", 2) == 0 &&
				     (text[2] == '\0' || isspace((unsigned char)text[2])))) {
			text = behind_line(text);
		} else if (strncmp(text, "/*", 2) == 0) {
			const char *end = strstr(text + 2, "*/");
			text = end == NULL ? text + strlen(text) : end + 2;
		}
		if (text == before)
			return text;
	}
}

/* Behind the quote that ends what begins here; a doubled one does not, nor one behind '\'. */
static const char *behind_quoted(const char *text)
{
	char quote = *text++;
	while (*text != '\0') {
		if (*text == '\\' && quote != '`' && text[1] != '\0')
			text += 2;
		else if (*text == quote && text[1] == quote)
			text += 2;
		else if (*text++ == quote)
			break;
	}
	return text;
}

struct pfs_word pfs_word_next(const char **at)
{
	const char *text = behind_spaces(*at), *end = text;
	char kind = 'p';
	if (*text == '\0') {
		kind = 0;
	} else if (*text == '\'' || *text == '"' || *text == '`') {
		kind = *text == '`' ? 'q' : 's';
		end = behind_quoted(text);
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
