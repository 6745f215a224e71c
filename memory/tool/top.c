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
#include "profile/view.h"
#include "runtimes.h"
#include "sql/parts.h"

#define LINES_MOST 5u

/* One line: the sum of all rows of a thread, account, user, or host. */
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
	*count = snapshot->instrument_count == 0 ? 0 : rows / snapshot->instrument_count;
	struct holder *holders = calloc(*count + 1, sizeof(*holders));
	for (uint64_t i = 0; holders != NULL && pfs_snapshot_row(snapshot, arguments->by, i, &row);
	     i++) {
		struct holder *holder = &holders[row.who];
		holder->index = row.who;
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

static void put_head(const struct pfs_snapshot *snapshot, int64_t sum)
{
	char tracked[32], rss[32], died[160], title[512];
	(void)printf("%s %s: %s in use, %u thread%s, %u instrument%s",
		     pfs_box_title(&snapshot->info, title, sizeof(title)),
		     pfs_box_died(&snapshot->info, died, sizeof(died)), pfs_amount(sum, tracked),
		     snapshot->thread_count, snapshot->thread_count == 1 ? "" : "s",
		     snapshot->instrument_count, snapshot->instrument_count == 1 ? "" : "s");
	if (snapshot->lost[PFS_LOST_THREADS] != 0)
		(void)printf(", %llu threads not counted (they allocated %s in all)",
			     (unsigned long long)snapshot->lost[PFS_LOST_THREADS],
			     pfs_amount((int64_t)snapshot->lost[PFS_LOST_THREAD_BYTES], tracked));
	uint64_t now = pfs_resident_now(&snapshot->info);
	if (now != 0 || snapshot->has_own)
		(void)printf(", resident %s",
			     pfs_amount((int64_t)(now != 0 ? now : snapshot->own.rss), rss));
	(void)printf("\n\n");
}

static bool put_owners(const struct pfs_snapshot *snapshot, const struct pfs_arguments *arguments)
{
	bool is_text = arguments->format == PFS_FORMAT_TEXT;
	/* Text has a sign instead of the last one. */
	const char *const columns[] = { "CURRENT", "HIGH", "BLOCKS",
					"ALLOCS",  "WHO",  is_text ? NULL : "HIGH_IS",
					NULL };
	char text[PFS_BOX_USER_BYTES + PFS_BOX_HOST_BYTES + 8];
	uint64_t count;
	int64_t sum = 0;
	struct holder *holders = holders_of(snapshot, arguments, &count);
	struct pfs_sheet *sheet = holders != NULL ? pfs_sheet_begin(columns) : NULL;
	for (uint64_t i = 0; holders != NULL && i < count; i++)
		raise_by(&sum, holders[i].bytes);
	if (sheet != NULL && is_text)
		put_head(snapshot, sum);
	for (uint64_t i = 0; sheet != NULL && i < count && i < arguments->count; i++) {
		const struct holder *holder = &holders[i];
		pfs_sheet_number(sheet, holder->bytes);
		pfs_sheet_bound(sheet, holder->high_bytes, holder->is_exact);
		pfs_sheet_number(sheet, holder->count);
		pfs_sheet_number(sheet, holder->allocs);
		pfs_sheet_text(sheet, pfs_who_text(snapshot, arguments->by, holder->index, text,
						   sizeof(text)));
		if (!is_text)
			pfs_sheet_text(sheet, holder->is_exact ? "exact" : "at most");
	}
	free(holders);
	return sheet != NULL && pfs_sheet_end(sheet, arguments->format);
}

/* ---- everything, whatever its kind ---- */

static void put_number_if(struct pfs_sheet *sheet, bool has, int64_t number)
{
	if (has)
		pfs_sheet_number(sheet, number);
	else
		pfs_sheet_blank(sheet);
}

static void put_part(struct pfs_sheet *sheet, const struct pfs_part *part, bool is_text)
{
	bool is_heap = strcmp(part->kind, "heap") == 0;
	bool is_mapped = strcmp(part->kind, "mapped") == 0;
	pfs_sheet_number(sheet, part->bytes);
	if (is_heap)
		pfs_sheet_bound(sheet, part->high_bytes, part->is_high_exact);
	else
		pfs_sheet_blank(sheet);
	put_number_if(sheet, is_heap || is_mapped, part->count);
	put_number_if(sheet, is_heap, part->allocs);
	pfs_sheet_text(sheet, part->is_estimate ? "mapped_at_most" : part->kind);
	pfs_sheet_text(sheet, part->name);
	if (!is_text && is_heap)
		pfs_sheet_text(sheet, part->is_high_exact ? "exact" : "at most");
	else if (!is_text)
		pfs_sheet_blank(sheet);
}

/* What would explain the largest holder, if it is a runtime's: its own memory, or blocks that its
 * functions in C allocated for objects of another language. */
static void put_advice(const struct pfs_parts *parts)
{
	const struct pfs_part *first = parts->parts;
	const struct pfs_runtime *runtime = parts->count != 0 ? pfs_runtime_of(first->name) : NULL;
	const char *advice = runtime == NULL                      ? NULL
			     : strcmp(first->kind, "mapped") == 0 ? runtime->advice
			     : strcmp(first->kind, "heap") == 0   ? runtime->of_blocks
								  : NULL;
	if (advice != NULL)
		(void)printf("\n%s: %s\n", first->name, advice);
}

/* How much of the resident set the rows have. Blocks that were never touched are counted, and are
 * not resident. */
static void put_share(const struct pfs_parts *parts)
{
	char known[32], resident[32];
	if (parts->resident <= 0 || parts->known_bytes <= 0)
		return;
	(void)printf("\n%s are resident; these rows explain ",
		     pfs_amount(parts->resident, resident));
	if (parts->known_bytes > parts->resident)
		(void)printf("all of it (%s are counted, and not touched).",
			     pfs_amount(parts->known_bytes - parts->resident, known));
	else
		(void)printf("%s of it (%.0f %%).", pfs_amount(parts->known_bytes, known),
			     100 * (double)parts->known_bytes / (double)parts->resident);
}

static void put_notes(const struct pfs_snapshot *snapshot, const struct pfs_parts *parts)
{
	char when[32];
	put_share(parts);
	if (snapshot->has_own)
		(void)printf("\nheap: exact, now. Other kinds: resident at %s.",
			     pfs_time_text(snapshot->own_realtime_ns, when, sizeof(when)));
	else
		(void)printf("\nheap: exact, now. Stacks, files and free memory are not known: no "
			     "tick was written.");
	(void)printf(parts->has_estimate ? " mapped_at_most: mapped since then, and perhaps not "
					   "resident.\n"
					 : "\n");
	put_advice(parts);
}

/* The lines that hold most of the heap: when it is shown once, for they take a while to find. */
static void put_lines(struct pfs_reader *reader)
{
	struct pfs_view view;
	struct pfs_message message;
	bool fine = pfs_view_take(&view, reader, false, NULL, &message);
	if (!fine)
		(void)pfs_complain_of(&message);
	if (fine && view.holders.count != 0)
		(void)printf("\nOf heap, by line (estimates; pfs-mem profile and flame have "
			     "all):\n");
	for (uint32_t i = 0; fine && i < view.holders.count && i < LINES_MOST; i++) {
		const struct pfs_holder *holder = &view.holders.holders[i];
		char amount[32], error[32], where[1600];
		(void)printf("  %-8s  %-8s  %s\n",
			     pfs_amount((int64_t)holder->now.live_bytes, amount),
			     pfs_error_text(view.heap, &holder->now, error),
			     pfs_holder_text(view.heap, holder, where, sizeof(where)));
	}
	pfs_view_drop(&view);
}

static bool put_all(const struct pfs_snapshot *snapshot, const struct pfs_arguments *arguments)
{
	bool is_text = arguments->format == PFS_FORMAT_TEXT;
	/* Text has a sign instead of the last one. */
	const char *const columns[] = {
		"CURRENT", "HIGH", "BLOCKS", "ALLOCS", "KIND", "WHO", is_text ? NULL : "HIGH_IS",
		NULL
	};
	struct pfs_parts parts;
	if (!pfs_parts_take(&parts, snapshot))
		return false;
	struct pfs_sheet *sheet = pfs_sheet_begin(columns);
	if (is_text && sheet != NULL)
		put_head(snapshot, parts.heap_bytes);
	for (uint32_t i = 0; sheet != NULL && i < parts.count && i < arguments->count; i++)
		put_part(sheet, &parts.parts[i], is_text);
	bool fine = sheet != NULL && pfs_sheet_end(sheet, arguments->format);
	if (fine && is_text)
		put_notes(snapshot, &parts);
	pfs_parts_drop(&parts);
	return fine;
}

static bool put(const struct pfs_snapshot *snapshot, const struct pfs_arguments *arguments)
{
	return arguments->by_instrument ? put_all(snapshot, arguments)
					: put_owners(snapshot, arguments);
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
		if (arguments->by_instrument && arguments->format == PFS_FORMAT_TEXT)
			put_lines(reader);
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
	PFS_MEM_COUNT,
	PFS_MEM_READ("format", 'f', "FORMAT", pfs_take_format, "text, csv, or json; default text"),
	{ 0 }
};

/* clang-format off */
const struct pfs_command pfs_command_top = {
	.name = "top", .words = "TARGET", .words_min = 1, .words_max = 1, .run = run_top,
	.options = options,
	.doc = "show who holds the most memory\vBy instrument, it lists everything that the "
	       "program holds, the largest first: blocks (heap), memory mapped without malloc "
	       "(mapped), stacks, files. A HIGH with the sign ≤ (HIGH_IS 'at most' in csv "
	       "and json) is an upper bound: a sum of peaks that may have come at different "
	       "moments. A box whose program ended is shown once.",
};
/* clang-format on */
