/*
 * options.c - see options.h. One table of flags; each has a reader that refuses bad values.
 */
#define _DEFAULT_SOURCE 1 /* strsep */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator.h"
#include "layout_option.h"
#include "workload.h"

struct flag {
	const char *name;
	const char *value; /* its shape, for --help; NULL: the flag has none */
	const char *help;
	enum pfs_status (*read)(struct pfs_options *self, const char *text,
				struct pfs_message *message);
};

static enum pfs_status refuse(struct pfs_message *message, enum pfs_status status,
			      const char *format, ...) __attribute__((format(printf, 3, 4)));
static enum pfs_status refuse(struct pfs_message *message, enum pfs_status status,
			      const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message->text, sizeof(message->text), format, arguments);
	va_end(arguments);
	return status;
}

/* A whole number in low..high, nothing behind it. */
static enum pfs_status read_number(const char *flag, const char *text, uint64_t low,
				   uint64_t high, uint64_t *value, struct pfs_message *message)
{
	char *end = NULL;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || *value < low ||
	    *value > high)
		return refuse(message, PFS_BAD_CONFIG,
			      "%s '%s': give a whole number from %llu to %llu", flag, text,
			      (unsigned long long)low, (unsigned long long)high);
	return PFS_OK;
}

/* Hand each item of a comma-separated list to take. */
static enum pfs_status read_list(struct pfs_options *self, const char *flag, const char *text,
				 enum pfs_status (*take)(struct pfs_options *self,
							 const char *item,
							 struct pfs_message *message),
				 struct pfs_message *message)
{
	char *copy = strdup(text), *rest = copy;
	enum pfs_status status = PFS_OK;
	uint32_t count = 0;

	if (copy == NULL)
		return refuse(message, PFS_NO_MEMORY, "no memory for %s", flag);
	for (char *item = strsep(&rest, ","); item != NULL && status == PFS_OK;
	     item = strsep(&rest, ",")) {
		if (++count > PFS_OPTIONS_LIST_MAX)
			status = refuse(message, PFS_BAD_CONFIG, "%s: give %d values at most", flag,
					PFS_OPTIONS_LIST_MAX);
		else
			status = take(self, item, message);
	}
	free(copy);
	return status;
}

static enum pfs_status take_policy(struct pfs_options *self, const char *item,
				   struct pfs_message *message)
{
	const struct pfs_variant *variant = pfs_variant_find(item);
	char known[160] = "";

	if (variant != NULL) {
		self->policies[self->policy_count++] = variant;
		return PFS_OK;
	}
	for (size_t i = 0; pfs_variant_at(i) != NULL; i++) {
		size_t used = strlen(known);
		snprintf(known + used, sizeof(known) - used, "%s%s", i != 0 ? ", " : "",
			 pfs_variant_name(pfs_variant_at(i)));
	}
	return refuse(message, PFS_BAD_VARIANT, "unknown policy '%.40s': choose from %s", item,
		      known);
}

static enum pfs_status take_workload(struct pfs_options *self, const char *item,
				     struct pfs_message *message)
{
	const struct pfs_workload *workload = pfs_workload_find(item);
	char known[160] = "";

	if (workload != NULL) {
		self->workloads[self->workload_count++] = workload;
		return PFS_OK;
	}
	for (uint32_t i = 0; pfs_workload_at(i) != NULL; i++) {
		size_t used = strlen(known);
		snprintf(known + used, sizeof(known) - used, "%s%s", i != 0 ? ", " : "",
			 pfs_workload_at(i)->name);
	}
	return refuse(message, PFS_BAD_VARIANT, "unknown workload '%.40s': choose from %s", item,
		      known);
}

static enum pfs_status take_api(struct pfs_options *self, const char *item,
				struct pfs_message *message)
{
	static const char *const names[] = {"inlined", "public", "cxx"}; /* of enum pfs_api */

	for (int api = PFS_API_INLINED; api <= PFS_API_CXX; api++) {
		if (strcmp(item, names[api]) == 0) {
			self->apis[self->api_count++] = (enum pfs_api)api;
			return PFS_OK;
		}
	}
	return refuse(message, PFS_BAD_CONFIG, "--apis '%.40s': choose from inlined, public, cxx",
		      item);
}

static enum pfs_status take_occupancy(struct pfs_options *self, const char *item,
				      struct pfs_message *message)
{
	char *end = NULL;
	double value = strtod(item, &end);

	if (end == item || *end != '\0' || !(value >= 0.0 && value <= 1.0))
		return refuse(message, PFS_BAD_CONFIG,
			      "occupancy '%.40s': give a share from 0 to 1, such as 0.9", item);
	self->occupancies[self->occupancy_count++] = value;
	return PFS_OK;
}

