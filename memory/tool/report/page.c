/*
 * page.c - the page around the figures, and the picture for documents.
 */
#include <string.h>

#include "report.h"

/* What is over time, by the question's number. */
struct histories {
	struct pfs_history of[PFS_QUESTIONS];
};

static bool make_histories(struct histories *self, const struct pfs_report *report)
{
	memset(self, 0, sizeof(*self));
	for (int i = 0; i < PFS_QUESTIONS; i++)
		if (pfs_questions[i].whole != NULL &&
		    !pfs_history_make(&self->of[i], &report->answers[i], pfs_questions[i].others))
			return false;
	return true;
}

static void put_holders(FILE *to, const struct pfs_report *self, const struct histories *histories)
{
	(void)fputs(
		"<h2>Who holds the heap</h2><p class=\"lead\">Dark: in use now. Pale: the maximum "
		"so far.</p><div class=\"grid\"><div>\n",
		to);
	pfs_put_holders(to, self, PFS_ASK_INSTRUMENTS, &histories->of[PFS_ASK_HISTORY_INSTRUMENTS]);
	pfs_put_holders(to, self, PFS_ASK_PAIRS, NULL);
	(void)fputs("</div><div>\n", to);
	pfs_put_holders(to, self, PFS_ASK_ACCOUNTS, &histories->of[PFS_ASK_HISTORY_POOLS]);
	pfs_put_holders(to, self, PFS_ASK_USERS, NULL);
	pfs_put_holders(to, self, PFS_ASK_THREADS, NULL);
	(void)fputs("</div></div>\n", to);
}

static void put_history(FILE *to, const struct pfs_report *self, const struct histories *histories,
			enum pfs_question_id id)
{
	pfs_put_history(to, self, id, &histories->of[id]);
}

static void put_arenas(FILE *to, const struct pfs_report *self, const struct histories *histories)
{
	(void)fputs("<h2>Arenas</h2><p class=\"lead\">What the allocator holds from the system, "
		    "and how much of it is allocated.</p>\n",
		    to);
	pfs_put_arenas(to, self, &histories->of[PFS_ASK_HISTORY_RESIDENT]);
	put_history(to, self, histories, PFS_ASK_HISTORY_RESIDENT);
	put_history(to, self, histories, PFS_ASK_HISTORY_STATES);
	(void)fputs("<h2>Owners</h2>\n", to);
	pfs_put_owners(to, self);
	pfs_put_beside(to, self, &histories->of[PFS_ASK_HISTORY_ARENAS]);
	put_history(to, self, histories, PFS_ASK_HISTORY_ARENAS);
}

bool pfs_report_write_body(const struct pfs_report *self, FILE *to)
{
	struct histories histories;
	bool fine = make_histories(&histories, self);
	if (fine) {
		pfs_put_head(to, self, &histories.of[PFS_ASK_HISTORY_INSTRUMENTS]);
		(void)fputs("<h2>Everything it holds</h2><p class=\"lead\">Whatever its kind, the "
			    "largest first.</p>\n",
			    to);
		pfs_put_parts(to, self);
		fine = pfs_put_lines(to, self);
		pfs_put_grown(to, self);
		put_holders(to, self, &histories);
		(void)fputs("<h2>Over time</h2>\n", to);
		put_history(to, self, &histories, PFS_ASK_HISTORY_INSTRUMENTS);
		put_history(to, self, &histories, PFS_ASK_HISTORY_POOLS);
		put_arenas(to, self, &histories);
		(void)fputs("<h2>Does it add up to what is resident?</h2>\n", to);
		pfs_put_os(to, self);
	}
	for (int i = 0; i < PFS_QUESTIONS; i++)
		pfs_history_free(&histories.of[i]);
	return fine;
}

void pfs_report_put_title(const struct pfs_report *self, FILE *to)
{
	pfs_put_doctype(to);
	(void)fputs("pfs-mem: ", to);
	pfs_put_text(to, pfs_report_program(self));
	(void)fprintf(to, " (%s)</title>\n", pfs_report_head(self, "Pfs_box_pid"));
}

bool pfs_report_put_data(const struct pfs_report *self, FILE *to)
{
	(void)fputs("<script type=\"application/json\" id=\"data\">", to);
	bool fine = pfs_report_write_json(self, to);
	(void)fputs("</script>\n", to);
	return fine;
}

bool pfs_report_write_page(const struct pfs_report *self, FILE *to)
{
	pfs_report_put_title(self, to);
	(void)fprintf(to, "<style>\n%s</style></head>\n<body><main>\n", pfs_page_css);
	bool fine = pfs_report_write_body(self, to);
	(void)fputs("</main>\n", to);
	fine &= pfs_report_put_data(self, to);
	(void)fprintf(to, "<script>\n%s</script></body></html>\n", pfs_page_js);
	return fine;
}
