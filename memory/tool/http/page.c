/*
 * page.c - the page: a list of programs, and the report's figures of one box, which it renews.
 */
#define _GNU_SOURCE
#include <string.h>

#include "http.h"

extern const char pfs_live_css[], pfs_live_js[]; /* made of live.css and live.js */

/* ---- programs ---- */

static const char *state_of(const struct pfs_box_info *info, char *text, size_t text_bytes)
{
	return info->is_live ? "living" : pfs_box_died(info, text, text_bytes);
}

static void put_program(FILE *to, const struct pfs_box_info *info, bool is_shown)
{
	char id[PFS_HTTP_TARGET_BYTES], state[160];
	pfs_http_id(info->path, id);
	(void)fprintf(to, "<tr%s><td class=\"who\"><a href=\"/boxes/%s/\"%s>",
		      info->is_live ? "" : " class=\"soft\"", id,
		      is_shown ? " aria-current=\"page\"" : "");
	pfs_put_text(to, pfs_http_program(info));
	(void)fprintf(to, "</a></td><td>%u</td><td class=\"state\">", info->pid);
	pfs_put_text(to, state_of(info, state, sizeof(state)));
	(void)fputs("</td></tr>", to);
}

static void put_programs(FILE *to, const struct pfs_box_list *list, const char *id)
{
	size_t living = 0, shown = 0;
	char other[PFS_HTTP_TARGET_BYTES];
	for (size_t i = 0; i < list->count; i++)
		living += list->boxes[i].is_live;
	(void)fprintf(to,
		      "<details%s id=\"programs\"><summary>Programs: %zu living, %zu dead"
		      "</summary><table><tr><th>program</th><th>process</th><th>state</th></tr>",
		      list->count > 1 && list->count <= 5 ? " open" : "", living,
		      list->count - living);
	/* Living ones first. */
	for (int is_live = 1; is_live >= 0; is_live--)
		for (size_t i = 0; i < list->count && shown < PFS_HTTP_BOXES_SHOWN; i++) {
			if (list->boxes[i].is_live != is_live)
				continue;
			pfs_http_id(list->boxes[i].path, other);
			put_program(to, &list->boxes[i], strcmp(other, id) == 0);
			shown++;
		}
	(void)fputs("</table>", to);
	if (shown < list->count)
		(void)fprintf(to, "<p class=\"soft\">%zu more: /api/boxes has them.</p>",
			      list->count - shown);
	if (list->refused != 0) {
		(void)fprintf(to,
			      "<p class=\"missed\">%zu files are not boxes that can be read; "
			      "the first: ",
			      list->refused);
		pfs_put_text(to, list->why.text);
		(void)fputs("</p>", to);
	}
	(void)fputs("</details>\n", to);
}

/* ---- the page ---- */

/* Outside the part that is renewed: it is loaded when first seen, and keeps its zoom. */
static void put_flame(FILE *to, const struct pfs_http_box *box)
{
	const char *id = box->id;
	(void)fputs("<section class=\"more\" id=\"where\"><h2>Where it was allocated</h2>", to);
	if (!pfs_http_has_profile(box))
		(void)fputs("<p class=\"lead\">Not known: the program was started without a heap "
			    "profile.</p>",
			    to);
	else
		(void)fprintf(to,
			      "<p class=\"lead\">Bytes in use that were sampled, by stack; a "
			      "click shows what is below a frame. <a href=\"/boxes/%s/flame\">"
			      "Alone</a>; <a href=\"/boxes/%s/flame?total=1\">all that was "
			      "allocated</a>.</p><iframe class=\"flame\" loading=\"lazy\" "
			      "sandbox=\"allow-scripts\" title=\"flame graph\" "
			      "src=\"/boxes/%s/flame\"></iframe>",
			      id, id, id);
	(void)fputs("</section>\n", to);
}

static void put_links(FILE *to, const char *id)
{
	static const char *const links[][2] = {
		{ "lines", "the lines that hold the heap" },
		{ "flame", "the flame graph alone" },
		{ "pprof/heap", "for jeprof, google-pprof, go tool pprof; names at pprof/symbol" },
		{ "debug/pprof/heap", "for go tool pprof, and profilers that pull" },
		{ "pprof/collapsed", "for flamegraph.pl, speedscope" },
		{ "metrics", "for Prometheus" },
		{ "api/boxes", "programs, as JSON" },
		{ "api/tables", "tables, as JSON" },
		{ "api/history", "the last hour, as JSON" },
	};
	(void)fputs("<section class=\"more\"><h2>For other programs</h2><ul class=\"says\">", to);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		(void)fprintf(to, "<li><a href=\"/boxes/%s/%s\">/boxes/%s/%s</a> %s</li>", id,
			      links[i][0], id, links[i][0], links[i][1]);
	(void)fputs("</ul></section>\n", to);
}

PFS_HTTP_MAKES(pfs_http_page)
{
	struct pfs_box_list list;
	struct pfs_report *report = pfs_report_take(box->path, message);
	if (report == NULL)
		return false;
	if (pfs_http_has_profile(box))
		(void)snprintf(report->lines_from, sizeof(report->lines_from), "/boxes/%s/lines",
			       box->id);
	if (!pfs_http_list(&list, message)) {
		pfs_report_free(report);
		return false;
	}
	pfs_report_put_title(report, to);
	(void)fputs("<link rel=\"stylesheet\" href=\"/page.css\">\n"
		    "<script defer src=\"/page.js\"></script>\n"
		    "<script defer src=\"/live.js\"></script></head>\n<body>\n<nav>",
		    to);
	put_programs(to, &list, box->id);
	(void)fputs("<a href=\"#where\">where it was allocated</a>"
		    "<label hidden><input type=\"checkbox\" id=\"follow\"> renew each 5 s</label>"
		    "</nav>\n<main>\n",
		    to);
	bool fine = pfs_report_write_body(report, to);
	(void)fputs("</main>\n", to);
	fine &= pfs_report_put_data(report, to);
	put_flame(to, box);
	put_links(to, box->id);
	(void)fputs("</body></html>\n", to);
	pfs_box_list_free(&list);
	pfs_report_free(report);
	return fine;
}

PFS_HTTP_MAKES(pfs_http_lines)
{
	pfs_put_doctype(to);
	(void)fputs("pfs-mem: lines</title><link rel=\"stylesheet\" href=\"/page.css\"></head>\n"
		    "<body><main>\n",
		    to);
	bool fine = pfs_report_write_lines(box->path, to, message);
	(void)fputs("</main></body></html>\n", to);
	return fine;
}

PFS_HTTP_MAKES(pfs_http_style)
{
	return fprintf(to, "%s%s", pfs_page_css, pfs_live_css) > 0;
}

PFS_HTTP_MAKES(pfs_http_script)
{
	return fputs(pfs_page_js, to) >= 0;
}

PFS_HTTP_MAKES(pfs_http_live_script)
{
	return fputs(pfs_live_js, to) >= 0;
}
