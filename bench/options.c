/*
 * options.c - see options.h. One table of flags; each has a reader that refuses bad values.
 */
#define _DEFAULT_SOURCE 1 /* strsep */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator.h"
#include "layout_option.h"
#include "workload.h"

#define KNOWN_CHARS 160 /* the names in a refusal */

/* Hand each item of a comma-separated list to take. */
static enum pfs_status read_list(struct pfs_options *self, const char *flag, const char *text,
				 enum pfs_status (*take)(struct pfs_options *self, const char *item,
							 struct pfs_message *message),
				 struct pfs_message *message)
{
	char *copy = strdup(text), *rest = copy;
	enum pfs_status status = PFS_OK;
	uint32_t count = 0;

	if (copy == NULL)
		return pfs_say_why(message, PFS_NO_MEMORY, "no memory for --%s", flag);
	for (char *item = strsep(&rest, ","); item != NULL && status == PFS_OK;
	     item = strsep(&rest, ",")) {
		if (++count > PFS_OPTIONS_LIST_MAX)
			status = pfs_say_why(message, PFS_BAD_CONFIG,
					     "--%s: give %d values at most", flag,
					     PFS_OPTIONS_LIST_MAX);
		else
			status = take(self, item, message);
	}
	free(copy);
	return status;
}

static void add_name(char known[KNOWN_CHARS], const char *name)
{
	size_t used = strlen(known);
	snprintf(known + used, KNOWN_CHARS - used, "%s%s", used != 0 ? ", " : "", name);
}

static enum pfs_status take_policy(struct pfs_options *self, const char *item,
				   struct pfs_message *message)
{
	const struct pfs_variant *variant = pfs_variant_find(item);
	char known[KNOWN_CHARS] = "";

	if (variant != NULL) {
		self->policies[self->policy_count++] = variant;
		return PFS_OK;
	}
	for (size_t i = 0; pfs_variant_at(i) != NULL; i++)
		add_name(known, pfs_variant_name(pfs_variant_at(i)));
	return pfs_say_why(message, PFS_BAD_VARIANT, "unknown policy '%.40s': choose from %s", item,
			   known);
}

static enum pfs_status take_workload(struct pfs_options *self, const char *item,
				     struct pfs_message *message)
{
	const struct pfs_workload *workload = pfs_workload_find(item);
	char known[KNOWN_CHARS] = "";

	if (workload != NULL) {
		self->workloads[self->workload_count++] = workload;
		return PFS_OK;
	}
	for (uint32_t i = 0; pfs_workload_at(i) != NULL; i++)
		add_name(known, pfs_workload_at(i)->name);
	return pfs_say_why(message, PFS_BAD_VARIANT, "unknown workload '%.40s': choose from %s",
			   item, known);
}

static enum pfs_status take_api(struct pfs_options *self, const char *item,
				struct pfs_message *message)
{
	static const char *const names[] = { "inlined", "public", "cxx" }; /* of enum pfs_api */

	for (int api = PFS_API_INLINED; api <= PFS_API_CXX; api++) {
		if (strcmp(item, names[api]) == 0) {
			self->apis[self->api_count++] = (enum pfs_api)api;
			return PFS_OK;
		}
	}
	return pfs_say_why(message, PFS_BAD_CONFIG,
			   "--apis '%.40s': choose from inlined, public, cxx", item);
}

static enum pfs_status take_occupancy(struct pfs_options *self, const char *item,
				      struct pfs_message *message)
{
	char *end = NULL;
	double value = strtod(item, &end);

	if (end == item || *end != '\0' || !(value >= 0.0 && value <= 1.0))
		return pfs_say_why(message, PFS_BAD_CONFIG,
				   "occupancy '%.40s': give a share from 0 to 1, such as 0.9",
				   item);
	self->occupancies[self->occupancy_count++] = value;
	return PFS_OK;
}

static enum pfs_status take_threads(struct pfs_options *self, const char *item,
				    struct pfs_message *message)
{
	uint64_t value = 0;
	enum pfs_status status = pfs_read_number("threads", item, 1, PFS_OPTIONS_THREADS_MAX,
						 &value, message);

	if (status == PFS_OK)
		self->threads[self->thread_count++] = (uint32_t)value;
	return status;
}

static enum pfs_status take_records(struct pfs_options *self, const char *item,
				    struct pfs_message *message)
{
	uint64_t value = 0;
	enum pfs_status status = pfs_read_number("records", item, 1, UINT32_C(1) << 28, &value,
						 message);

	if (status == PFS_OK)
		self->records[self->record_count++] = (uint32_t)value;
	return status;
}

