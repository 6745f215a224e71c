/*
 * pieces.c - numbers and commands for pages; quoting for sh.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "report.h"

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

/* In single quotes, as sh reads them; those inside become '\''. */
static void put_quoted(FILE *to, const char *text)
{
	(void)fputs("&#39;", to);
	for (size_t bytes; bytes = strcspn(text, "'"), text[bytes] != '\0'; text += bytes + 1) {
		pfs_put_bytes(to, text, bytes);
		pfs_put_text(to, "'\\''");
	}
	pfs_put_text(to, text);
	(void)fputs("&#39;", to);
}

const char *pfs_moment_text(uint64_t realtime_ns, char text[32])
{
	struct tm parts;
	time_t seconds = (time_t)(realtime_ns / 1000000000u);
	if (localtime_r(&seconds, &parts) == NULL ||
	    strftime(text, 32, "%Y-%m-%d %H:%M:%S", &parts) == 0)
		text[0] = '\0';
	return text;
}

static bool is_plain(const char *text)
{
	return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				 "/._-+,:@")] == '\0' &&
	       text[0] != '-' && text[0] != '\0';
}

void pfs_put_cell(FILE *to, int64_t bytes, const char *css)
{
	char text[32];
	(void)fprintf(to, "<td%s title=\"%" PRId64 " bytes\">%s</td>", css, bytes,
		      pfs_amount(bytes, text));
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
	(void)fputs("</details></figcaption></figure>\n", to);
}
