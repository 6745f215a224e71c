/*
 * history.c - pfs-mem profile --history: which lines have grown, and what each held at the moments
 * that the box has kept.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/amount.h"
#include "command.h"
#include "profile/growth.h"
#include "taken.h"

#define TEXT_MOMENTS 5u /* columns of a text; other formats have all */

/* The names of the columns: moments by their times, shorter in a text. */
struct columns {
	const char *names[PFS_MOMENTS_KEPT + 4];
	char times[PFS_MOMENTS_KEPT][32];
};

static void name_columns(struct columns *columns, const struct pfs_heap *heap,
			 const struct pfs_growth *growth, bool is_text)
{
	uint64_t day = UINT64_C(86400000000000), oldest = heap->moments[0].when_ns;
	bool has_days = heap->taken_ns > oldest && heap->taken_ns - oldest > day / 2;
	const char *format = !is_text ? "%Y-%m-%d %H:%M:%S" : has_days ? "%m-%d %H:%M" : "%H:%M:%S";
	uint32_t count = 0;
	columns->names[count++] = "CHANGE";
	columns->names[count++] = "NOW";
	for (uint32_t i = 0; i < growth->moment_count; i++) {
		struct tm parts;
		uint64_t ms = heap->moments[growth->moments[i]].when_ns / 1000000u;
		time_t seconds = (time_t)(ms / 1000);
		char *text = columns->times[i];
		if (localtime_r(&seconds, &parts) == NULL ||
		    strftime(text, sizeof(columns->times[i]), format, &parts) == 0)
			text[0] = '\0';
		else if (!is_text) /* no two have the same name */
			(void)snprintf(text + strlen(text), 8, ".%03u", (unsigned)(ms % 1000));
		columns->names[count++] = columns->times[i];
	}
	columns->names[count++] = "WHERE";
	columns->names[count] = NULL;
}

static void put_row(struct pfs_sheet *sheet, const struct pfs_heap *heap,
		    const struct pfs_growth *growth, uint32_t number, bool by_name)
{
	char text[1600];
	const struct pfs_holder *holder = &growth->holders.holders[number];
	double now = holder->now.live_bytes;
	double oldest = pfs_growth_at(growth, number, growth->moment_count - 1);
	if (oldest >= 0)
		pfs_sheet_number(sheet, (int64_t)(now - oldest));
	else
		pfs_sheet_bound(sheet, (int64_t)now, false);
	pfs_sheet_number(sheet, (int64_t)now);
	for (uint32_t i = 0; i < growth->moment_count; i++)
		if (pfs_growth_at(growth, number, i) >= 0)
			pfs_sheet_number(sheet, (int64_t)pfs_growth_at(growth, number, i));
		else
			pfs_sheet_blank(sheet);
	pfs_sheet_text(sheet, by_name && holder->name != NULL
				      ? holder->name
				      : pfs_holder_text(heap, holder, text, sizeof(text)));
}

/* What did not fit into the moments, if there is something. */
static void put_others(struct pfs_sheet *sheet, const struct pfs_heap *heap,
		       const struct pfs_growth *growth)
{
	double bytes = 0;
	for (uint32_t i = 0; i < growth->moment_count; i++)
		bytes += heap->moments[growth->moments[i]].others_bytes;
	if (bytes <= 0)
		return;
	pfs_sheet_blank(sheet);
	pfs_sheet_blank(sheet);
	for (uint32_t i = 0; i < growth->moment_count; i++)
		pfs_sheet_number(sheet, (int64_t)heap->moments[growth->moments[i]].others_bytes);
	pfs_sheet_text(sheet, "[stacks that did not fit]");
}

static void put_head(const struct pfs_heap *heap, const struct pfs_growth *growth)
{
	char bytes[32], since[32];
	(void)printf("%s%s%s: %s in use; %u moments kept, the oldest of %s\n\n", heap->program,
		     heap->died[0] != '\0' ? " " : "", heap->died,
		     pfs_amount((int64_t)growth->holders.bytes, bytes), heap->moment_count,
		     pfs_time_text(heap->moments[0].when_ns, since, sizeof(since)));
}

static bool put_table(const struct pfs_heap *heap, const struct pfs_growth *growth,
		      const struct pfs_arguments *arguments)
{
	bool is_text = arguments->format == PFS_FORMAT_TEXT;
	struct columns *columns = calloc(1, sizeof(*columns));
	struct pfs_sheet *sheet = NULL;
	if (columns != NULL) {
		name_columns(columns, heap, growth, is_text);
		sheet = pfs_sheet_begin(columns->names);
	}
	if (sheet != NULL && is_text)
		put_head(heap, growth);
	for (uint32_t i = 0; sheet != NULL && i < growth->holders.count && i < arguments->count;
	     i++)
		put_row(sheet, heap, growth, i, arguments->by_name);
	if (sheet != NULL)
		put_others(sheet, heap, growth);
	bool fine = sheet != NULL && pfs_sheet_end(sheet, arguments->format);
	free(columns);
	return fine;
}

int pfs_show_history(const struct pfs_arguments *arguments)
{
	struct pfs_message message;
	struct pfs_growth growth = { 0 };
	int status = pfs_choice_check(arguments);
	if (status != PFS_EXIT_FINE)
		return status;
	struct pfs_heap *heap = pfs_heap_taken(arguments, true, false);
	if (heap == NULL)
		return PFS_EXIT_REFUSED;
	uint32_t most = arguments->format == PFS_FORMAT_TEXT ? TEXT_MOMENTS : PFS_MOMENTS_KEPT;
	struct pfs_rules *rules = pfs_rules_open(arguments->rules, heap, &message);
	if (rules == NULL)
		status = pfs_complain_of(&message);
	else if (!pfs_growth_make(&growth, heap, rules, arguments->by_name, most))
		status = pfs_complain(PFS_EXIT_REFUSED, "profile: no memory");
	else if (!put_table(heap, &growth, arguments))
		status = pfs_complain(PFS_EXIT_REFUSED, "standard output cannot be written");
	pfs_growth_drop(&growth);
	pfs_rules_close(rules);
	pfs_heap_free(heap);
	return status;
}