static enum pfs_status take_page_memory(struct pfs_options *self, const char *item,
					struct pfs_message *message)
{
	if (strcmp(item, "fresh") != 0 && strcmp(item, "touched") != 0)
		return pfs_say_why(message, PFS_BAD_CONFIG,
				   "--page-memory '%.40s': choose from fresh, touched", item);
	self->touched[self->touched_count++] = strcmp(item, "touched") == 0;
	return PFS_OK;
}

/* Whether the machine has such a placement is for placement.c to say. */
static enum pfs_status take_placement(struct pfs_options *self, const char *item,
				      struct pfs_message *message)
{
	char *copy = strdup(item);

	if (copy == NULL)
		return pfs_say_why(message, PFS_NO_MEMORY, "no memory for --placements");
	self->placements[self->placement_count++] = copy;
	return PFS_OK;
}

/* A flag whose list replaces the default one. */
#define PFS_LIST_FLAG(flag, taken, count)                                                  \
	static enum pfs_status read_##flag(void *context, const struct pfs_option *option, \
					   const char *text, struct pfs_message *message)  \
	{                                                                                  \
		struct pfs_options *self = context;                                        \
		self->count = 0;                                                           \
		return read_list(self, option->name, text, take_##taken, message);         \
	}
PFS_LIST_FLAG(policies, policy, policy_count)
PFS_LIST_FLAG(workloads, workload, workload_count)
PFS_LIST_FLAG(apis, api, api_count)
PFS_LIST_FLAG(occupancies, occupancy, occupancy_count)
PFS_LIST_FLAG(threads, threads, thread_count)
PFS_LIST_FLAG(records, records, record_count)
PFS_LIST_FLAG(page_memory, page_memory, touched_count)

static void drop_placements(struct pfs_options *self)
{
	while (self->placement_count > 0)
		free(self->placements[--self->placement_count]);
}

static enum pfs_status read_placements(void *context, const struct pfs_option *option,
				       const char *text, struct pfs_message *message)
{
	struct pfs_options *self = context;
	drop_placements(self);
	return read_list(self, option->name, text, take_placement, message);
}

static enum pfs_status read_memory(void *context, const struct pfs_option *option, const char *text,
				   struct pfs_message *message)
{
	struct pfs_options *self = context;
	uint64_t node = 0;

	(void)option;
	if (strcmp(text, "first-touch") == 0) {
		self->memory = PFS_MEMORY_FIRST_TOUCH;
	} else if (strcmp(text, "local") == 0) {
		self->memory = PFS_MEMORY_LOCAL;
	} else if (strcmp(text, "interleave") == 0) {
		self->memory = PFS_MEMORY_INTERLEAVE;
	} else if (strncmp(text, "node:", 5) == 0) {
		self->memory = PFS_MEMORY_NODE;
		enum pfs_status status = pfs_read_number("memory=node", text + 5, 0, UINT32_MAX - 1,
							 &node, message);
		self->memory_node = (uint32_t)node;
		return status;
	} else {
		return pfs_say_why(message, PFS_BAD_CONFIG,
				   "--memory '%.40s': choose from first-touch, "
				   "local, interleave, node:K",
				   text);
	}
	return PFS_OK;
}

static enum pfs_status read_layout(void *context, const struct pfs_option *option, const char *text,
				   struct pfs_message *message)
{
	struct pfs_options *self = context;

	(void)option;
	return pfs_layout_option_read(text, &self->layout, &self->bare_words, message);
}

static enum pfs_status read_peer(void *context, const struct pfs_option *option, const char *text,
				 struct pfs_message *message)
{
	struct pfs_options *self = context;

	(void)option;
	if (text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0' ||
	    pfs_variant_find(text) != NULL)
		return pfs_say_why(message, PFS_BAD_CONFIG,
				   "--peer '%.60s': give a library's name without 'lib', such as "
				   "jemalloc; it must not be a policy's name",
				   text);
	self->peer = text;
	return pfs_allocator_check(text, message);
}

static enum pfs_status read_trace(void *context, const struct pfs_option *option, const char *text,
				  struct pfs_message *message)
{
	struct pfs_options *self = context;

	(void)option;
	if (self->trace_count == PFS_OPTIONS_LIST_MAX)
		return pfs_say_why(message, PFS_BAD_CONFIG, "--trace: give %d files at most",
				   PFS_OPTIONS_LIST_MAX);
	self->traces[self->trace_count++] = text;
	return PFS_OK;
}

#define PFS_FIELD(word, shape, field, say, form)                         \
	.name = (word), .value = (shape), .help = (say), .kind = (form), \
	.field_bytes = sizeof(((struct pfs_options *)NULL)->field),      \
	.field_offset = offsetof(struct pfs_options, field)
#define PFS_NUMBER(word, field, from, to, say)                                                   \
	{                                                                                        \
		PFS_FIELD(word, "N", field, say, PFS_OPTION_NUMBER), .low = (from), .high = (to) \
	}
#define PFS_ON_OFF(word, field, say)                                     \
	{                                                                \
		PFS_FIELD(word, "on|off", field, say, PFS_OPTION_ON_OFF) \
	}
#define PFS_SWITCH(word, field, say)                                 \
	{                                                            \
		PFS_FIELD(word, NULL, field, say, PFS_OPTION_SWITCH) \
	}
#define PFS_FLAG(word, shape, field, say)                                                 \
	{                                                                                 \
		.name = (word), .value = (shape), .help = (say), .kind = PFS_OPTION_READ, \
		.read = read_##field                                                      \
	}

static const char help_after[] =
	"names: workload/policy:P/occupancy:O/api:public/pages_each:N/placement:L/threads:T/\n"
	"manual_time; choose by --benchmark_filter=REGEX\n"
	"often used: --benchmark_list_tests --benchmark_repetitions=N --benchmark_format=json\n"
	"--benchmark_out=FILE\n"
	"exit 0: success. 1: a check failed, or the output cannot be written. 2: wrong input.\n";

const struct pfs_option pfs_options_table[] = {
	PFS_FLAG("policies", "A,B", policies, "policies (default: all)"),
	PFS_FLAG("workloads", "A,B", workloads, "workloads (default: all)"),
	PFS_FLAG("occupancies", "X,Y", occupancies,
		 "occupancies of churn and scan (default: 0,0.5,0.9,0.95,0.99,0.999)"),
	PFS_FLAG("apis", "A,B", apis,
		 "inlined: the policy's code in the workload's loop; "
		 "public: by calls of pfs_allocate, pfs_publish, pfs_free; cxx: the same in "
		 "C++ (default: inlined)"),
	PFS_FLAG("threads", "N,M", threads, "threads (default: 1,2,8)"),
	PFS_FLAG("placements", "A,B", placements,
		 "none, compact, scatter, node:K, "
		 "oversubscribe:F (default: compact)"),
	PFS_FLAG("memory", "M", memory,
		 "first-touch, local, interleave, node:K (default: "
		 "first-touch)"),
	PFS_FLAG("layout", "L", layout,
		 "in-record, side-by-side, bare, bare-words, own-word (default: "
		 "in-record)"),
	PFS_ON_OFF("full-flags", full_flags, "policy original: use its full flags (default: on)"),
	PFS_ON_OFF("huge-pages", huge_pages,
		   "pages of 2 MiB and more request huge pages (default: off)"),
	PFS_ON_OFF("owner-fences", owner_fences,
		   "rings without the heavy barrier: their owners execute fences (default: off)"),
	PFS_NUMBER("page-records", page_records, 1, 65536, "records in a page (default: 256)"),
	PFS_NUMBER("pages", pages, 1, 262144,
		   "preallocated pages; the maximum is four times as many (default: 64)"),
	PFS_NUMBER("page-prealloc", page_prealloc, 0, 262144,
		   "pages made in advance (default: the "
		   "workload's own)"),
	PFS_NUMBER("page-max", page_max, 1, 262144,
		   "maximum number of pages (default: the workload's own)"),
	PFS_NUMBER("pages-each", pages_each, 1, 262144,
		   "preallocated pages per thread, instead of --pages: a thread's live set has the "
		   "same size at every thread count"),
	PFS_FLAG("records", "N,M", records,
		 "records of fill and refuse, instead of --pages (default: "
		 "16384,262144)"),
	PFS_FLAG("page-memory", "A,B", page_memory,
		 "memory of fill and refuse: fresh from the system, or touched before the window "
		 "(default: fresh)"),
	PFS_NUMBER("record-size", record_size, 8, 1048576,
		   "record size in bytes (default: 48; storm and "
		   "scan have their own)"),
	PFS_NUMBER("window-ms", window_ms, 1, 3600000,
		   "window of a trial, for fill the maximum (default: 50; tide 1000, day 240, "
		   "fill 2000)"),
	PFS_NUMBER("latency-ms", latency_ms, 0, 3600000,
		   "window for latencies, 0 for none (default: "
		   "half of --window-ms)"),
	PFS_NUMBER("repeat-disturbed", repeat_disturbed, 0, 1000,
		   "repeat a disturbed trial at most N times (default: 2)"),
	PFS_NUMBER("reclaim-period-ms", reclaim_period_ms, 0, 3600000,
		   "period of background reclaim, 0 for none (default: 0; tide and day: a 200th of "
		   "--window-ms; ebb 1)"),
	PFS_NUMBER("reclaim-decay-passes", reclaim_decay_passes, 0, 1000,
		   "surplus pages are given back over N passes (default: 16)"),
	PFS_NUMBER("seed", seed, 1, UINT64_MAX, "seed of all random numbers (default: 1)"),
	{ PFS_FIELD("series", "FILE", series, "write samples of tide and day over time as JSON",
		    PFS_OPTION_TEXT) },
	PFS_FLAG("trace", "FILE", trace,
		 "a trace for replay, may be repeated (default: all of "
		 "results/traces)"),
	PFS_FLAG("peer", "NAME", peer,
		 "policy malloc is this preloaded allocator, and gets its name"),
	PFS_SWITCH("list-policies", list_policies, "name the policies"),
	PFS_SWITCH("list-traits", list_traits, "name the policies and what each can do"),
	PFS_SWITCH("list-workloads", list_workloads, "name the workloads"),
	PFS_SWITCH("list-workload-traits", list_workload_traits,
		   "name the workloads and what each needs and has"),
};
const size_t pfs_options_table_count = sizeof(pfs_options_table) / sizeof(pfs_options_table[0]);

enum pfs_status pfs_options_default(struct pfs_options *self, struct pfs_message *message)
{
	*self = (struct pfs_options){
		.layout = PFS_LAYOUT_IN_RECORD,
		.memory = PFS_MEMORY_FIRST_TOUCH,
		.full_flags = true,
		.page_records = 256,
		.pages = 64,
		.page_prealloc = UINT32_MAX,
		.latency_ms = UINT32_MAX,
		.repeat_disturbed = 2,
		.reclaim_period_ms = UINT32_MAX,
		.reclaim_decay_passes = UINT32_MAX,
		.seed = 1,
	};
	for (size_t i = 0; pfs_variant_at(i) != NULL && i < PFS_OPTIONS_LIST_MAX; i++)
		self->policies[self->policy_count++] = pfs_variant_at(i);
	for (uint32_t i = 0; pfs_workload_at(i) != NULL && i < PFS_OPTIONS_LIST_MAX; i++)
		self->workloads[self->workload_count++] = pfs_workload_at(i);
	self->apis[self->api_count++] = PFS_API_INLINED;
	self->touched_count = 1; /* and is false */
	enum pfs_status status = read_list(self, "occupancies", "0,0.5,0.9,0.95,0.99,0.999",
					   take_occupancy, message);
	if (status == PFS_OK)
		status = read_list(self, "threads", "1,2,8", take_threads, message);
	if (status == PFS_OK)
		status = read_list(self, "records", "16384,262144", take_records, message);
	if (status == PFS_OK)
		status = read_list(self, "placements", "compact", take_placement, message);
	return status;
}

/* Those of the library, and how many; ours stay in argv. */
static int part_library_flags(int argc, char **argv, char **library)
{
	int kept = 1, count = 0;

	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--benchmark_", 12) != 0 &&
		    strncmp(argv[i], "--benchmark-", 12) != 0) {
			argv[kept++] = argv[i];
			continue;
		}
		for (char *at = argv[i] + 2; *at != '\0' && *at != '='; at++)
			*at = *at == '-' ? '_' : *at;
		library[count++] = argv[i];
	}
	argv[kept] = NULL;
	return count;
}

int pfs_options_read(struct pfs_options *self, int *argc, char **argv)
{
	struct pfs_message message = { .text = "" };
	const struct pfs_command_line line = {
		.program = "pfs-bench",
		.words = "[--benchmark_... of Google Benchmark]",
		.about = "measures workloads on lock-free record containers",
		.after = help_after,
		.options = pfs_options_table,
		.option_count = pfs_options_table_count,
		.context = self,
	};
	char **library = calloc((size_t)*argc + 1, sizeof(*library));

	if (library == NULL || pfs_options_default(self, &message) != PFS_OK) {
		free(library);
		return pfs_command_refuse(line.program, 1, "no memory for the options");
	}
	int count = part_library_flags(*argc, argv, library);
	int status = pfs_command_line_read(&line, *argc - count, argv, NULL);
	if (status == PFS_GO_ON && pfs_options_check(self, &message) != PFS_OK)
		status = pfs_command_refuse(line.program, PFS_EXIT_WRONG_USE, "%s", message.text);
	memcpy(argv + 1, library, (size_t)count * sizeof(*argv));
	argv[count + 1] = NULL;
	*argc = count + 1;
	free(library);
	return status;
}

void pfs_options_fini(struct pfs_options *self)
{
	drop_placements(self);
}
