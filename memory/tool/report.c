/*
 * report.c - pfs-mem report: a box as a page, or as a picture.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "report/report.h"

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);
	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Would the output overwrite the box? */
static bool is_box(const char *path, const char *box)
{
	struct stat one, other;
	return stat(path, &one) == 0 && stat(box, &other) == 0 && one.st_ino == other.st_ino &&
	       one.st_dev == other.st_dev;
}

static bool put(const struct pfs_report *report, const char *path, FILE *to)
{
	if (ends_in(path, ".json"))
		return pfs_report_write_json(report, to);
	if (ends_in(path, ".svg"))
		return pfs_report_write_picture(report, to);
	return pfs_report_write_page(report, to);
}

/* The output, for free. NULL: a message was printed. */
static char *make(const struct pfs_arguments *arguments, size_t *bytes)
{
	const char *target = arguments->word_count > 0 ? arguments->words[0] : "last";
	struct pfs_message message;
	char *text = NULL;
	struct pfs_report *report = pfs_report_take(target, &message);
	bool is_whole = report != NULL && (ends_in(arguments->out, ".svg") ||
					   pfs_report_take_lines(report, &message));
	if (!is_whole) {
		(void)pfs_complain_of(&message);
		pfs_report_free(report);
		return NULL;
	}
	FILE *to = open_memstream(&text, bytes);
	bool is_over = is_box(arguments->out, report->box);
	bool fine = !is_over && to != NULL && put(report, arguments->out, to);
	if (to != NULL && (ferror(to) || fclose(to) != 0))
		fine = false;
	if (!fine) {
		(void)pfs_complain(
			0,
			is_over ? "report: %.300s is the box itself: name another file with --out"
			: ends_in(arguments->out, ".svg")
				? "report: no picture for %.300s: no tick was written, or no memory"
				: "report: no memory for %.300s",
			arguments->out);
		free(text);
		text = NULL;
	}
	pfs_report_free(report);
	return text;
}

static int run_report(const struct pfs_arguments *arguments)
{
	size_t bytes = 0;
	if (arguments->out == NULL || arguments->out[0] == '\0')
		return pfs_complain(PFS_EXIT_USAGE, "report: no file given: add --out FILE.html");
	char *text = make(arguments, &bytes);
	int status = text == NULL ? PFS_EXIT_REFUSED
				  : pfs_write_out("report", arguments->out, text, bytes);
	free(text);
	return status;
}

static const struct pfs_option report_options[] = {
	PFS_MEM_TEXT("out", 'o', "FILE", out,
		     "FILE.html: the page; FILE.svg: a chart of memory over time; FILE.json: all "
		     "data; -: standard output"),
	{ 0 }
};

/* clang-format off */
const struct pfs_command pfs_command_report = {
	.name = "report", .words = "--out FILE.html [TARGET]", .words_min = 0, .words_max = 1,
	.doc = "write a page: who holds what, over time, adding up to the resident set\vThe page "
	       "is self-contained. Default TARGET: last.",
	.options = report_options, .format = PFS_FORMAT_TEXT, .run = run_report
};
/* clang-format on */
