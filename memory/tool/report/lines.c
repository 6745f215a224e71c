/*
 * lines.c - the heap profile on the page: the lines that hold most, each with its largest stack;
 * the same at the peak; and the flame graph. These are estimates, and each carries its error.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memory/tool/profile/flame.h"
#include "report.h"

#define LINES_MOST 12u
#define PEAK_LINES_MOST 6u
#define WORTH_SHOWING 1.05 /* a peak above what is in use now */

/* ---- taking ---- */

bool pfs_report_take_lines(struct pfs_report *self, struct pfs_message *message)
{
	struct pfs_reader *reader = pfs_reader_open(self->box, message);
	bool fine = reader != NULL && pfs_view_take(&self->now, reader, false, NULL, message) &&
		    pfs_view_take(&self->peak, reader, true, NULL, message) &&
		    pfs_report_take_grown(&self->grown, reader, message);
	pfs_reader_close(reader);
	/* Estimates of the same samples: neither is scaled. */
	double now = self->now.heap != NULL ? self->now.heap->sampled_bytes : 0;
	if (self->peak.holders.bytes < now * WORTH_SHOWING)
		pfs_view_drop(&self->peak);
	return fine;
}

/* ---- the table ---- */

/* From the program's call on, leaf first. */
static void put_stack(FILE *to, const struct pfs_heap *heap, uint32_t stack)
{
	const struct pfs_heap_stack *of = &heap->stacks[stack];
	char text[800];
	for (uint32_t i = 0; i < of->depth; i++) {
		uint32_t location = heap->frames[of->first + i];
		uint32_t lines = heap->locations[location].line_count;
		for (uint32_t line = 0; line < (lines != 0 ? lines : 1); line++) {
			pfs_put_text(to,
				     pfs_frame_text(heap, (struct pfs_frame_of){ location, line },
						    text, sizeof(text)));
			(void)fputc('\n', to);
		}
	}
	if (of->is_cut)
		(void)fputs("[cut: there were more callers]\n", to);
}

static void put_row(FILE *to, const struct pfs_view *lines, const struct pfs_holder *holder)
{
	const struct pfs_heap *heap = lines->heap;
	double bytes = holder->now.live_bytes, all = lines->holders.bytes;
	char text[32], where[1600];
	(void)fputs("<tr><td class=\"who\"><details class=\"line\"><summary>", to);
	pfs_put_text(to, pfs_holder_text(heap, holder, where, sizeof(where)));
	(void)fputs("</summary><pre>", to);
	put_stack(to, heap, holder->stack);
	(void)fputs("</pre></details>", to);
	pfs_bar_begin(to);
	pfs_bar_part(to, "s0 mark", (int64_t)bytes, (int64_t)lines->holders.holders[0].weight);
	pfs_bar_end(to, "</td>");
	pfs_put_cell(to, (int64_t)bytes, "");
	(void)fprintf(to, "<td>%s</td>", pfs_error_text(heap, &holder->now, text));
	(void)fprintf(to, "<td>%.1f %%</td>", all > 0 ? bytes / all * 100 : 0);
	(void)fprintf(to, "<td class=\"wide-only\">%s</td>",
		      pfs_age_text(heap, holder->now.oldest_ns, text));
	(void)fprintf(to, "<td class=\"wide-only\">%s</td></tr>\n",
		      pfs_age_text(heap, holder->now.newest_ns, text));
}

static void put_table(FILE *to, const struct pfs_view *lines, uint32_t most)
{
	(void)fputs("<table class=\"lines\"><tr><th>line, and who called it</th><th>bytes</th>"
		    "<th>error</th><th>share</th><th class=\"wide-only\">oldest</th>"
		    "<th class=\"wide-only\">newest</th></tr>\n",
		    to);
	for (uint32_t i = 0; i < lines->holders.count && i < most; i++)
		put_row(to, lines, &lines->holders.holders[i]);
	(void)fputs("</table>\n", to);
}

