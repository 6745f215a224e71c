/*
 * picture.c - memory over time by instrument, as a stand-alone SVG.
 */
#include <string.h>

#include "report.h"

#define WIDTH 760.0

static const char style[] =
	"text{font:12px system-ui,'Segoe UI','Liberation Sans',Helvetica,Arial,sans-serif;"
	"fill:#5c6570}.ink{fill:#1b1f24}.area{stroke:#fff;stroke-width:.7}.paper{fill:#fff}"
	".rss{fill:none;stroke:#1b1f24;stroke-width:2}.gridline{stroke:#1b1f24;stroke-opacity:.13}"
	".s0{fill:#d55e00}.s1{fill:#0072b2}.s2{fill:#e69f00}.s3{fill:#009e73}.s4{fill:#56b4e9}"
	".s5{fill:#cc79a7}.s6{fill:#882255}.s7{fill:#999933}.s8{fill:#7a7a7a}"
	"@media screen and (prefers-color-scheme:dark){text{fill:#a7b0ba}.ink{fill:#eceff2}"
	".area{stroke:#15181c}.paper{fill:#15181c}.rss{stroke:#eceff2}"
	".gridline{stroke:#eceff2}.s0{fill:#ff8a3d}.s1{fill:#5aa9e6}.s2{fill:#f2b84b}"
	".s3{fill:#37c79b}.s4{fill:#8fd0f7}.s5{fill:#e3a6c6}.s6{fill:#d0709c}.s7{fill:#c9c95a}"
	".s8{fill:#a8a8a8}}";

static void put_scales(FILE *to, const struct pfs_history *history, const struct pfs_frame *frame)
{
	unsigned lines;
	int64_t step = pfs_grid_step(history->most, &lines);
	struct pfs_time times[PFS_TIMES_MOST];
	char text[32];
	for (unsigned i = 0; i <= lines; i++) {
		double y = frame->top + frame->height * (1 - (double)i / lines);
		(void)fprintf(to,
			      "<path class=\"gridline\" d=\"M%.1f %.1fh%.1f\"/><text x=\"%.1f\""
			      " y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			      frame->left, y, frame->width, frame->left - 6, y + 4,
			      i == 0 ? "0" : pfs_amount(step * i, text));
	}
	for (unsigned i = 0, count = pfs_times_of(history, times); i < count; i++)
		(void)fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
			      frame->left + frame->width * times[i].part,
			      frame->top + frame->height + 18, times[i].text);
}

/* The legend leaves out what is too small to be seen. */
static bool is_seen(const struct pfs_history *history, size_t series)
{
	return pfs_history_most(history, history->bytes[series]) > history->most / 250;
}

static void put_legend(FILE *to, const struct pfs_history *history, double y)
{
	char text[32];
	for (size_t i = 0; i < history->series_count; i++) {
		if (!is_seen(history, i))
			continue;
		(void)fprintf(to,
			      "<rect class=\"s%u\" x=\"70\" y=\"%.0f\" width=\"10\" "
			      "height=\"10\"/><text class=\"ink\" x=\"86\" y=\"%.0f\">",
			      pfs_colour_of(history, history->names[i]), y, y + 9);
		pfs_put_text(to, history->names[i]);
		(void)fprintf(to, ", at most %s</text>\n",
			      pfs_amount(pfs_history_most(history, history->bytes[i]), text));
		y += 20;
	}
}

static void put_picture(FILE *to, const struct pfs_report *self, const struct pfs_history *history)
{
	const struct pfs_frame frame = { 70, 40, WIDTH - 70 - 34, 230 };
	double legend = frame.top + frame.height + 34;
	double height = legend + 6;
	char text[32];
	for (size_t i = 0; i < history->series_count; i++)
		height += is_seen(history, i) ? 20 : 0;
	pfs_put_svg(to, style,
		    "viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\"", WIDTH,
		    height, WIDTH, height);
	(void)fprintf(to,
		      "<text class=\"ink\" x=\"%.0f\" y=\"22\" "
		      "style=\"font-size:14px;font-weight:600\">",
		      frame.left);
	pfs_put_text(to, pfs_report_program(self));
	(void)fprintf(to, ": at most %s tracked; the line is the resident set</text>\n",
		      pfs_amount(pfs_history_most(history, history->tracked), text));
	pfs_put_areas(to, history, &frame);
	put_scales(to, history, &frame);
	put_legend(to, history, legend);
	(void)fputs("</svg>\n", to);
}

bool pfs_report_write_picture(const struct pfs_report *self, FILE *to)
{
	struct pfs_history history;
	if (!pfs_history_make(&history, &self->answers[PFS_ASK_HISTORY_INSTRUMENTS],
			      "other instruments"))
		return false;
	bool fine = history.moment_count > 0;
	if (fine)
		put_picture(to, self, &history);
	pfs_history_free(&history);
	return fine;
}
