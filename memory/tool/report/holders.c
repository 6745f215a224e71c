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

static void put_amount(FILE *to, int64_t bytes)
{
	char text[32];
	(void)fprintf(to, "<td title=\"%" PRId64 " bytes\">%s</td>", bytes,
		      pfs_amount(bytes, text));
}

static void put_count(FILE *to, int64_t count, const char *css)
{
	char text[32];
	(void)fprintf(to, "<td%s>%s</td>", css, pfs_grouped(count, text));
}

static double part_of(int64_t bytes, int64_t most)
{
	return most > 0 && bytes > 0 ? 1000.0 * (double)bytes / (double)most : 0;
}

static void put_row(FILE *to, const struct pfs_answer *answer, size_t row, int64_t most,
		    unsigned colour)
{
	const char *who = pfs_answer_at(answer, row, WHO)->text;
	int64_t current = pfs_answer_at(answer, row, CURRENT)->number;
	int64_t high = pfs_answer_at(answer, row, HIGH)->number;
	(void)fputs("<tr><td class=\"who\">", to);
	pfs_put_name(to, who == NULL ? "" : who);
	(void)fprintf(to,
		      "<svg class=\"bar\" viewBox=\"0 0 1000 10\" "
		      "preserveAspectRatio=\"none\" aria-hidden=\"true\">"
		      "<rect class=\"track\" width=\"%.1f\" height=\"10\"/>"
		      "<rect class=\"s%u mark\" width=\"%.1f\" height=\"10\"/></svg></td>",
		      part_of(high, most), colour, part_of(current, most));
	put_amount(to, current);
	put_amount(to, high);
	put_count(to, pfs_answer_at(answer, row, BLOCKS)->number, "");
	put_count(to, pfs_answer_at(answer, row, ALLOCATIONS)->number, " class=\"wide-only\"");
	(void)fputs("</tr>", to);
}

/* What is not in the rows, so that the table adds up. */
static void put_rest(FILE *to, const struct pfs_answer *answer)
{
	int64_t bytes = pfs_answer_at(answer, 0, ALL_BYTES)->number;
	int64_t rows = pfs_answer_at(answer, 0, ALL_ROWS)->number - (int64_t)answer->row_count;
	char text[32];
	uint64_t shown = 0;
	for (size_t i = 0; i < answer->row_count; i++)
		shown += (uint64_t)pfs_answer_at(answer, i, CURRENT)->number;
	if (rows > 0) {
		(void)fprintf(to, "<tr class=\"soft\"><td class=\"who\">%s more</td>",
			      pfs_grouped(rows, text));
		put_amount(to, (int64_t)((uint64_t)bytes - shown));
		(void)fputs("<td></td><td></td><td class=\"wide-only\"></td></tr>", to);
	}
	(void)fputs("<tr class=\"sum\"><td class=\"who\">all</td>", to);
	put_amount(to, bytes);
	(void)fputs("<td></td><td></td><td class=\"wide-only\"></td></tr>", to);
}

void pfs_put_holders(FILE *to, const struct pfs_report *self, enum pfs_question_id id,
		     const struct pfs_history *history)
{
	const struct pfs_answer *answer = &self->answers[id];
	int64_t most = 0;
	pfs_put_figure(to, id, true);
	for (size_t i = 0; i < answer->row_count; i++) {
		int64_t high = pfs_answer_at(answer, i, HIGH)->number;
		int64_t current = pfs_answer_at(answer, i, CURRENT)->number;
		most = high > most ? high : most;
		most = current > most ? current : most;
	}
	if (answer->row_count == 0) {
		(void)fputs("<p class=\"lead\">No memory is in use.</p>", to);
	} else {
		(void)fprintf(to,
			      "<table><tr><th>%s</th><th>current</th><th>high</th>"
			      "<th>blocks</th><th class=\"wide-only\">allocations</th></tr>",
			      answer->columns[WHO]);
		for (size_t i = 0; i < answer->row_count; i++) {
			const char *who = pfs_answer_at(answer, i, WHO)->text;
			put_row(to, answer, i, most,
				history == NULL ? 1
						: pfs_colour_of(history, who == NULL ? "" : who));
		}
		put_rest(to, answer);
		(void)fputs("</table>", to);
	}
	pfs_put_caption(to, self, id);
	(void)fputs("</figure>\n", to);
}