static void put_lead(FILE *to, const struct pfs_view *lines)
{
	char text[32];
	(void)fprintf(
		to,
		"<p class=\"lead\">Estimates from a sample each %s%s; the error is one "
		"standard deviation. A line is the program&#8217;s own, outside allocators and "
		"standard libraries; it opens to its largest stack.",
		pfs_amount((int64_t)lines->heap->interval, text),
		lines->heap->is_scaled ? ", scaled to the exact bytes of each instrument" : "");
	if (lines->heap->stacks_taken != 0)
		(void)fprintf(to, " Stacks: %" PRIu64 " taken, %.1f %% walked, the others unwound.",
			      lines->heap->stacks_taken,
			      100 * (double)lines->heap->stacks_walked /
				      (double)lines->heap->stacks_taken);
	if (lines->heap->unsampled_bytes >= 1)
		(void)fprintf(to, " %s more have no sample.",
			      pfs_amount((int64_t)lines->heap->unsampled_bytes, text));
	(void)fputs("</p>\n", to);
}

static void put_peak(FILE *to, const struct pfs_view *peak)
{
	char text[32];
	(void)fprintf(to, "<h3>At the peak</h3><p class=\"lead\">%s were in use ",
		      pfs_amount((int64_t)peak->holders.bytes, text));
	pfs_put_text(to, peak->heap->of);
	(void)fputs(".</p>\n", to);
	put_table(to, peak, PEAK_LINES_MOST);
}

/* Which lines hold the heap: now, and at the peak if that was higher. */
static void put_tables(FILE *to, const struct pfs_report *self)
{
	(void)fputs("<h2 id=\"lines\">Which lines hold the heap</h2>\n", to);
	if (self->now.heap == NULL)
		(void)fputs("<p class=\"lead\">Not known: the program was started without a heap "
			    "profile.</p>\n",
			    to);
	else if (self->now.holders.count == 0)
		(void)fputs("<p class=\"lead\">No block in use was sampled.</p>\n", to);
	else
		put_lead(to, &self->now);
	if (self->now.holders.count != 0)
		put_table(to, &self->now, LINES_MOST);
	if (self->peak.heap != NULL && self->peak.holders.count != 0)
		put_peak(to, &self->peak);
}

/* Where the page loads them into, because they take longer than the rest. */
static void put_place(FILE *to, const char *from)
{
	(void)fputs("<section id=\"loaded\" data-from=\"", to);
	pfs_put_text(to, from);
	(void)fputs(
		"\"><h2 id=\"lines\">Which lines hold the heap</h2><p class=\"lead\"><a href=\"",
		to);
	pfs_put_text(to, from);
	(void)fputs("\">The lines</a> take a while to look up.</p></section>\n", to);
}

bool pfs_put_lines(FILE *to, const struct pfs_report *self)
{
	const struct pfs_flame_options options = { .is_part = true, .rules = self->now.rules };
	struct pfs_message message;
	if (self->lines_from[0] != '\0')
		put_place(to, self->lines_from);
	if (self->now.heap == NULL)
		return true;
	put_tables(to, self);
	if (self->now.holders.count == 0)
		return true;
	(void)fputs("<h3 id=\"flame\">As a flame graph</h3><p class=\"lead\">Roots on top, the "
		    "widest first. A click or Enter zooms, Escape goes back, arrows move, / "
		    "searches.</p><div class=\"flame-box\">\n",
		    to);
	bool fine = pfs_flame_write(self->now.heap, &options, to, &message);
	(void)fputs("</div>\n", to);
	return fine;
}

bool pfs_report_write_lines(const char *box, FILE *to, struct pfs_message *message)
{
	struct pfs_report *self = calloc(1, sizeof(*self));
	if (self == NULL)
		return pfs_refuse(message, "no memory for the report");
	(void)snprintf(self->box, sizeof(self->box), "%s", box);
	bool fine = pfs_report_take_lines(self, message);
	if (fine) {
		put_tables(to, self);
		pfs_put_grown(to, self);
	}
	pfs_report_free(self);
	return fine;
}
