/*
 * pieces.c - text, numbers and commands, as pages and sh want them.
 */
#include <inttypes.h>
#include <string.h>

#include "report.h"

void pfs_put_text(FILE *to, const char *text)
{
	for (; *text != '\0'; text++) {
		switch (*text) {
		case '&': (void)fputs("&amp;", to); break;
		case '<': (void)fputs("&lt;", to); break;
		case '>': (void)fputs("&gt;", to); break;
		case '"': (void)fputs("&quot;", to); break;
		case '\'': (void)fputs("&#39;", to); break;
		case '\t':
		case '\n': (void)fprintf(to, "&#%d;", *text); break;
		default: /* HTML has no other control characters */
			(void)fputc((unsigned char)*text < ' ' || *text == 127 ? '?' : *text, to);
		}
	}
}

void pfs_put_name(FILE *to, const char *name)
{
	char one[2] = "";
	for (; *name != '\0'; name++) {
		one[0] = *name;
		pfs_put_text(to, one);
		if (strchr("/@_", *name) != NULL)
			(void)fputs("<wbr>", to);
	}
}

const char *pfs_grouped(int64_t number, char text[32])
{
	char plain[24];
	size_t out = 0;
	(void)snprintf(plain, sizeof(plain), "%" PRId64, number);
	size_t length = strlen(plain), sign = plain[0] == '-';
	for (size_t i = 0; i < length; i++) {
		if (i > sign && (length - i) % 3 == 0)
			text[out++] = ',';
		text[out++] = plain[i];
	}
	text[out] = '\0';
	return text;
}

/* For sh: in single quotes; one inside ends them, stands for itself, and begins them anew. */
static void put_quoted(FILE *to, const char *text)
{
	char one[2] = "";
	(void)fputs("&#39;", to);
	for (; *text != '\0'; text++) {
		one[0] = *text;
		if (*text == '\'')
			pfs_put_text(to, "'\\''");
		else
			pfs_put_text(to, one);
	}
	(void)fputs("&#39;", to);
}

static bool is_plain(const char *text)
{
	return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				 "/._-+,:@")] == '\0' &&
	       text[0] != '-' && text[0] != '\0';
}

void pfs_put_command(FILE *to, const struct pfs_report *self, enum pfs_question_id id)
{
	(void)fputs("<code class=\"command\">pfs-mem sql ", to);
	if (is_plain(self->box))
		pfs_put_text(to, self->box);
	else
		put_quoted(to, self->box);
	(void)fputc(' ', to);
	put_quoted(to, self->answers[id].query);
	(void)fputs("</code>", to);
}

void pfs_put_caption(FILE *to, const struct pfs_report *self, enum pfs_question_id id)
{
	const char *note = pfs_questions[id].note;
	(void)fputs("<figcaption>", to);
	if (note != NULL && self->answers[id].row_count != 0)
		pfs_put_text(to, note);
	(void)fputs("<details><summary>The command</summary>", to);
	pfs_put_command(to, self, id);
	(void)fputs("</details></figcaption>", to);
}
