/*
 * metric_families.c - the families of /metrics, as Prometheus' text format 0.0.4 or OpenMetrics 1.0
 * has them: all samples of one together, the box and the program in front of their labels.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <string.h>

#include "metrics.h"

#define OF_INSTRUMENT              \
	PFS_METRIC_INSTRUMENTS,    \
	{                          \
		"instrument", NULL \
	}
#define OF_OWNER              \
	PFS_METRIC_TRACE,     \
	{                     \
		"owner", NULL \
	}
#define OF_ARENA                \
	PFS_METRIC_ARENAS,      \
	{                       \
		"arena", "pool" \
	}
#define OF_ACCOUNT             \
	PFS_METRIC_ACCOUNTS,   \
	{                      \
		"user", "host" \
	}

/* clang-format off */
static const struct pfs_metric metrics[] = {
	{ "pfs_memory_instrument_bytes", false,
	  "Bytes in use, by instrument: the library or subsystem that allocated them.",
	  OF_INSTRUMENT, 1 },
	{ "pfs_memory_instrument_high_bytes", false,
	  "The most bytes that were in use, by instrument.", OF_INSTRUMENT, 2 },
	{ "pfs_memory_instrument_blocks", false, "Blocks in use, by instrument.", OF_INSTRUMENT,
	  3 },
	{ "pfs_memory_instrument_allocated_bytes", true, "Bytes allocated, by instrument.",
	  OF_INSTRUMENT, 4 },
	{ "pfs_memory_instrument_freed_bytes", true, "Bytes freed, by instrument.", OF_INSTRUMENT,
	  5 },
	{ "pfs_memory_instrument_allocations", true, "Allocations, by instrument.", OF_INSTRUMENT,
	  6 },
	{ "pfs_memory_account_bytes", false,
	  "Bytes in use, by account: a pool of threads, or user and host.", OF_ACCOUNT, 2 },
	{ "pfs_memory_account_high_bytes", false,
	  "The most bytes that were in use, by account: the sum over instruments.", OF_ACCOUNT, 3 },
	{ "pfs_memory_account_blocks", false, "Blocks in use, by account.", OF_ACCOUNT, 4 },
	{ "pfs_memory_account_allocated_bytes", true, "Bytes allocated, by account.", OF_ACCOUNT,
	  5 },
	{ "pfs_memory_account_freed_bytes", true, "Bytes freed, by account.", OF_ACCOUNT, 6 },
	{ "pfs_memory_os_bytes", false,
	  "Parts of the resident set: all that are part of resident add up to it.",
	  PFS_METRIC_OS, { "name", "part_of" }, 2 },
	{ "pfs_memory_arena_allocated_bytes", false,
	  "Bytes of blocks taken from an arena of the allocator, including those in threads' "
	  "rings.",
	  OF_ARENA, 2 },
	{ "pfs_memory_arena_cached_bytes", false,
	  "Bytes in the rings of an arena's threads, including blocks of other "
	  "arenas.", OF_ARENA, 3 },
	{ "pfs_memory_arena_active_bytes", false, "Bytes of an arena's pages that hold blocks.",
	  OF_ARENA, 4 },
	{ "pfs_memory_arena_resident_bytes", false,
	  "Bytes of an arena's pages that hold blocks, or are free and not yet "
	  "purged.", OF_ARENA, 5 },
	{ "pfs_memory_arena_mapped_bytes", false, "Bytes of an arena's address space.",
	  OF_ARENA, 6 },
	{ "pfs_memory_arena_retained_bytes", false,
		"Bytes of an arena's address space that have no memory.", OF_ARENA,
	  7 },
	{ "pfs_memory_arena_threads", false, "Threads that allocate from an arena.", OF_ARENA, 8 },
	{ "pfs_memory_trace_own_bytes", false, "Bytes that an owner of the memory trace holds.",
	  OF_OWNER, 1 },
	{ "pfs_memory_trace_bytes", false, "Bytes of an owner and all below it.", OF_OWNER,
	  2 },
	{ "pfs_memory_trace_high_bytes", false, "The most bytes of an owner and all below it.",
	  OF_OWNER, 3 },
	{ "pfs_memory_trace_limit_bytes", false,
		"The limit of an owner in bytes; none: no limit.", OF_OWNER,
	  4 },
	{ "pfs_memory_trace_refused", true, "Requests that a limit refused.", OF_OWNER, 5 },
	{ "pfs_memory_lost", true, "What was not counted, because the box was full.",
	  PFS_METRIC_LOST, { "what", NULL }, 1 },
	{ "pfs_memory_box_living", false, "1: the program lives.", PFS_METRIC_BOX, { NULL, NULL },
	  0 },
	{ "pfs_memory_box_pid", false, "The process of the box.", PFS_METRIC_BOX, { NULL, NULL },
	  1 },
	{ "pfs_memory_box_uptime_seconds", false, "How long the program has run, or ran.",
	  PFS_METRIC_BOX, { NULL, NULL }, 2 },
	{ "pfs_memory_box_ticks", true, "Ticks written into the history.",
	  PFS_METRIC_BOX, { NULL, NULL }, 3 },
	{ "pfs_memory_box_threads", false, "Running threads.", PFS_METRIC_BOX, { NULL, NULL },
	  4 },
	{ "pfs_memory_box_cells", false, "Cells: one for each instrument of a thread or account.",
	  PFS_METRIC_BOX, { NULL, NULL }, 5 },
	{ "pfs_memory_profile_active", false, "1: the heap profile takes samples.",
	  PFS_METRIC_PROFILE, { NULL, NULL }, 0 },
	{ "pfs_memory_profile_interval_bytes", false, "Mean bytes between two samples.",
	  PFS_METRIC_PROFILE, { NULL, NULL }, 1 },
	{ "pfs_memory_profile_samples", false, "Sampled blocks in use.", PFS_METRIC_PROFILE,
	  { NULL, NULL }, 2 },
	{ "pfs_memory_profile_bytes", false, "Bytes in use, estimated from the samples.",
	  PFS_METRIC_PROFILE, { NULL, NULL }, 3 },
	{ "pfs_memory_profile_stacks", false, "Distinct stacks of the samples.",
	  PFS_METRIC_PROFILE, { NULL, NULL }, 4 },
};
/* clang-format on */