static enum pfs_status take_threads(struct pfs_options *self, const char *item,
				    struct pfs_message *message)
{
	uint64_t value = 0;
	enum pfs_status status = read_number("threads", item, 1, PFS_OPTIONS_THREADS_MAX, &value,
					     message);

	if (status == PFS_OK)
		self->threads[self->thread_count++] = (uint32_t)value;
	return status;
}

static enum pfs_status take_records(struct pfs_options *self, const char *item,
				    struct pfs_message *message)
{
	uint64_t value = 0;
	enum pfs_status status = read_number("records", item, 1, UINT32_C(1) << 28, &value,
					     message);

	if (status == PFS_OK)
		self->records[self->record_count++] = (uint32_t)value;
	return status;
}

static enum pfs_status take_page_memory(struct pfs_options *self, const char *item,
					struct pfs_message *message)
{
	if (strcmp(item, "fresh") != 0 && strcmp(item, "touched") != 0)
		return refuse(message, PFS_BAD_CONFIG,
			      "--page_memory '%.40s': choose from fresh, touched", item);
	self->touched[self->touched_count++] = strcmp(item, "touched") == 0;
	return PFS_OK;
}

/* Whether the machine has such a placement is for placement.c to say. */
static enum pfs_status take_placement(struct pfs_options *self, const char *item,
				      struct pfs_message *message)
{
	char *copy = strdup(item);

	if (copy == NULL)
		return refuse(message, PFS_NO_MEMORY, "no memory for --placements");
	self->placements[self->placement_count++] = copy;
	return PFS_OK;
}

