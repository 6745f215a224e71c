/*
 * grown.c - which lines have grown, on the page: from the history of stacks that the box keeps.
 */
#include <inttypes.h>

#include "memory/tool/profile/symbols.h"
#include "report.h"

#define GROWN_MOST 8u
#define DRAWN_WIDTH 120.0
#define DRAWN_HEIGHT 22.0

/* ---- taking ---- */

void pfs_report_drop_grown(struct pfs_report_grown *grown)
{
	pfs_growth_drop(&grown->growth);
	pfs_rules_close(grown->rules);
	pfs_heap_free(grown->heap);
	*grown = (struct pfs_report_grown){ 0 };
}

bool pfs_report_take_grown(struct pfs_report_grown *grown, struct pfs_reader *reader,
			   struct pfs_message *message)
{
	const struct pfs_heap_choice choice = { .as_kept = true };
	struct pfs_symbols_report report;
	struct pfs_message why;
	grown->heap = pfs_heap_of_box_chosen(reader, &choice, &why);
	if (grown->heap == NULL || grown->heap->moment_count == 0) {
		pfs_report_drop_grown(grown);
		return true; /* the box has no profile, or no history of it */
	}
	pfs_heap_look_up(grown->heap, true, NULL, &report);
	grown->rules = pfs_rules_open(NULL, grown->heap, message);
	return grown->rules != NULL && (pfs_growth_make(&grown->growth, grown->heap, grown->rules,
							false, PFS_MOMENTS_KEPT) ||
					pfs_refuse(message, "no memory for the report"));
}

/* ---- the table ---- */

static double change_of(const struct pfs_growth *growth, uint32_t number)
{
	const struct pfs_holder *holder = &growth->holders.holders[number];
	return holder->now.live_bytes - holder->base.live_bytes;
}

/* What a line held, from the oldest moment to now, in proportion to time. */
static void put_drawing(FILE *to, const struct pfs_report_grown *grown, uint32_t number)
{
	const struct pfs_growth *growth = &grown->growth;
	const struct pfs_heap *heap = grown->heap;
	double now = growth->holders.holders[number].now.live_bytes, most = now;
	uint64_t begin = heap->moments[0].when_ns;
	double whole = heap->taken_ns > begin ? (double)(heap->taken_ns - begin) : 1;
	for (uint32_t i = 0; i < growth->moment_count; i++)
		if (pfs_growth_at(growth, number, i) > most)
			most = pfs_growth_at(growth, number, i);
	(void)fprintf(to,
		      "<td><svg width=\"%.0f\" height=\"%.0f\" aria-hidden=\"true\"><polyline "
		      "class=\"rss\" points=\"",
		      DRAWN_WIDTH, DRAWN_HEIGHT);
	for (uint32_t i = growth->moment_count; i > 0; i--) {
		uint64_t when = heap->moments[growth->moments[i - 1]].when_ns;
		double bytes = pfs_growth_at(growth, number, i - 1);
		double at = when > begin ? (double)(when - begin) / whole : 0;
		if (bytes >= 0 && at <= 1)
			(void)fprintf(to, "%.1f,%.1f ", at * DRAWN_WIDTH,
				      1 + (1 - bytes / most) * (DRAWN_HEIGHT - 2));
	}
	(void)fprintf(to, "%.1f,%.1f\"/></svg></td>", DRAWN_WIDTH,
		      1 + (1 - now / most) * (DRAWN_HEIGHT - 2));
}

static void put_row(FILE *to, const struct pfs_report_grown *grown, uint32_t number)
{
	const struct pfs_holder *holder = &grown->growth.holders.holders[number];
	char where[1600];
	(void)fputs("<tr><td class=\"who\"><code>", to);
	pfs_put_text(to, pfs_holder_text(grown->heap, holder, where, sizeof(where)));
	(void)fputs("</code></td>", to);
	put_drawing(to, grown, number);
	pfs_put_cell(to, (int64_t)change_of(&grown->growth, number), "");
	pfs_put_cell(to, (int64_t)holder->base.live_bytes, " class=\"wide-only\"");
	pfs_put_cell(to, (int64_t)holder->now.live_bytes, "");
	(void)fputs("</tr>\n", to);
}

void pfs_put_grown(FILE *to, const struct pfs_report *self)
{
	const struct pfs_report_grown *grown = &self->grown;
	const struct pfs_growth *growth = &grown->growth;
	char since[32];
	if (grown->heap == NULL)
		return;
	(void)pfs_moment_text(grown->heap->moments[0].when_ns, since);
	(void)fprintf(to,
		      "<h2 id=\"grown\">Which lines have grown</h2><p class=\"lead\">Since %s, the "
		      "oldest of %" PRIu32 " moments that the box has kept. Estimates, as sampled; "
		      "the drawing runs from that moment to the last.</p>\n",
		      since, grown->heap->moment_count);
	if (growth->holders.count == 0 || change_of(growth, 0) < PFS_HEAP_NOISE) {
		(void)fputs("<p class=\"lead\">None has.</p>\n", to);
		return;
	}
	(void)fputs("<table class=\"lines\"><tr><th>line, and who called it</th><th>over time</th>"
		    "<th>growth</th><th class=\"wide-only\">then</th><th>now</th></tr>\n",
		    to);
	for (uint32_t i = 0; i < growth->holders.count && i < GROWN_MOST; i++)
		if (change_of(growth, i) >= PFS_HEAP_NOISE)
			put_row(to, grown, i);
	(void)fputs("</table>\n", to);
}