/* A label's value: three letters are escaped; other control characters are none of text. */
static void put_label(FILE *to, const char *name, const char *value)
{
	(void)fprintf(to, "%s=\"", name);
	for (; *value != '\0'; value++) {
		unsigned char c = (unsigned char)*value;
		if (c == '\\' || c == '"')
			(void)fprintf(to, "\\%c", c);
		else if (c == '\n')
			(void)fputs("\\n", to);
		else
			(void)fputc(c < ' ' || c == 127 ? '?' : c, to);
	}
	(void)fputc('"', to);
}

static void put_sample(FILE *to, const struct pfs_metric *metric, const struct pfs_metric_box *box,
		       size_t row)
{
	const struct pfs_answer *answer = &box->answers[metric->answer];
	const struct pfs_value *value = pfs_answer_at(answer, row, metric->column);
	if (value->is_null)
		return;
	(void)fprintf(to, "%s%s{", metric->name, metric->is_counter ? "_total" : "");
	put_label(to, "box", box->id);
	(void)fputc(',', to);
	put_label(to, "program", box->program);
	for (unsigned i = 0; i < 2 && metric->labels[i] != NULL; i++) {
		const char *text = pfs_answer_at(answer, row, i)->text;
		(void)fputc(',', to);
		put_label(to, metric->labels[i], text == NULL ? "" : text);
	}
	(void)fprintf(to, "} %" PRId64 "\n", value->number);
}

void pfs_metrics_write(const struct pfs_metric_box *boxes, size_t count, bool open_metrics,
		       FILE *to)
{
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		const struct pfs_metric *metric = &metrics[i];
		/* OpenMetrics has a counter's name without the end of its samples'. */
		const char *end = metric->is_counter && !open_metrics ? "_total" : "";
		(void)fprintf(to, "# HELP %s%s %s\n# TYPE %s%s %s\n", metric->name, end,
			      metric->help, metric->name, end,
			      metric->is_counter ? "counter" : "gauge");
		for (size_t box = 0; box < count; box++)
			for (size_t row = 0; row < boxes[box].answers[metric->answer].row_count;
			     row++)
				put_sample(to, metric, &boxes[box], row);
	}
	if (open_metrics)
		(void)fputs("# EOF\n", to);
}
