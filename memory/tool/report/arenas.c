/*
 * arenas.c - tables with bars: arenas, pools compared with their arenas, owners of a memory
 * trace.
 */
#include <inttypes.h>
#include <string.h>

#include "report.h"

/* NULL: an empty cell. */
static void put_amount(FILE *to, const struct pfs_answer *answer, size_t row, size_t column)
{
	if (pfs_answer_at(answer, row, column)->is_null)
		(void)fputs("<td></td>", to);
	else
		pfs_put_cell(to, pfs_number_at(answer, row, column), "");
}

static void begin_figure(FILE *to, enum pfs_question_id id, const struct pfs_report *self,
			 const char *heads)
{
	pfs_put_figure(to, id, true);
	if (self->answers[id].row_count == 0)
		(void)fprintf(to, "<p class=\"lead\">%s</p>", pfs_questions[id].none);
	else
		(void)fprintf(to, "<table class=\"many\"><tr>%s</tr>", heads);
}

static void end_figure(FILE *to, enum pfs_question_id id, const struct pfs_report *self)
{
	if (self->answers[id].row_count != 0)
		(void)fputs("</table>", to);
	pfs_put_caption(to, self, id);
}

/* ---- arenas ---- */

enum { ARENA, THREADS, ALLOCATED, CACHED, ACTIVE, RESIDENT, MAPPED, RETAINED, ARENA_COLUMNS };

static const char *css_of(size_t column)
{
	return column == CACHED ? " class=\"wide-only\"" : "";
}

static void put_arena(FILE *to, const struct pfs_answer *answer, size_t row, int64_t most,
		      unsigned colour)
{
	static const size_t parts[] = { MAPPED, RESIDENT, ACTIVE, ALLOCATED };
	static const char *const shades[] = { "track", "mark pale s%u", "mark half s%u",
					      "mark s%u" };
	char css[32], text[32];
	(void)fputs("<tr><td class=\"who\">", to);
	pfs_put_name(to, pfs_text_at(answer, row, ARENA));
	pfs_bar_begin(to);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		(void)snprintf(css, sizeof(css), shades[i], colour);
		pfs_bar_part(to, css, pfs_number_at(answer, row, parts[i]), most);
	}
	pfs_bar_end(to, "");
	(void)fprintf(to, "</td><td class=\"wide-only\">%s</td>",
		      pfs_grouped(pfs_number_at(answer, row, THREADS), text));
	for (size_t i = ALLOCATED; i < ARENA_COLUMNS; i++)
		pfs_put_cell(to, pfs_number_at(answer, row, i), css_of(i));
	(void)fputs("</tr>", to);
}

static void put_arenas_sum(FILE *to, const struct pfs_report *self)
{
	const struct pfs_answer *answer = &self->answers[PFS_ASK_ARENAS];
	(void)fputs("<tr class=\"sum\"><td class=\"who\">all arenas</td>"
		    "<td class=\"wide-only\"></td>",
		    to);
	for (size_t column = ALLOCATED; column < ARENA_COLUMNS; column++) {
		uint64_t sum = 0;
		for (size_t row = 0; row < answer->row_count; row++)
			sum += (uint64_t)pfs_number_at(answer, row, column);
		pfs_put_cell(to, (int64_t)sum, css_of(column));
	}
	(void)fputs("</tr><tr class=\"soft\"><td class=\"who\">the program, resident</td>"
		    "<td class=\"wide-only\"></td><td></td><td class=\"wide-only\"></td><td></td>",
		    to);
	pfs_put_cell(to, pfs_report_os(self, "resident"), "");
	(void)fputs("<td></td><td></td></tr>", to);
}

void pfs_put_arenas(FILE *to, const struct pfs_report *self, const struct pfs_history *history)
{
	static const size_t largest[] = { MAPPED, RESIDENT, ACTIVE, ALLOCATED };
	const struct pfs_answer *answer = &self->answers[PFS_ASK_ARENAS];
	int64_t most = pfs_answer_most(answer, largest, sizeof(largest) / sizeof(largest[0]));
	begin_figure(to, PFS_ASK_ARENAS, self,
		     "<th>arena</th><th class=\"wide-only\">threads</th><th>allocated</th>"
		     "<th class=\"wide-only\">cached</th><th>active</th><th>resident</th>"
		     "<th>mapped</th><th>retained</th>");
	for (size_t row = 0; row < answer->row_count; row++)
		put_arena(to, answer, row, most,
			  pfs_colour_of(history, pfs_text_at(answer, row, ARENA)));
	if (answer->row_count != 0)
		put_arenas_sum(to, self);
	end_figure(to, PFS_ASK_ARENAS, self);
}

/* ---- pools and their arenas ---- */

enum { POOL, HELD, OF_ARENA, OF_RINGS, BEYOND, ALL_ROWS, ALL_HELD, ALL_ALLOCATED };

