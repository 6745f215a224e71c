/*
 * adds_up.c - the resident set: a bar of the parts in memory_os, and their sum.
 */
#include <inttypes.h>
#include <string.h>

#include "report.h"

enum { NAME, BYTES, PART_OF, NOTE };

#define COLOURS 13u
#define GREY 8u

static bool is_part(const struct pfs_answer *answer, size_t row)
{
	return pfs_answer_at(answer, row, PART_OF)->text != NULL;
}

static unsigned colour_of(const struct pfs_answer *answer, size_t row)
{
	unsigned colour = (unsigned)row % (COLOURS - 1);
	if (strcmp(pfs_text_at(answer, row, NAME), "unaccounted") == 0)
		return GREY;
	return colour >= GREY ? colour + 1 : colour;
}

/* The sum of the parts, of the positive ones, and what it must be. */
struct sums {
	uint64_t parts; /* modulo 2^64, as memory_os has them */
	double above;
	int64_t resident;
};

static struct sums sums_of(const struct pfs_answer *answer)
{
	struct sums sums = { 0, 0, 0 };
	for (size_t i = 0; i < answer->row_count; i++) {
		int64_t bytes = pfs_number_at(answer, i, BYTES);
		if (is_part(answer, i)) {
			sums.parts += (uint64_t)bytes;
			sums.above += bytes > 0 ? (double)bytes : 0;
		} else if (strcmp(pfs_text_at(answer, i, NAME), "resident") == 0) {
			sums.resident = bytes;
		}
	}
	return sums;
}

static void put_bar(FILE *to, const struct pfs_answer *answer, const struct sums *sums)
{
	char text[32];
	(void)fputs("<div class=\"stack\">", to);
	for (size_t i = 0; i < answer->row_count; i++) {
		int64_t bytes = pfs_number_at(answer, i, BYTES);
		double width = 100.0 * (double)bytes / sums->above;
		if (!is_part(answer, i) || bytes <= 0)
			continue;
		(void)fprintf(to, "<div class=\"part mark b%u\" style=\"width:%.3f%%\" title=\"",
			      colour_of(answer, i), width);
		pfs_put_text(to, pfs_text_at(answer, i, NAME));
		(void)fprintf(to, " %s\">", pfs_amount(bytes, text));
		if (width > 6) {
			(void)fputs("<span>", to);
			pfs_put_text(to, pfs_text_at(answer, i, NAME));
			(void)fputs("</span>", to);
		}
		(void)fputs("</div>", to);
	}
	(void)fputs("</div>", to);
	if (sums->above > (double)sums->resident)
		(void)fprintf(to,
			      "<div class=\"reach\" style=\"width:%.3f%%\"><span>resident "
			      "ends here</span></div>",
			      100.0 * (double)sums->resident / sums->above);
}

static void put_row(FILE *to, const struct pfs_answer *answer, size_t row, int64_t resident)
{
	const struct pfs_value *bytes = pfs_answer_at(answer, row, BYTES);
	bool part = is_part(answer, row), is_blocks;
	char text[32], amount[32];
	is_blocks = strcmp(pfs_text_at(answer, row, NAME), "blocks") == 0;
	(void)fprintf(to, "<tr%s><td class=\"who\">",
		      part ? ""
		      : strcmp(pfs_text_at(answer, row, NAME), "resident") == 0
			      ? " class=\"sum\""
			      : " class=\"soft\"");
	if (part)
		(void)fprintf(to, "<i class=\"swatch b%u\"></i>", colour_of(answer, row));
	pfs_put_name(to, pfs_text_at(answer, row, NAME));
	(void)fputs("</td>", to);
	if (bytes->is_null)
		(void)fputs("<td>not known</td><td></td>", to);
	else
		(void)fprintf(to, "<td>%s</td><td>%s</td>", pfs_grouped(bytes->number, text),
			      is_blocks ? "" : pfs_amount(bytes->number, amount));
	if (part && !bytes->is_null && resident > 0)
		(void)fprintf(to, "<td>%.1f %%</td>",
			      100.0 * (double)bytes->number / (double)resident);
	else
		(void)fputs("<td></td>", to);
	(void)fputs("<td class=\"note\">", to);
	pfs_put_text(to, pfs_text_at(answer, row, NOTE));
	(void)fputs("</td></tr>", to);
}

void pfs_put_os(FILE *to, const struct pfs_report *self)
{
	const struct pfs_answer *answer = &self->answers[PFS_ASK_OS];
	struct sums sums = sums_of(answer);
	pfs_put_figure(to, PFS_ASK_OS, false);
	if (sums.above <= 0 || sums.resident <= 0) {
		(void)fputs("<p class=\"lead\">Not known: no tick was written.</p>", to);
	} else {
		put_bar(to, answer, &sums);
		(void)fputs("<table class=\"os\"><tr><th>part</th><th>bytes</th><th></th>"
			    "<th>of resident</th><th class=\"note\"></th></tr>",
			    to);
		for (size_t i = 0; i < answer->row_count; i++)
			put_row(to, answer, i, sums.resident);
		(void)fputs("</table>", to);
		if ((int64_t)sums.parts != sums.resident)
			(void)fprintf(to,
				      "<p class=\"missed\">The parts are %" PRId64
				      " bytes, not what is resident.</p>",
				      (int64_t)sums.parts);
	}
	pfs_put_caption(to, self, PFS_ASK_OS);
}
