/*
 * parts.c - everything that the program holds: blocks, mappings, stacks, files, in one table.
 */
#include <string.h>

#include "report.h"

enum { WHO, KIND, BYTES, AT_MOST, ALL_ROWS, ALL_BYTES };

static void put_row(FILE *to, const struct pfs_answer *answer, size_t row, int64_t most)
{
	int64_t bytes = pfs_number_at(answer, row, BYTES);
	char text[32];
	(void)fputs("<tr><td class=\"who\">", to);
	pfs_put_name(to, pfs_text_at(answer, row, WHO));
	pfs_bar_begin(to);
	pfs_bar_part(to, "s1 mark", bytes, most);
	pfs_bar_end(to, "</td>");
	(void)fputs("<td>", to);
	pfs_put_text(to, pfs_text_at(answer, row, KIND));
	(void)fputs("</td>", to);
	(void)fprintf(to, "<td title=\"%s bytes\">%s", pfs_grouped(bytes, text),
		      strcmp(pfs_text_at(answer, row, AT_MOST), "YES") == 0 ? "\u2264 " : "");
	(void)fprintf(to, "%s</td></tr>", pfs_amount(bytes, text));
}

void pfs_put_parts(FILE *to, const struct pfs_report *self)
{
	const struct pfs_answer *answer = &self->answers[PFS_ASK_PARTS];
	static const size_t largest[] = { BYTES };
	int64_t most = pfs_answer_most(answer, largest, 1);
	int64_t more = pfs_number_at(answer, 0, ALL_ROWS) - (int64_t)answer->row_count;
	char text[32];
	pfs_put_figure(to, PFS_ASK_PARTS, false);
	if (answer->row_count == 0) {
		(void)fputs("<p class=\"lead\">Nothing is held.</p>", to);
	} else {
		(void)fputs("<table><tr><th>holder</th><th>kind</th><th>bytes</th></tr>", to);
		for (size_t i = 0; i < answer->row_count; i++)
			put_row(to, answer, i, most);
		if (more > 0)
			(void)fprintf(to,
				      "<tr class=\"soft\"><td class=\"who\">%s more, "
				      "smaller</td><td></td><td></td></tr>",
				      pfs_grouped(more, text));
		(void)fputs("</table>", to);
	}
	pfs_put_caption(to, self, PFS_ASK_PARTS);
}
