/*
 * page.c - the page around the figures, and the picture for documents.
 */
#include <string.h>

#include "report.h"

bool pfs_report_write_body(const struct pfs_report *self, FILE *to)
{
	struct pfs_history instruments, pools;
	if (!pfs_history_make(&instruments, &self->answers[PFS_ASK_HISTORY_INSTRUMENTS],
			      "other instruments"))
		return false;
	if (!pfs_history_make(&pools, &self->answers[PFS_ASK_HISTORY_POOLS],
			      "other pools")) {
		pfs_history_free(&instruments);
		return false;
	}
	pfs_put_head(to, self, &instruments);
	(void)fputs("<h2>Who holds what</h2><p class=\"lead\">Dark: in use now. Pale: at most, "
		    "ever.</p><div class=\"grid\"><div>\n", to);
	pfs_put_holders(to, self, PFS_ASK_INSTRUMENTS, &instruments);
	pfs_put_holders(to, self, PFS_ASK_PAIRS, NULL);
	(void)fputs("</div><div>\n", to);
	pfs_put_holders(to, self, PFS_ASK_ACCOUNTS, &pools);
	pfs_put_holders(to, self, PFS_ASK_USERS, NULL);
	pfs_put_holders(to, self, PFS_ASK_THREADS, NULL);
	(void)fputs("</div></div>\n<h2>Over time</h2>\n", to);
	pfs_put_history(to, self, PFS_ASK_HISTORY_INSTRUMENTS, &instruments);
	pfs_put_history(to, self, PFS_ASK_HISTORY_POOLS, &pools);
	(void)fputs("<h2>Does it add up to what is resident?</h2>\n", to);
	pfs_put_os(to, self);
	pfs_history_free(&instruments);
	pfs_history_free(&pools);
	return true;
}

bool pfs_report_write_page(const struct pfs_report *self, FILE *to)
{
	const char *program = pfs_report_head(self, "Pfs_box_program");
	const char *slash = strrchr(program, '/');
	(void)fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta "
		    "name=\"viewport\" content=\"width=device-width\">\n<title>pfs-mem: ", to);
	pfs_put_text(to, slash == NULL ? program : slash + 1);
	(void)fprintf(to, " (%s)</title><style>\n%s</style></head>\n<body><main>\n",
		      pfs_report_head(self, "Pfs_box_pid"), pfs_page_css);
	bool fine = pfs_report_write_body(self, to);
	(void)fputs("</main>\n<script type=\"application/json\" id=\"data\">", to);
	fine &= pfs_report_write_json(self, to);
	(void)fprintf(to, "</script>\n<script>\n%s</script></body></html>\n", pfs_page_js);
	return fine;
}
