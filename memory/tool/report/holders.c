/*
 * holders.c - who holds what: a table with bars, largest first.
 */
#include <inttypes.h>
#include <string.h>

#include "report.h"

enum { WHO, CURRENT, HIGH, BLOCKS, ALLOCATIONS, ALL_ROWS, ALL_BYTES };

void pfs_put_figure(FILE *to, enum pfs_question_id id, bool has_title)
{
	const char *name = pfs_questions[id].name;
	(void)fprintf(to, "<figure id=\"%s\" data-figure=\"%s\">", name, name);
	if (has_title)
		(void)fprintf(to, "<h3>%s</h3>", pfs_questions[id].title);
}

unsigned pfs_colour_of(const struct pfs_history *history, const char *name)
{
	for (size_t i = 0; history != NULL && i < history->series_count; i++)
		if (strcmp(history->names[i], name) == 0)
			return i < PFS_SERIES_MAX - 1 ? (unsigned)i : PFS_SERIES_MAX - 1;
	return PFS_SERIES_MAX - 1;
}

static void put_count(FILE *to, int64_t count, const char *css)
{
	char text[32];
	(void)fprintf(to, "<td%s>%s</td>", css, pfs_grouped(count, text));
}

static void put_row(FILE *to, const struct pfs_answer *answer, size_t row, int64_t most,
		    unsigned colour)
{
	char css[32];
	int64_t current = pfs_number_at(answer, row, CURRENT);
	int64_t high = pfs_number_at(answer, row, HIGH);
	(void)fputs("<tr><td class=\"who\">", to);
	pfs_put_name(to, pfs_text_at(answer, row, WHO));
	(void)snprintf(css, sizeof(css), "s%u mark", colour);
	pfs_bar_begin(to);
	pfs_bar_part(to, "track", high, most);
	pfs_bar_part(to, css, current, most);
	pfs_bar_end(to, "</td>");
	pfs_put_cell(to, current, "");
	pfs_put_cell(to, high, "");
	put_count(to, pfs_number_at(answer, row, BLOCKS), "");
	put_count(to, pfs_number_at(answer, row, ALLOCATIONS), " class=\"wide-only\"");
	(void)fputs("</tr>", to);
}

/* What the rows leave out, so that the table adds up. */
static void put_rest(FILE *to, const struct pfs_answer *answer)
{
	int64_t bytes = pfs_number_at(answer, 0, ALL_BYTES);
	int64_t rows = pfs_number_at(answer, 0, ALL_ROWS) - (int64_t)answer->row_count;
	char text[32];
	uint64_t shown = 0;
	for (size_t i = 0; i < answer->row_count; i++)
		shown += (uint64_t)pfs_number_at(answer, i, CURRENT);
	if (rows > 0) {
		(void)fprintf(to, "<tr class=\"soft\"><td class=\"who\">%s more</td>",
			      pfs_grouped(rows, text));
		pfs_put_cell(to, (int64_t)((uint64_t)bytes - shown), "");
		(void)fputs("<td></td><td></td><td class=\"wide-only\"></td></tr>", to);
	}
	(void)fputs("<tr class=\"sum\"><td class=\"who\">all</td>", to);
	pfs_put_cell(to, bytes, "");
	(void)fputs("<td></td><td></td><td class=\"wide-only\"></td></tr>", to);
}

void pfs_put_holders(FILE *to, const struct pfs_report *self, enum pfs_question_id id,
		     const struct pfs_history *history)
{
	const struct pfs_answer *answer = &self->answers[id];
	static const size_t largest[] = { CURRENT, HIGH };
	int64_t most = pfs_answer_most(answer, largest, sizeof(largest) / sizeof(largest[0]));
	pfs_put_figure(to, id, true);
	if (answer->row_count == 0) {
		(void)fputs("<p class=\"lead\">No memory is in use.</p>", to);
	} else {
		(void)fprintf(to,
			      "<table><tr><th>%s</th><th>current</th><th>≤ high</th>"
			      "<th>blocks</th><th class=\"wide-only\">allocations</th></tr>",
			      answer->columns[WHO]);
		for (size_t i = 0; i < answer->row_count; i++) {
			const char *who = pfs_text_at(answer, i, WHO);
			put_row(to, answer, i, most,
				history == NULL ? 1 : pfs_colour_of(history, who));
		}
		put_rest(to, answer);
		(void)fputs("</table>", to);
	}
	pfs_put_caption(to, self, id);
}
