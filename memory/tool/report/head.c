/*
 * head.c - the program, what the figures say, and what was lost.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* ---- what the figures say ---- */

static double percent(int64_t part, int64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void say_largest(FILE *to, const struct pfs_report *self, enum pfs_question_id id)
{
	const struct pfs_answer *answer = &self->answers[id];
	const char *who = pfs_answer_at(answer, 0, 0)->text;
	int64_t bytes = pfs_number_at(answer, 0, 1);
	int64_t all = pfs_number_at(answer, 0, 6);
	char text[32];
	if (who == NULL || all <= 0)
		return;
	(void)fprintf(to, "<li><a href=\"#%s\"><b>", pfs_questions[id].name);
	pfs_put_text(to, who);
	(void)fprintf(to, "</b> holds %s, %.1f %%</a> of what is tracked.</li>",
		      pfs_amount(bytes, text), percent(bytes, all));
}

static void say_part(FILE *to, const struct pfs_report *self)
{
	const struct pfs_answer *answer = &self->answers[PFS_ASK_PARTS];
	char text[32];
	if (answer->row_count == 0)
		return;
	(void)fprintf(to, "<li>Most is held by <a href=\"#%s\"><b>",
		      pfs_questions[PFS_ASK_PARTS].name);
	pfs_put_text(to, pfs_text_at(answer, 0, 0));
	(void)fputs("</b></a> (", to);
	pfs_put_text(to, pfs_text_at(answer, 0, 1));
	(void)fprintf(to, "): %s, %.1f %% of all.</li>",
		      pfs_amount(pfs_number_at(answer, 0, 2), text),
		      percent(pfs_number_at(answer, 0, 2), pfs_number_at(answer, 0, 5)));
}

static void say_line(FILE *to, const struct pfs_view *lines)
{
	char text[1600], error[32];
	if (lines->holders.count == 0)
		return;
	const struct pfs_holder *holder = &lines->holders.holders[0];
	(void)fputs("<li>Of the heap, <a href=\"#lines\"><b>", to);
	pfs_put_text(to, pfs_holder_text(lines->heap, holder, text, sizeof(text)));
	(void)fprintf(to, "</b></a> holds %s", pfs_amount((int64_t)holder->now.live_bytes, text));
	(void)fprintf(to, " (%s), %.1f %%.</li>", pfs_error_text(lines->heap, &holder->now, error),
		      holder->now.live_bytes / lines->holders.bytes * 100);
}

static void say_grown(FILE *to, const struct pfs_report_grown *grown)
{
	char text[1600], since[32];
	if (grown->growth.holders.count == 0)
		return;
	const struct pfs_holder *holder = &grown->growth.holders.holders[0];
	double by = holder->now.live_bytes - holder->base.live_bytes;
	if (by < PFS_HEAP_NOISE)
		return;
	(void)fprintf(to, "<li>Since %s, <a href=\"#grown\"><b>",
		      pfs_moment_text(grown->heap->moments[0].when_ns, since));
	pfs_put_text(to, pfs_holder_text(grown->heap, holder, text, sizeof(text)));
	(void)fprintf(to, "</b></a> has grown most, by %s.</li>", pfs_amount((int64_t)by, text));
}

static void say_peak(FILE *to, const struct pfs_history *history)
{
	char tracked[32], resident[32];
	size_t most = 0;
	if (history->moment_count == 0)
		return;
	for (size_t i = 0; i < history->moment_count; i++)
		if (history->tracked[i] > history->tracked[most])
			most = i;
	(void)fprintf(to, "<li><a href=\"#%s\">At most %s were tracked at a tick</a>: at ",
		      pfs_questions[PFS_ASK_HISTORY_INSTRUMENTS].name,
		      pfs_amount(history->tracked[most], tracked));
	pfs_put_text(to, history->times[most]);
	(void)fprintf(to, ", %s resident then.</li>", pfs_amount(history->rss[most], resident));
}

int64_t pfs_report_os(const struct pfs_report *self, const char *name)
{
	const struct pfs_answer *answer = &self->answers[PFS_ASK_OS];
	for (size_t i = 0; i < answer->row_count; i++)
		if (strcmp(pfs_text_at(answer, i, 0), name) == 0)
			return pfs_number_at(answer, i, 1);
	return 0;
}

static void say_os(FILE *to, const struct pfs_report *self)
{
	int64_t resident = pfs_report_os(self, "resident"),
		tracked = pfs_report_os(self, "tracked");
	int64_t unaccounted = pfs_report_os(self, "unaccounted");
	char one[32], two[32], three[32];
	if (resident <= 0)
		return;
	(void)fprintf(to,
		      "<li><a href=\"#%s\">%s are resident</a>: %s of them tracked, %s "
		      "(%.1f %%) unaccounted.</li>",
		      pfs_questions[PFS_ASK_OS].name, pfs_amount(resident, one),
		      pfs_amount(tracked, two), pfs_amount(unaccounted, three),
		      percent(unaccounted, resident));
}

/* ---- what was lost ---- */

static const struct {
	const char *variable, *words;
} losses[] = {
	{ "Pfs_cells_lost", "allocations not counted, because the box was full" },
	{ "Performance_schema_memory_classes_lost", "instruments that did not fit" },
	{ "Performance_schema_thread_instances_lost",
	  "threads not counted, because more lived than the box has room for "
	  "(pfs-mem run --threads)" },
	{ "Pfs_thread_bytes_lost", "bytes allocated by threads that are not counted" },
	{ "Performance_schema_accounts_lost", "accounts that did not fit" },
	{ "Performance_schema_users_lost", "users that did not fit" },
	{ "Performance_schema_hosts_lost", "hosts that did not fit" },
	{ "Pfs_memory_lost", "times that the system refused memory for the box" },
	{ "Pfs_rows_missed", "rows that changed during every attempt to read them" },
	{ "Pfs_box_damaged_records", "damaged records that were left out" },
};

static void say_lost(FILE *to, const struct pfs_report *self)
{
	char text[32];
	bool has_any = false;
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		int64_t count = strtoll(pfs_report_head(self, losses[i].variable), NULL, 10);
		if (count == 0)
			continue;
		has_any = true;
		(void)fprintf(to, "<li class=\"missed\">Lost: %s %s.</li>",
			      pfs_grouped(count, text), losses[i].words);
	}
	if (!has_any)
		(void)fputs("<li>Nothing was lost: all allocations were counted.</li>", to);
}

