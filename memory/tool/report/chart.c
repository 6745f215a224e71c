/*
 * chart.c - memory over time: stacked areas, and the line of the resident set.
 *
 * In a page the plot stretches to the window. Its labels are HTML, so they have one size on a
 * telephone and on a wide screen. The legend shows the last moment; with scripts, the one under the
 * pointer.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "report.h"

#define WIDTH 1000.0
#define HEIGHT 300.0

/* ---- scales ---- */

int64_t pfs_grid_step(int64_t most, unsigned *lines)
{
	int64_t step = 1024;
	while (step < most / 5 && step < INT64_MAX / 4)
		step *= 2;
	*lines = 0;
	while ((int64_t)*lines * step < most || *lines == 0)
		++*lines;
	return step;
}

static double x_of(const struct pfs_history *history, const struct pfs_frame *frame, size_t moment)
{
	int64_t begin = history->times_ms[0];
	int64_t span = history->times_ms[history->moment_count - 1] - begin;
	double part = span <= 0 ? 0 : (double)(history->times_ms[moment] - begin) / (double)span;
	return frame->left + frame->width * part;
}

static double y_of(const struct pfs_history *history, const struct pfs_frame *frame, int64_t bytes)
{
	unsigned lines;
	double top = (double)pfs_grid_step(history->most, &lines) * lines;
	return frame->top + frame->height * (1 - (double)bytes / top);
}

/* At whole seconds, minutes or hours, equally far apart. */
static int64_t time_step(int64_t span_ms)
{
	static const int seconds[] = { 1,     2,     5,     10,    15,     30,    60,
				       120,   300,   600,   900,   1800,   3600,  7200,
				       10800, 21600, 43200, 86400, 172800, 604800 };
	size_t count = sizeof(seconds) / sizeof(seconds[0]), i = 0;
	while (i + 1 < count && span_ms / (seconds[i] * INT64_C(1000)) > PFS_TIMES_MOST - 1)
		i++;
	return seconds[i] * INT64_C(1000);
}

static void name_time(int64_t time_ms, bool has_days, char text[32])
{
	time_t seconds = (time_t)(time_ms / 1000);
	struct tm parts;
	text[0] = '\0';
	if (gmtime_r(&seconds, &parts) != NULL)
		(void)strftime(text, 32, has_days ? "%m-%d %H:%M" : "%H:%M:%S", &parts);
}

unsigned pfs_times_of(const struct pfs_history *history, struct pfs_time times[PFS_TIMES_MOST])
{
	int64_t begin = history->times_ms[0];
	int64_t span = history->times_ms[history->moment_count - 1] - begin;
	bool has_days = span >= INT64_C(86400000);
	unsigned count = 0;
	if (span < 1000 || span > INT64_C(100) * 366 * 86400000) {
		times[0].part = 0;
		name_time(begin, has_days, times[0].text);
		return 1;
	}
	int64_t step = time_step(span);
	for (int64_t at = (begin + step - 1) / step * step;
	     at - begin <= span && count < PFS_TIMES_MOST; at += step) {
		times[count].part = (double)(at - begin) / (double)span;
		name_time(at, has_days, times[count++].text);
	}
	return count;
}

/* ---- shapes ---- */

/* An edge from left to right or back; a single moment fills the width. */
static void put_edge(FILE *to, const struct pfs_history *history, const struct pfs_frame *frame,
		     const int64_t *bytes, bool back, char first)
{
	size_t count = history->moment_count;
	for (size_t i = 0; i < count; i++) {
		size_t moment = back ? count - 1 - i : i;
		double y = y_of(history, frame, bytes[moment]);
		if (count == 1 && back)
			(void)fprintf(to, "L%.1f %.1f", frame->left + frame->width, y);
		(void)fprintf(to, "%c%.1f %.1f", i == 0 && !(count == 1 && back) ? first : 'L',
			      x_of(history, frame, moment), y);
		if (count == 1 && !back)
			(void)fprintf(to, "L%.1f %.1f", frame->left + frame->width, y);
	}
}