/* A flag whose list replaces the default one. */
#define PFS_LIST_FLAG(flag, taken, count)                                                   \
	static enum pfs_status read_##flag(struct pfs_options *self, const char *text,      \
					   struct pfs_message *message)                     \
	{                                                                                   \
		self->count = 0;                                                            \
		return read_list(self, "--" #flag, text, take_##taken, message);            \
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

static enum pfs_status read_placements(struct pfs_options *self, const char *text,
				       struct pfs_message *message)
{
	drop_placements(self);
	return read_list(self, "--placements", text, take_placement, message);
}

static enum pfs_status read_memory(struct pfs_options *self, const char *text,
				   struct pfs_message *message)
{
	uint64_t node = 0;

	if (strcmp(text, "first-touch") == 0) {
		self->memory = PFS_MEMORY_FIRST_TOUCH;
	} else if (strcmp(text, "local") == 0) {
		self->memory = PFS_MEMORY_LOCAL;
	} else if (strcmp(text, "interleave") == 0) {
		self->memory = PFS_MEMORY_INTERLEAVE;
	} else if (strncmp(text, "node:", 5) == 0) {
		self->memory = PFS_MEMORY_NODE;
		enum pfs_status status = read_number("--memory node", text + 5, 0, UINT32_MAX - 1,
						     &node, message);
		self->memory_node = (uint32_t)node;
		return status;
	} else {
		return refuse(message, PFS_BAD_CONFIG, "--memory '%.40s': choose from first-touch, "
			      "local, interleave, node:K", text);
	}
	return PFS_OK;
}

static enum pfs_status read_layout(struct pfs_options *self, const char *text,
				   struct pfs_message *message)
{
	return pfs_layout_option_read(text, &self->layout, &self->bare_words, message);
}

#define PFS_ON_OFF_FLAG(field)                                                              \
	static enum pfs_status read_##field(struct pfs_options *self, const char *text,     \
					    struct pfs_message *message)                    \
	{                                                                                   \
		self->field = strcmp(text, "on") == 0;                                      \
		return self->field || strcmp(text, "off") == 0 ? PFS_OK :                   \
		       refuse(message, PFS_BAD_CONFIG,                                      \
			      "--" #field " '%.40s': choose on or off", text);               \
	}
PFS_ON_OFF_FLAG(full_flags)
PFS_ON_OFF_FLAG(owner_fences)
PFS_ON_OFF_FLAG(huge_pages)

static enum pfs_status read_series(struct pfs_options *self, const char *text,
				   struct pfs_message *message)
{
	(void)message;
	self->series = text;
	return PFS_OK;
}

static enum pfs_status read_peer(struct pfs_options *self, const char *text,
				 struct pfs_message *message)
{
	if (text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0' ||
	    pfs_variant_find(text) != NULL)
		return refuse(message, PFS_BAD_CONFIG, "--peer '%.60s': give a library's name "
			      "without 'lib', such as jemalloc, and no policy's", text);
	self->peer = text;
	return pfs_allocator_check(text, message);
}

static enum pfs_status read_trace(struct pfs_options *self, const char *text,
				  struct pfs_message *message)
{
	if (self->trace_count == PFS_OPTIONS_LIST_MAX)
		return refuse(message, PFS_BAD_CONFIG, "--trace: give %d files at most",
			      PFS_OPTIONS_LIST_MAX);
	self->traces[self->trace_count++] = text;
	return PFS_OK;
}

#define PFS_NUMBER_FLAG(field, low, high)                                                   \
	static enum pfs_status read_##field(struct pfs_options *self, const char *text,     \
					    struct pfs_message *message)                    \
	{                                                                                   \
		uint64_t value = self->field;                                               \
		enum pfs_status status =                                                    \
			read_number("--" #field, text, low, high, &value, message);         \
		self->field = (__typeof__(self->field))value;                               \
		return status;                                                              \
	}
PFS_NUMBER_FLAG(page_records, 1, 65536)
PFS_NUMBER_FLAG(pages, 1, 262144)
PFS_NUMBER_FLAG(pages_each, 1, 262144)
PFS_NUMBER_FLAG(page_prealloc, 0, 262144)
PFS_NUMBER_FLAG(page_max, 1, 262144)
PFS_NUMBER_FLAG(record_size, 8, 1048576)
PFS_NUMBER_FLAG(window_ms, 1, 3600000)
PFS_NUMBER_FLAG(latency_ms, 0, 3600000)
PFS_NUMBER_FLAG(repeat_disturbed, 0, 1000)
PFS_NUMBER_FLAG(reclaim_period_ms, 0, 3600000)
PFS_NUMBER_FLAG(reclaim_decay_passes, 0, 1000)
PFS_NUMBER_FLAG(seed, 1, UINT64_MAX)

#define PFS_SWITCH(field)                                                                   \
	static enum pfs_status read_##field(struct pfs_options *self, const char *text,     \
					    struct pfs_message *message)                    \
	{                                                                                   \
		(void)text, (void)message;                                                  \
		self->field = true;                                                         \
		return PFS_OK;                                                              \
	}
PFS_SWITCH(list_policies)
PFS_SWITCH(list_traits)
PFS_SWITCH(list_workloads)
PFS_SWITCH(help)
PFS_SWITCH(version)

static const struct flag flags[] = {
	{"policies", "A,B", "policies (default: all)", read_policies},
	{"workloads", "A,B", "workloads (default: all)", read_workloads},
	{"occupancies", "X,Y", "of churn and scan (default: 0,0.5,0.9,0.95,0.99,0.999)",
	 read_occupancies},
	{"apis", "A,B", "inlined: the policy's code in the workload's loop; public: by calls of "
	 "pfs_allocate, pfs_publish, pfs_free; cxx: the same in C++ (default: inlined)", read_apis},
	{"threads", "N,M", "threads (default: 1,2,8)", read_threads},
	{"placements", "A,B", "none, compact, scatter, node:K, oversubscribe:F (default: compact)",
	 read_placements},
	{"memory", "M", "first-touch, local, interleave, node:K (default: first-touch)",
	 read_memory},
	{"layout", "L", "in-record, side-by-side, bare, bare-words (default: in-record)",
	 read_layout},
	{"full_flags", "on|off", "full flags of policy original (default: on)", read_full_flags},
	{"huge_pages", "on|off", "pages of 2 MiB and more ask for huge ones (default: off)",
	 read_huge_pages},
	{"owner_fences", "on|off", "rings of free records without the heavy barrier (default: off)",
	 read_owner_fences},
	{"page_records", "N", "records in a page (default: 256)", read_page_records},
	{"pages", "N", "preallocated pages; four times as many are allowed (default: 64)",
	 read_pages},
	{"page_prealloc", "N", "pages made in advance (default: the workload's own)",
	 read_page_prealloc},
	{"page_max", "N", "bound on pages (default: the workload's own)", read_page_max},
	{"pages_each", "N", "preallocated pages for each thread, instead of --pages: live "
	 "sets of one size, however many there are", read_pages_each},
	{"records", "N,M", "of fill and refuse, instead of --pages (default: 16384,262144)",
	 read_records},
	{"page_memory", "A,B", "of fill and refuse: fresh from the system, or touched before the "
	 "window (default: fresh)", read_page_memory},
	{"record_size", "N", "bytes of a record (default: 48; storm and scan have their own)",
	 read_record_size},
	{"window_ms", "N", "how long a trial counts, at most for fill (default: 50; tide "
	 "1000, fill 2000)", read_window_ms},
	{"latency_ms", "N", "window for latencies, 0 for none (default: half of window_ms)",
	 read_latency_ms},
	{"repeat_disturbed", "N", "repeat a disturbed trial so often at most (default: 2)",
	 read_repeat_disturbed},
	{"reclaim_period_ms", "N", "background reclaim, 0 for none (default: 0; tide: a 200th of "
	 "window_ms; ebb 1)", read_reclaim_period_ms},
	{"reclaim_decay_passes", "N", "surplus pages go over so many passes (default: 16)",
	 read_reclaim_decay_passes},
	{"seed", "N", "of all random numbers (default: 1)", read_seed},
	{"series", "FILE", "write tide's samples over time as JSON", read_series},
	{"trace", "FILE", "a trace for replay, may be repeated (default: all of results/traces)",
	 read_trace},
	{"peer", "NAME", "policy malloc is this preloaded allocator, and called so", read_peer},
	{"list_policies", NULL, "name the policies", read_list_policies},
	{"list_traits", NULL, "name the policies and what each can do", read_list_traits},
	{"list_workloads", NULL, "name the workloads", read_list_workloads},
	{"help", NULL, "this text", read_help},
	{"version", NULL, "the version", read_version},
};
#define FLAG_COUNT (sizeof(flags) / sizeof(flags[0]))

static const struct flag *find_flag(const char *name, size_t size)
{
	for (size_t i = 0; i < FLAG_COUNT; i++)
		if (strlen(flags[i].name) == size && strncmp(flags[i].name, name, size) == 0)
			return &flags[i];
	return NULL;
}

/* One argument, and the next one if that is its value; *at moves on. */
static enum pfs_status read_argument(struct pfs_options *self, int argc, char **argv, int *at,
				     struct pfs_message *message)
{
	const char *argument = argv[*at];
	const char *name = argument + 2;
	size_t size = strcspn(name, "=");
	const struct flag *flag = find_flag(name, size);
	const char *value = name[size] == '=' ? name + size + 1 : NULL;

	if (flag == NULL)
		return refuse(message, PFS_BAD_CONFIG, "unknown flag '%.80s': --help lists them",
			      argument);
	if (flag->value == NULL && value != NULL)
		return refuse(message, PFS_BAD_CONFIG, "--%s takes no value: leave out '=%.80s'",
			      flag->name, value);
	if (flag->value != NULL && value == NULL && *at + 1 < argc)
		value = argv[++*at];
	if (flag->value != NULL && (value == NULL || value[0] == '\0'))
		return refuse(message, PFS_BAD_CONFIG, "--%s: give a value, as in --%s=%s",
			      flag->name, flag->name, flag->value);
	return flag->read(self, value, message);
}

static enum pfs_status set_defaults(struct pfs_options *self, struct pfs_message *message)
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
	enum pfs_status status = read_occupancies(self, "0,0.5,0.9,0.95,0.99,0.999", message);
	if (status == PFS_OK)
		status = read_threads(self, "1,2,8", message);
	if (status == PFS_OK)
		status = read_records(self, "16384,262144", message);
	self->touched_count = 1; /* and is false */
	if (status == PFS_OK)
		status = read_placements(self, "compact", message);
	return status;
}