static void put_pool(FILE *to, const struct pfs_answer *answer, size_t row, int64_t most,
		     unsigned colour)
{
	char css[32];
	(void)fputs("<tr><td class=\"who\">", to);
	pfs_put_name(to, pfs_text_at(answer, row, POOL));
	(void)snprintf(css, sizeof(css), "mark s%u", colour);
	pfs_bar_begin(to);
	pfs_bar_part(to, css, pfs_number_at(answer, row, HELD), most);
	pfs_bar_end(to, "");
	(void)snprintf(css, sizeof(css), "mark half s%u", colour);
	pfs_bar_begin(to);
	pfs_bar_part(to, css, pfs_number_at(answer, row, OF_ARENA), most);
	pfs_bar_end(to, "</td>");
	for (size_t column = HELD; column <= BEYOND; column++)
		put_amount(to, answer, row, column);
	(void)fputs("</tr>", to);
}

static void put_pools_sum(FILE *to, const struct pfs_answer *answer)
{
	int64_t more = pfs_number_at(answer, 0, ALL_ROWS) - (int64_t)answer->row_count;
	char text[32];
	if (more > 0)
		(void)fprintf(to,
			      "<tr class=\"soft\"><td class=\"who\">%s more</td><td></td>"
			      "<td></td><td></td><td></td></tr>",
			      pfs_grouped(more, text));
	(void)fputs("<tr class=\"sum\"><td class=\"who\">all</td>", to);
	put_amount(to, answer, 0, ALL_HELD);
	put_amount(to, answer, 0, ALL_ALLOCATED);
	(void)fputs("<td></td><td></td></tr>", to);
}

void pfs_put_beside(FILE *to, const struct pfs_report *self, const struct pfs_history *history)
{
	static const size_t largest[] = { HELD, OF_ARENA };
	const struct pfs_answer *answer = &self->answers[PFS_ASK_BESIDE];
	int64_t most = pfs_answer_most(answer, largest, sizeof(largest) / sizeof(largest[0]));
	begin_figure(to, PFS_ASK_BESIDE, self,
		     "<th>pool</th><th>by owner</th><th>by arena</th><th>in rings</th>"
		     "<th>arena&nbsp;&minus; owner</th>");
	for (size_t row = 0; row < answer->row_count; row++)
		put_pool(to, answer, row, most,
			 pfs_colour_of(history, pfs_text_at(answer, row, POOL)));
	if (answer->row_count != 0)
		put_pools_sum(to, answer);
	end_figure(to, PFS_ASK_BESIDE, self);
}

/* ---- owners ---- */

enum { OWNER, OWN, SUM, OWNER_HIGH, LIMIT, REFUSED, ALL_OWNERS };

static void put_owner(FILE *to, const struct pfs_answer *answer, size_t row, int64_t most)
{
	const char *path = pfs_text_at(answer, row, OWNER), *name = path;
	const struct pfs_value *limit = pfs_answer_at(answer, row, LIMIT);
	char text[32];
	unsigned depth = 0;
	for (const char *slash; (slash = strchr(name, '/')) != NULL; name = slash + 1)
		depth++;
	(void)fputs("<tr><td class=\"who\" title=\"", to);
	pfs_put_text(to, path);
	(void)fprintf(to, "\"><div class=\"below\" style=\"--depth:%u\">", depth);
	pfs_put_name(to, name);
	(void)fputs("</div>", to);
	pfs_bar_begin(to);
	pfs_bar_part(to, "track", pfs_number_at(answer, row, OWNER_HIGH), most);
	pfs_bar_part(to, "mark s1", pfs_number_at(answer, row, SUM), most);
	pfs_bar_end(to, "</td>");
	put_amount(to, answer, row, OWN);
	put_amount(to, answer, row, SUM);
	pfs_put_cell(to, pfs_number_at(answer, row, OWNER_HIGH), " class=\"wide-only\"");
	if (limit->is_null)
		(void)fputs("<td class=\"soft\">none</td>", to);
	else
		pfs_put_cell(to, limit->number, "");
	(void)fprintf(to, "<td%s>%s</td></tr>",
		      pfs_number_at(answer, row, REFUSED) > 0 ? " class=\"missed\"" : "",
		      pfs_grouped(pfs_number_at(answer, row, REFUSED), text));
}

void pfs_put_owners(FILE *to, const struct pfs_report *self)
{
	static const size_t largest[] = { SUM, OWNER_HIGH };
	const struct pfs_answer *answer = &self->answers[PFS_ASK_OWNERS];
	int64_t most = pfs_answer_most(answer, largest, sizeof(largest) / sizeof(largest[0]));
	int64_t more = pfs_number_at(answer, 0, ALL_OWNERS) - (int64_t)answer->row_count;
	char text[32];
	begin_figure(to, PFS_ASK_OWNERS, self,
		     "<th>owner</th><th>own</th><th>with all below</th>"
		     "<th class=\"wide-only\">high</th><th>limit</th><th>refused</th>");
	for (size_t row = 0; row < answer->row_count; row++)
		put_owner(to, answer, row, most);
	if (more > 0)
		(void)fprintf(to,
			      "<tr class=\"soft\"><td class=\"who\">%s more, smaller ones</td>"
			      "<td></td><td></td><td class=\"wide-only\"></td><td></td>"
			      "<td></td></tr>",
			      pfs_grouped(more, text));
	end_figure(to, PFS_ASK_OWNERS, self);
}