void pfs_put_areas(FILE *to, const struct pfs_history *history, const struct pfs_frame *frame)
{
	for (size_t series = 0; series < history->series_count; series++) {
		for (size_t i = 0; i < history->moment_count; i++) {
			history->edge[0][i] = series == 0 ? 0 : history->edge[1][i];
			history->edge[1][i] = history->edge[0][i] + history->bytes[series][i];
		}
		(void)fprintf(to, "<path class=\"area mark s%u\" d=\"",
			      pfs_colour_of(history, history->names[series]));
		put_edge(to, history, frame, history->edge[1], false, 'M');
		put_edge(to, history, frame, history->edge[0], true, 'L');
		(void)fputs("Z\"><title>", to);
		pfs_put_text(to, history->names[series]);
		(void)fputs("</title></path>", to);
	}
	(void)fputs("<path class=\"rss mark\" d=\"", to);
	put_edge(to, history, frame, history->rss, false, 'M');
	(void)fputs("\"><title>resident</title></path>", to);
}

/* ---- a figure of a page ---- */

static void put_plot(FILE *to, const struct pfs_history *history, const char *name)
{
	const struct pfs_frame frame = { 0, 0, WIDTH, HEIGHT };
	unsigned lines;
	int64_t step = pfs_grid_step(history->most, &lines);
	struct pfs_time times[PFS_TIMES_MOST];
	char text[32];
	(void)fprintf(to, "<div class=\"chart\" data-history=\"%s\"><div class=\"levels\">", name);
	for (unsigned i = 0; i <= lines; i++)
		(void)fprintf(to, "<span style=\"bottom:%.2f%%\">%s</span>", 100.0 * i / lines,
			      i == 0 ? "0" : pfs_amount(step * i, text));
	(void)fprintf(to,
		      "</div><svg class=\"plot\" viewBox=\"0 0 %.0f %.0f\" "
		      "preserveAspectRatio=\"none\" role=\"img\">",
		      WIDTH, HEIGHT);
	pfs_put_areas(to, history, &frame);
	for (unsigned i = 0; i <= lines; i++)
		(void)fprintf(to, "<path class=\"gridline\" d=\"M0 %.1fH%.0f\"/>",
			      HEIGHT * i / lines, WIDTH);
	(void)fprintf(to,
		      "<path class=\"cursor\" d=\"M0 0V%.0f\" visibility=\"hidden\"/></svg>"
		      "<div class=\"times\">",
		      HEIGHT);
	for (unsigned i = 0, count = pfs_times_of(history, times); i < count; i++)
		(void)fprintf(to, "<span class=\"%s%s\" style=\"left:%.2f%%\">%s</span>",
			      times[i].part < 0.06   ? "first"
			      : times[i].part > 0.94 ? "last"
						     : "",
			      i % 2 == 1 ? " odd" : "", times[i].part * 100, times[i].text);
	(void)fputs("</div></div>\n", to);
}

static void put_legend_row(FILE *to, const struct pfs_history *history, const char *css,
			   const char *name, const int64_t *bytes, const char *key)
{
	char now[32], most[32];
	(void)fprintf(to, "<tr><td class=\"who\"><i class=\"swatch %s\"></i>", css);
	pfs_put_name(to, name);
	(void)fprintf(to, "</td><td data-of=\"%s\">%s</td><td>%s</td></tr>", key,
		      pfs_amount(bytes[history->moment_count - 1], now),
		      pfs_amount(pfs_history_most(history, bytes), most));
}

/* In the order of the chart: the line, then the areas from the top. */
static void put_legend(FILE *to, const struct pfs_history *history, const char *whole)
{
	char css[16], key[24];
	(void)fputs("<table class=\"legend\"><tr><th></th><th class=\"moment\">", to);
	pfs_put_text(to, history->times[history->moment_count - 1]);
	(void)fputs("</th><th>most</th></tr>", to);
	put_legend_row(to, history, "line", "resident", history->rss, "rss");
	put_legend_row(to, history, "", whole, history->tracked, "tracked");
	for (size_t i = history->series_count; i-- > 0;) {
		(void)snprintf(css, sizeof(css), "b%u", pfs_colour_of(history, history->names[i]));
		(void)snprintf(key, sizeof(key), "%zu", i);
		put_legend_row(to, history, css, history->names[i], history->bytes[i], key);
	}
	(void)fputs("</table>", to);
}

void pfs_put_history(FILE *to, const struct pfs_report *self, enum pfs_question_id id,
		     const struct pfs_history *history)
{
	pfs_put_figure(to, id, true);
	if (history->moment_count == 0) {
		(void)fprintf(to, "<p class=\"lead\">%s</p>", pfs_questions[id].none);
	} else {
		put_plot(to, history, pfs_questions[id].name);
		put_legend(to, history, pfs_questions[id].whole);
	}
	pfs_put_caption(to, self, id);
}