enum pfs_status pfs_options_parse(struct pfs_options *self, int *argc, char **argv,
				  struct pfs_message *message)
{
	enum pfs_status status = set_defaults(self, message);
	int kept = 1;

	for (int i = 1; i < *argc && status == PFS_OK; i++) {
		if (strncmp(argv[i], "--benchmark_", 12) == 0)
			argv[kept++] = argv[i];
		else if (strcmp(argv[i], "-h") == 0)
			self->help = true;
		else if (strncmp(argv[i], "--", 2) != 0)
			status = refuse(message, PFS_BAD_CONFIG,
					"unknown argument '%.80s': --help lists the flags",
					argv[i]);
		else
			status = read_argument(self, *argc, argv, &i, message);
	}
	if (status == PFS_OK)
		status = pfs_options_check(self, message);
	*argc = kept;
	argv[kept] = NULL;
	return status;
}

void pfs_options_fini(struct pfs_options *self)
{
	drop_placements(self);
}

void pfs_options_help(void)
{
	printf("pfs-bench - workloads on lock-free record containers\n\n"
	       "usage: pfs-bench [flags] [--benchmark_... flags of Google Benchmark]\n\n");
	for (size_t i = 0; i < FLAG_COUNT; i++) {
		const char *value = flags[i].value;
		char shape[64];
		snprintf(shape, sizeof(shape), "--%s%s%s", flags[i].name, value != NULL ? "=" : "",
			 value != NULL ? value : "");
		printf("  %-26s %s\n", shape, flags[i].help);
	}
	printf("\nnames: workload/policy:P/occupancy:O/api:public/pages_each:N/placement:L/"
	       "threads:T/manual_time; choose by --benchmark_filter=REGEX\n"
	       "often used: --benchmark_list_tests --benchmark_repetitions=N "
	       "--benchmark_format=json --benchmark_out=FILE\n"
	       "exit: 0 fine, 1 a check failed or the output cannot be written, 2 wrong input\n");
}
