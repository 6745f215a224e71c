/*
 * show.c - pfs-mem show: prints a table of a box. Also what changes one: truncate, enable, disable.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"

#define WHO_COLUMNS 2

/* The names of the columns before EVENT_NAME. */
static const char *const who_columns[PFS_TABLES][WHO_COLUMNS + 1] = {
	[PFS_TABLE_THREAD] = { "THREAD_ID", NULL },
	[PFS_TABLE_ACCOUNT] = { "USER", "HOST", NULL },
	[PFS_TABLE_USER] = { "USER", NULL },
	[PFS_TABLE_HOST] = { "HOST", NULL },
	[PFS_TABLE_GLOBAL] = { NULL },
};

/* clang-format off */
static const char *const sum_columns[] = {
	"EVENT_NAME", "COUNT_ALLOC", "COUNT_FREE", "SUM_NUMBER_OF_BYTES_ALLOC",
	"SUM_NUMBER_OF_BYTES_FREE", "LOW_COUNT_USED", "CURRENT_COUNT_USED", "HIGH_COUNT_USED",
	"LOW_NUMBER_OF_BYTES_USED", "CURRENT_NUMBER_OF_BYTES_USED", "HIGH_NUMBER_OF_BYTES_USED",
	"HIGH_IS", NULL,
};
/* clang-format on */

static void put_user(struct pfs_sheet *sheet, const struct pfs_seen_account *account)
{
	pfs_sheet_text(sheet, account->has_user ? account->user_name : NULL);
}

static void put_host(struct pfs_sheet *sheet, const struct pfs_seen_account *account)
{
	pfs_sheet_text(sheet, account->has_host ? account->host_name : NULL);
}

static void put_row(struct pfs_sheet *sheet, const struct pfs_snapshot *snapshot,
		    const struct pfs_row *row, bool with_mark)
{
	const int64_t numbers[] = {
		row->count_alloc, row->count_free, row->bytes_alloc,
		row->bytes_free,  row->low_count,  row->current_count,
	};
	if (row->table == PFS_TABLE_THREAD)
		pfs_sheet_number(sheet, (int64_t)snapshot->threads[row->who].thread_id);
	if (row->table == PFS_TABLE_ACCOUNT) {
		put_user(sheet, &snapshot->accounts[row->who]);
		put_host(sheet, &snapshot->accounts[row->who]);
	}
	if (row->table == PFS_TABLE_USER)
		put_user(sheet, &snapshot->users[row->who]);
	if (row->table == PFS_TABLE_HOST)
		put_host(sheet, &snapshot->hosts[row->who]);
	pfs_sheet_text(sheet, snapshot->instruments[row->instrument].name);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		pfs_sheet_number(sheet, numbers[i]);
	pfs_sheet_bound(sheet, row->high_count, row->is_high_count_exact);
	pfs_sheet_number(sheet, row->low_bytes);
	pfs_sheet_number(sheet, row->current_bytes);
	pfs_sheet_bound(sheet, row->high_bytes, row->is_high_bytes_exact);
	if (with_mark)
		pfs_sheet_text(sheet, row->is_high_bytes_exact ? "exact" : "at most");
}

static bool show(const struct pfs_snapshot *snapshot, enum pfs_box_table table,
		 enum pfs_format format)
{
	const char *columns[WHO_COLUMNS + sizeof(sum_columns) / sizeof(sum_columns[0])];
	size_t count = 0;
	struct pfs_row row;
	bool with_mark = format != PFS_FORMAT_TEXT; /* text has a sign */
	while (who_columns[table][count] != NULL) {
		columns[count] = who_columns[table][count];
		count++;
	}
	memcpy(&columns[count], sum_columns, sizeof(sum_columns));
	if (!with_mark)
		columns[count + sizeof(sum_columns) / sizeof(sum_columns[0]) - 2] = NULL;
	struct pfs_sheet *sheet = pfs_sheet_begin(columns);
	if (sheet == NULL)
		return false;
	for (uint64_t i = 0; pfs_snapshot_row(snapshot, table, i, &row); i++)
		put_row(sheet, snapshot, &row, with_mark);
	return pfs_sheet_end(sheet, format);
}

/* PFS_TABLES: there is none; a message was printed. */
static enum pfs_box_table find_table(const char *name)
{
	enum pfs_box_table table = pfs_table_find(name);
	if (table == PFS_TABLES)
		(void)pfs_complain(0,
				   "there is no table '%.100s': choose thread, account, user, "
				   "host, or global",
				   name);
	return table;
}

