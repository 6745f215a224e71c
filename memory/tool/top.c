/*
 * top.c - pfs-mem top: shows the largest holders, once or each second until the program ends.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/amount.h"
#include "command.h"

/* One line: an instrument, or the sum of all rows of a thread, account, user, or host. */
struct holder {
	uint32_t index;
	int64_t bytes, high_bytes, count, allocs;
	uint32_t parts; /* rows with a HIGH */
	bool is_exact;  /* HIGH was reached; else it is an upper bound */
};

static int most_first(const void *one, const void *other)
{
	const struct holder *a = one, *b = other;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	if (a->high_bytes != b->high_bytes)
		return a->high_bytes < b->high_bytes ? 1 : -1;
	return a->index < b->index ? -1 : 1;
}

static void raise_by(int64_t *value, int64_t by)
{
	*value = (int64_t)((uint64_t)*value + (uint64_t)by);
}

/* NULL: no memory. */
static struct holder *holders_of(const struct pfs_snapshot *snapshot,
				 const struct pfs_arguments *arguments, uint64_t *count)
{
	uint64_t rows = pfs_snapshot_row_count(snapshot, arguments->by);
	struct pfs_row row;
	*count = arguments->by_instrument          ? rows
		 : snapshot->instrument_count == 0 ? 0
						   : rows / snapshot->instrument_count;
	struct holder *holders = calloc(*count + 1, sizeof(*holders));
	for (uint64_t i = 0; holders != NULL && pfs_snapshot_row(snapshot, arguments->by, i, &row);
	     i++) {
		uint32_t index = arguments->by_instrument ? row.instrument : row.who;
		struct holder *holder = &holders[index];
		holder->index = index;
		raise_by(&holder->bytes, row.current_bytes);
		raise_by(&holder->high_bytes, row.high_bytes);
		raise_by(&holder->count, row.current_count);
		raise_by(&holder->allocs, row.count_alloc);
		/* Instruments may have peaked at different moments. */
		holder->parts += row.high_bytes != 0;
		if (row.high_bytes != 0)
			holder->is_exact = holder->parts == 1 && row.is_high_bytes_exact;
	}
	for (uint64_t i = 0; holders != NULL && i < *count; i++)
		holders[i].is_exact |= holders[i].high_bytes == holders[i].bytes;
	if (holders != NULL)
		qsort(holders, *count, sizeof(*holders), most_first);
	return holders;
}

static void put_head(const struct pfs_snapshot *snapshot, const struct holder *holders,
		     uint64_t count)
{
	char tracked[32], rss[32], died[160];
	int64_t sum = 0;
	for (uint64_t i = 0; i < count; i++)
		raise_by(&sum, holders[i].bytes);
	(void)printf("%s (%u) %s: %s in use, %u thread%s, %u instrument%s", snapshot->info.program,
		     snapshot->info.pid, pfs_box_died(&snapshot->info, died, sizeof(died)),
		     pfs_amount(sum, tracked), snapshot->thread_count,
		     snapshot->thread_count == 1 ? "" : "s", snapshot->instrument_count,
		     snapshot->instrument_count == 1 ? "" : "s");
	if (snapshot->lost[PFS_LOST_THREADS] != 0)
		(void)printf(", %llu threads not counted (they allocated %s in all)",
			     (unsigned long long)snapshot->lost[PFS_LOST_THREADS],
			     pfs_amount((int64_t)snapshot->lost[PFS_LOST_THREAD_BYTES], tracked));
	if (snapshot->has_own)
		(void)printf(", resident %s", pfs_amount((int64_t)snapshot->own.rss, rss));
	(void)printf("\n\n");
}

