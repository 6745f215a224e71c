/*
 * metric_families.c - the families of /metrics, as Prometheus' text format 0.0.4 or OpenMetrics 1.0
 * has them: all samples of one together, the box and the program in front of their labels.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <string.h>

#include "metrics.h"

/* The labels of each answer: its first columns. */
static const char *const labels[PFS_METRIC_ANSWERS][2] = {
	[PFS_METRIC_INSTRUMENTS] = { "instrument" },
	[PFS_METRIC_ACCOUNTS] = { "user", "host" },
	[PFS_METRIC_OS] = { "name", "part_of" },
	[PFS_METRIC_ARENAS] = { "arena", "pool" },
	[PFS_METRIC_TRACE] = { "owner" },
	[PFS_METRIC_LOST] = { "what" },
};

/* clang-format off */
static const struct pfs_metric metrics[] = {
	{ "pfs_memory_instrument_bytes", false, PFS_METRIC_INSTRUMENTS, 1,
	  "Bytes in use, by instrument: the library or subsystem that allocated them." },
	{ "pfs_memory_instrument_high_bytes", false, PFS_METRIC_INSTRUMENTS, 2,
	  "At most so many bytes were in use at once, by instrument (an upper bound)." },
	{ "pfs_memory_instrument_blocks", false, PFS_METRIC_INSTRUMENTS, 3,
	  "Blocks in use, by instrument." },
	{ "pfs_memory_instrument_allocated_bytes", true, PFS_METRIC_INSTRUMENTS, 4,
	  "Bytes allocated, by instrument." },
	{ "pfs_memory_instrument_freed_bytes", true, PFS_METRIC_INSTRUMENTS, 5,
	  "Bytes freed, by instrument." },
	{ "pfs_memory_instrument_allocations", true, PFS_METRIC_INSTRUMENTS, 6,
	  "Allocations, by instrument." },
	{ "pfs_memory_account_bytes", false, PFS_METRIC_ACCOUNTS, 2,
	  "Bytes in use, by account: a pool of threads, or user and host." },
	{ "pfs_memory_account_high_bytes", false, PFS_METRIC_ACCOUNTS, 3,
	  "At most so many bytes were in use at once, by account: a sum over instruments." },
	{ "pfs_memory_account_blocks", false, PFS_METRIC_ACCOUNTS, 4,
	  "Blocks in use, by account." },
	{ "pfs_memory_account_allocated_bytes", true, PFS_METRIC_ACCOUNTS, 5,
	  "Bytes allocated, by account." },
	{ "pfs_memory_account_freed_bytes", true, PFS_METRIC_ACCOUNTS, 6,
	  "Bytes freed, by account." },
	{ "pfs_memory_os_bytes", false, PFS_METRIC_OS, 2,
	  "Parts of the resident set: all that are part of resident add up to it." },
	{ "pfs_memory_arena_allocated_bytes", false, PFS_METRIC_ARENAS, 2,
	  "Bytes of blocks taken from an arena of the allocator, including those in threads' "
	  "rings." },
	{ "pfs_memory_arena_cached_bytes", false, PFS_METRIC_ARENAS, 3,
	  "Bytes in the rings of an arena's threads, including blocks of other arenas." },
	{ "pfs_memory_arena_active_bytes", false, PFS_METRIC_ARENAS, 4,
	  "Bytes of an arena's pages that hold blocks." },
	{ "pfs_memory_arena_resident_bytes", false, PFS_METRIC_ARENAS, 5,
	  "Bytes of an arena's pages that hold blocks, or are free and not yet purged." },
	{ "pfs_memory_arena_mapped_bytes", false, PFS_METRIC_ARENAS, 6,
	  "Bytes of an arena's address space." },
	{ "pfs_memory_arena_retained_bytes", false, PFS_METRIC_ARENAS, 7,
	  "Bytes of an arena's address space that have no memory." },
	{ "pfs_memory_arena_threads", false, PFS_METRIC_ARENAS, 8,
	  "Threads that allocate from an arena." },
	{ "pfs_memory_trace_own_bytes", false, PFS_METRIC_TRACE, 1,
	  "Bytes that an owner of the memory trace holds." },
	{ "pfs_memory_trace_bytes", false, PFS_METRIC_TRACE, 2,
	  "Bytes of an owner and all below it." },
	{ "pfs_memory_trace_high_bytes", false, PFS_METRIC_TRACE, 3,
	  "The most bytes of an owner and all below it." },
	{ "pfs_memory_trace_limit_bytes", false, PFS_METRIC_TRACE, 4,
	  "The limit of an owner in bytes; none: no limit." },
	{ "pfs_memory_trace_refused", true, PFS_METRIC_TRACE, 5, "Requests that a limit refused." },
	{ "pfs_memory_lost", true, PFS_METRIC_LOST, 1,
	  "What was not counted, because the box was full." },
	{ "pfs_memory_box_living", false, PFS_METRIC_BOX, 0, "1: the program lives." },
	{ "pfs_memory_box_pid", false, PFS_METRIC_BOX, 1, "The process of the box." },
	{ "pfs_memory_box_uptime_seconds", false, PFS_METRIC_BOX, 2,
	  "How long the program has run, or ran." },
	{ "pfs_memory_box_ticks", true, PFS_METRIC_BOX, 3, "Ticks written into the history." },
	{ "pfs_memory_box_threads", false, PFS_METRIC_BOX, 4, "Running threads." },
	{ "pfs_memory_box_cells", false, PFS_METRIC_BOX, 5,
	  "Cells: one for each instrument of a thread or account." },
	{ "pfs_memory_profile_active", false, PFS_METRIC_PROFILE, 0,
	  "1: the heap profile takes samples." },
	{ "pfs_memory_profile_interval_bytes", false, PFS_METRIC_PROFILE, 1,
	  "Mean bytes between two samples." },
	{ "pfs_memory_profile_samples", false, PFS_METRIC_PROFILE, 2, "Sampled blocks in use." },
	{ "pfs_memory_profile_bytes", false, PFS_METRIC_PROFILE, 3,
	  "Bytes in use, estimated from the samples." },
	{ "pfs_memory_profile_stacks", false, PFS_METRIC_PROFILE, 4,
	  "Distinct stacks of the samples." },
};
/* clang-format on */

/* The format escapes three characters; '?' replaces other control characters. */
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
	for (unsigned i = 0; i < 2 && labels[metric->answer][i] != NULL; i++) {
		(void)fputc(',', to);
		put_label(to, labels[metric->answer][i], pfs_text_at(answer, row, i));
	}
	(void)fprintf(to, "} %" PRId64 "\n", value->number);
}

void pfs_metrics_write(const struct pfs_metric_box *boxes, size_t count, bool open_metrics,
		       FILE *to)
{
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		const struct pfs_metric *metric = &metrics[i];
		/* OpenMetrics names a counter without the suffix of its samples. */
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