static int run_show(const struct pfs_arguments *arguments)
{
	struct pfs_message message;
	enum pfs_box_table table = find_table(arguments->words[1]);
	if (table == PFS_TABLES)
		return PFS_EXIT_REFUSED;
	struct pfs_reader *reader = pfs_reader_open(arguments->words[0], &message);
	struct pfs_snapshot *snapshot =
		reader == NULL ? NULL : pfs_snapshot_take(reader, PFS_SNAPSHOT_ROWS, &message);
	int status = PFS_EXIT_FINE;
	if (snapshot == NULL)
		status = pfs_complain_of(&message);
	else {
		pfs_remark(snapshot);
		if (!show(snapshot, table, arguments->format))
			status = pfs_complain(PFS_EXIT_REFUSED,
					      "standard output cannot be written");
	}
	pfs_snapshot_free(snapshot);
	pfs_reader_close(reader);
	return status;
}

static const struct pfs_option show_options[] = { PFS_MEM_READ(
							  "format", 'f', "FORMAT", pfs_take_format,
							  "table, csv, or json; default table"),
						  { 0 } };

/* clang-format off */
const struct pfs_command pfs_command_show = {
	.name = "show", .words = "TARGET TABLE", .words_min = 2, .words_max = 2, .run = run_show,
	.options = show_options, .doc = "print all rows of a table",
};
/* clang-format on */

/* ---- changes ---- */

static int run_truncate(const struct pfs_arguments *arguments)
{
	struct pfs_message message;
	enum pfs_box_table table = find_table(arguments->words[1]);
	if (table == PFS_TABLES)
		return PFS_EXIT_REFUSED;
	struct pfs_reader *reader = pfs_reader_open(arguments->words[0], &message);
	bool done = reader != NULL && pfs_reader_truncate(reader, table, &message);
	pfs_reader_close(reader);
	return done ? PFS_EXIT_FINE : pfs_complain_of(&message);
}

/* clang-format off */
const struct pfs_command pfs_command_truncate = {
	.name = "truncate", .words = "TARGET TABLE", .words_min = 2, .words_max = 2,
	.run = run_truncate,
	.doc = "a new baseline for a table, and those inside it",
};
/* clang-format on */

/* Does a name match? A pattern may end in '%', which matches any end. */
static bool fits(const char *name, const char *pattern)
{
	size_t length = strlen(pattern);
	if (length != 0 && pattern[length - 1] == '%')
		return strncmp(name, pattern, length - 1) == 0;
	return strcmp(name, pattern) == 0;
}

static bool set_enabled(struct pfs_reader *reader, const char *pattern, bool enabled,
			struct pfs_message *message)
{
	struct pfs_snapshot *snapshot = pfs_snapshot_take(reader, 0, message);
	uint32_t found = 0;
	bool fine = snapshot != NULL;
	for (uint32_t i = 0; fine && i < snapshot->instrument_count; i++) {
		if (!fits(snapshot->instruments[i].name, pattern))
			continue;
		found++;
		fine = pfs_reader_enable(reader, snapshot->instruments[i].number, enabled, message);
	}
	pfs_snapshot_free(snapshot);
	if (fine && found == 0)
		return pfs_refuse(
			message,
			"no instrument is named '%.120s': 'pfs-mem show TARGET global' lists them",
			pattern);
	return fine;
}

static int change_enabled(const struct pfs_arguments *arguments, bool enabled)
{
	struct pfs_message message;
	struct pfs_reader *reader = pfs_reader_open(arguments->words[0], &message);
	bool done = reader != NULL && set_enabled(reader, arguments->words[1], enabled, &message);
	pfs_reader_close(reader);
	return done ? PFS_EXIT_FINE : pfs_complain_of(&message);
}

static int run_enable(const struct pfs_arguments *arguments)
{
	return change_enabled(arguments, true);
}

static int run_disable(const struct pfs_arguments *arguments)
{
	return change_enabled(arguments, false);
}

/* clang-format off */
const struct pfs_command pfs_command_enable = {
	.name = "enable", .words = "TARGET NAME", .words_min = 2, .words_max = 2,
	.run = run_enable,
	.doc = "resume counting an instrument; NAME may end in %",
};

const struct pfs_command pfs_command_disable = {
	.name = "disable", .words = "TARGET NAME", .words_min = 2, .words_max = 2,
	.run = run_disable,
	.doc = "stop counting an instrument; blocks already counted are still counted when freed",
};
/* clang-format on */

/* ---- check ---- */

static int run_check(const struct pfs_arguments *arguments)
{
	struct pfs_message message;
	struct pfs_reader *reader = pfs_reader_open(arguments->words[0], &message);
	bool fine = reader != NULL && pfs_reader_check(reader, &message);
	if (fine)
		(void)printf("%s: consistent, and adds up\n", pfs_reader_info(reader)->path);
	pfs_reader_close(reader);
	if (!fine)
		return pfs_complain_of(&message);
	return fflush(stdout) == 0 ? PFS_EXIT_FINE : PFS_EXIT_REFUSED;
}

/* clang-format off */
const struct pfs_command pfs_command_check = {
	.name = "check", .words = "FILE", .words_min = 1, .words_max = 1, .run = run_check,
	.doc = "check that a box is consistent",
};
/* clang-format on */