static bool put(const struct pfs_snapshot *snapshot, const struct pfs_arguments *arguments)
{
	bool is_text = arguments->format == PFS_FORMAT_TEXT;
	/* Text has a sign instead of the last one. */
	const char *const columns[] = { "CURRENT", "HIGH", "BLOCKS",
					"ALLOCS",  "WHO",  is_text ? NULL : "HIGH_IS",
					NULL };
	char text[PFS_BOX_USER_BYTES + PFS_BOX_HOST_BYTES + 8];
	uint64_t count;
	struct holder *holders = holders_of(snapshot, arguments, &count);
	struct pfs_sheet *sheet = pfs_sheet_begin(columns);
	if (holders == NULL || sheet == NULL) {
		free(holders);
		return false;
	}
	if (is_text)
		put_head(snapshot, holders, count);
	for (uint64_t i = 0; i < count && i < arguments->count; i++) {
		const struct holder *holder = &holders[i];
		pfs_sheet_number(sheet, holder->bytes);
		pfs_sheet_bound(sheet, holder->high_bytes, holder->is_exact);
		pfs_sheet_number(sheet, holder->count);
		pfs_sheet_number(sheet, holder->allocs);
		pfs_sheet_text(sheet, arguments->by_instrument
					      ? snapshot->instruments[holder->index].name
					      : pfs_who_text(snapshot, arguments->by, holder->index,
							     text, sizeof(text)));
		if (!is_text)
			pfs_sheet_text(sheet, holder->is_exact ? "exact" : "at most");
	}
	free(holders);
	return pfs_sheet_end(sheet, arguments->format);
}

/* -1: show it again. */
static int show_once(struct pfs_reader *reader, const struct pfs_arguments *arguments)
{
	struct pfs_message message;
	struct pfs_snapshot *snapshot = pfs_snapshot_take(reader, PFS_SNAPSHOT_ROWS, &message);
	bool clears = !arguments->once && isatty(STDOUT_FILENO);
	if (snapshot == NULL)
		return pfs_complain_of(&message);
	if (clears)
		(void)fputs("\033[H\033[J", stdout);
	int status = -1;
	if (!put(snapshot, arguments))
		status = pfs_complain(PFS_EXIT_REFUSED, "standard output cannot be written");
	else if (arguments->once || !snapshot->info.is_live) {
		pfs_remark(snapshot);
		status = PFS_EXIT_FINE;
	}
	pfs_snapshot_free(snapshot);
	return status;
}

static int run_top(const struct pfs_arguments *arguments)
{
	const struct timespec second = { .tv_sec = 1 };
	struct pfs_message message;
	struct pfs_reader *reader = pfs_reader_open(arguments->words[0], &message);
	if (reader == NULL)
		return pfs_complain_of(&message);
	int status = show_once(reader, arguments);
	while (status < 0) {
		(void)nanosleep(&second, NULL);
		status = show_once(reader, arguments);
	}
	pfs_reader_close(reader);
	return status;
}

static const struct pfs_option options[] = {
	PFS_MEM_SWITCH("once", '1', once, "print once, not every second"),
	PFS_MEM_READ("by", 'b', "WHAT", pfs_take_by,
		     "instrument, thread, account, user, or host; default instrument"),
	{ .name = "count",
	  .key = 'n',
	  .value = "N",
	  .help = "at most N rows; default 20",
	  .kind = PFS_OPTION_NUMBER,
	  .place.number = &pfs_arguments.count,
	  .low = 1,
	  .high = UINT32_MAX },
	PFS_MEM_READ("format", 'f', "FORMAT", pfs_take_format, "text, csv, or json; default text"),
	{ 0 }
};

/* clang-format off */
const struct pfs_command pfs_command_top = {
	.name = "top", .words = "TARGET", .words_min = 1, .words_max = 1, .run = run_top,
	.options = options,
	.doc = "show who holds the most memory\vA HIGH with the sign ≤ (HIGH_IS 'at most' in csv "
	       "and json) is an upper bound: a sum of peaks that may have come at different "
	       "moments. A box whose program ended is shown once.",
};
/* clang-format on */