/* ---- the program ---- */

static void put_fact(FILE *to, const char *name, const char *value, const char *unit)
{
	if (value[0] == '\0')
		return;
	(void)fprintf(to, "<div%s><dt>%s</dt><dd>", strlen(value) > 40 ? " class=\"long\"" : "",
		      name);
	pfs_put_text(to, value);
	(void)fprintf(to, "%s</dd></div>", unit);
}

static void put_facts(FILE *to, const struct pfs_report *self)
{
	pfs_put_figure(to, PFS_ASK_HEAD, false);
	const char *died = pfs_report_head(self, "Pfs_box_died");
	(void)fputs("<dl>", to);
	put_fact(to, "command", pfs_report_head(self, "Pfs_box_command"), "");
	put_fact(to, "process", pfs_report_head(self, "Pfs_box_pid"), "");
	put_fact(to, "started", pfs_report_head(self, "Pfs_box_started"), "");
	put_fact(to, "state", died[0] == '\0' ? pfs_report_head(self, "Pfs_box_state") : died, "");
	put_fact(to, "asked", pfs_report_head(self, "Pfs_box_taken"), "");
	put_fact(to, "last tick", pfs_report_head(self, "Pfs_box_seen"), "");
	put_fact(to, "ticks", pfs_report_head(self, "Pfs_box_ticks"), "");
	put_fact(to, "time between ticks", pfs_report_head(self, "Pfs_box_tick_ms"), " ms");
	put_fact(to, "threads", pfs_report_head(self, "Threads_connected"), "");
	put_fact(to, "blocks are credited", pfs_report_head(self, "Pfs_box_rule"), "");
	put_fact(to, "frees of blocks from before", pfs_report_head(self, "Pfs_frees_from_before"),
		 "");
	put_fact(to, "box", self->box, "");
	(void)fputs("</dl>", to);
	pfs_put_caption(to, self, PFS_ASK_HEAD);
}

void pfs_put_head(FILE *to, const struct pfs_report *self, const struct pfs_history *history)
{
	const char *died = pfs_report_head(self, "Pfs_box_died");
	(void)fputs("<h1>Who holds the memory of ", to);
	pfs_put_text(to, pfs_report_program(self));
	(void)fputs("?</h1><p class=\"lead\">Process ", to);
	pfs_put_text(to, pfs_report_head(self, "Pfs_box_pid"));
	(void)fputs(", started ", to);
	pfs_put_text(to, pfs_report_head(self, "Pfs_box_started"));
	(void)fputs(died[0] == '\0' ? "; living at " : "; it ", to);
	pfs_put_text(to, died[0] == '\0' ? pfs_report_head(self, "Pfs_box_taken") : died);
	(void)fputs("</p>\n", to);
	put_facts(to, self);
	(void)fputs("<h2>What the figures say</h2><ul class=\"says\">", to);
	say_part(to, self);
	say_line(to, &self->now);
	say_grown(to, &self->grown);
	say_largest(to, self, PFS_ASK_INSTRUMENTS);
	say_largest(to, self, PFS_ASK_ACCOUNTS);
	say_peak(to, history);
	say_os(to, self);
	say_lost(to, self);
	(void)fputs("</ul>\n", to);
}
