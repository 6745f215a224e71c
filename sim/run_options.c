#include "sim/run_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/layout_option.h"
#include "bench/scene.h"
#include "bench/workload.h"
#include "containers/message.h"
#include "containers/variant.h"
#include "sim/hot_lines.h"
#include "sim/machine.h"

#define OPS_DEFAULT 20000
#define WINDOW_US_DEFAULT 20000
#define RECORDS_DEFAULT 16384
#define NAMES_BYTES 192

const char pfs_run_options_text[] =
	"  --machine M       an hwloc synthetic string (\"numa:8 core:32 pu:1\") or a file of\n"
	"                    lstopo's (machine.xml); needed\n"
	"  --threads T       1 .. 1024, more than the machine's PUs take turns; needed\n"
	"  --policy P        a policy (pfs-sim list); needed, but for workload floor\n"
	"  --workload W      a workload of pfs-bench (pfs-bench --list_workloads); default churn\n"
	"  --occupancy O     above 0, at most 1: of churn and scan; default 0.9\n"
	"  --ops N           allocate, publish, free triples of all threads together, at which\n"
	"                    the window ends; default 20000. A fifth as many go before\n"
	"  --window_us N     of tide, which moves with time: virtual time instead of --ops;\n"
	"                    default 20000\n"
	"  --seed S          default 1\n"
	"  --seeds K         K runs, of seeds S, S + 1, ..., each a process; default 1\n"
	"  --costs C         a preset or a JSON file; default " PFS_COSTS_DEFAULT "\n"
	"  --slice_us N      time slice of threads that share a PU; default the costs'\n"
	"  --pass_us N       virtual time between background passes, not --reclaim_period_ms's\n"
	"  --placement L     compact or scatter; default compact\n"
	"  --hot N           list the N cache lines, at most 64, on which threads spent most time\n"
	"  --format F        text or json; default text\n"
	"  --records N       of fill and refuse, instead of --pages; default 16384\n"
	"  and those of pfs-bench: --pages, --page_records, --record_size, --layout, --memory,\n"
	"  --page_prealloc, --page_max, --owner_fences, --full_flags, --reclaim_period_ms,\n"
	"  --reclaim_decay_passes, --trace, --series\n";

/* Flags that mean here what they mean there. */
static const char *const shared[] = {
	"pages", "page_records", "page_prealloc", "page_max", "record_size", "layout", "memory",
	"owner_fences", "full_flags", "reclaim_period_ms", "reclaim_decay_passes", "trace",
	"series",
};

/* Words as they were given. */
struct words {
	const char *machine, *costs, *placement, *policy, *workload, *format, *occupancy;
	const char *threads, *ops, *window_us, *seed, *seeds, *hot, *records, *slice_us, *pass_us;
};

static bool is_shared(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		if (strlen(shared[i]) == length && strncmp(shared[i], name, length) == 0)
			return true;
	}
	return false;
}

static const char **word_of(struct words *self, const char *name, size_t length)
{
	const struct {
		const char *name;
		const char **word;
	} known[] = {
		{ "machine", &self->machine },   { "costs", &self->costs },
		{ "placement", &self->placement }, { "policy", &self->policy },
		{ "workload", &self->workload }, { "format", &self->format },
		{ "occupancy", &self->occupancy }, { "threads", &self->threads },
		{ "ops", &self->ops },           { "window_us", &self->window_us },
		{ "seed", &self->seed },         { "seeds", &self->seeds },
		{ "hot", &self->hot },           { "records", &self->records },
		{ "slice_us", &self->slice_us }, { "pass_us", &self->pass_us },
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strlen(known[i].name) == length && strncmp(known[i].name, name, length) == 0)
			return known[i].word;
	}
	return NULL;
}

/* Our words into *words; pfs-bench's stay in argv behind argv[0], *argc of them. */
static enum pfs_status sort_words(struct words *words, int *argc, char **argv,
				  struct pfs_message *message)
{
	int kept = 1;
	for (int i = 1; i < *argc; i++) {
		const char *name = argv[i] + 2;
		size_t length = strncmp(argv[i], "--", 2) == 0 ? strcspn(name, "=") : 0;
		const char **word = word_of(words, name, length);
		const char *value = length != 0 && name[length] == '=' ? name + length + 1 : NULL;
		if (length == 0 || (word == NULL && !is_shared(name, length)))
			return pfs_message_set(message, PFS_BAD_CONFIG,
					       "run: %.80s: no such option; pfs-sim run "
					       "--help lists them", argv[i]);
		if (value == NULL && i + 1 == *argc)
			return pfs_message_set(message, PFS_BAD_CONFIG, "run: %.80s needs a value",
					       argv[i]);
		if (word != NULL) {
			*word = value != NULL ? value : argv[++i];
		} else {
			argv[kept++] = argv[i];
			if (value == NULL)
				argv[kept++] = argv[++i];
		}
	}
	*argc = kept;
	return PFS_OK;
}

static enum pfs_status read_number(const char *name, const char *text, uint64_t low,
				   uint64_t high, uint64_t *number, struct pfs_message *message)
{
	char *end = NULL;
	if (text == NULL)
		return PFS_OK; /* the default */
	errno = 0;
	*number = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || *number < low ||
	    *number > high)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "--%s '%.40s': give a whole number from %llu to %llu", name,
				       text, (unsigned long long)low, (unsigned long long)high);
	return PFS_OK;
}

static enum pfs_status read_numbers(struct pfs_run_options *self, const struct words *words,
				    struct pfs_message *message)
{
	uint64_t threads = 0, window_us = WINDOW_US_DEFAULT, seed = 1, seeds = 1, hot = 0;
	uint64_t records = RECORDS_DEFAULT, pass_us = 0;
	char *end = NULL;
	self->ops = OPS_DEFAULT;
	self->occupancy = 0.9;
	if (words->machine == NULL || words->threads == NULL)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "run: --machine and --threads are needed, such as "
				       "--machine \"numa:8 core:32 pu:1\" --threads 256");
	if (read_number("threads", words->threads, 1, PFS_MACHINE_THREADS_MAX, &threads,
			message) != PFS_OK ||
	    read_number("ops", words->ops, 1, UINT64_C(1) << 40, &self->ops, message) != PFS_OK ||
	    read_number("window_us", words->window_us, 1, 1000000000, &window_us, message) !=
		    PFS_OK ||
	    read_number("pass_us", words->pass_us, 1, 1000000000, &pass_us, message) != PFS_OK ||
	    read_number("seed", words->seed, 0, UINT64_MAX, &seed, message) != PFS_OK ||
	    read_number("seeds", words->seeds, 1, 100000, &seeds, message) != PFS_OK ||
	    read_number("records", words->records, 1, UINT32_C(1) << 24, &records, message) !=
		    PFS_OK ||
	    read_number("hot", words->hot, 0, PFS_HOT_LINES_MAX, &hot, message) != PFS_OK)
		return PFS_BAD_CONFIG;
	if (words->occupancy != NULL) {
		self->occupancy = strtod(words->occupancy, &end);
		if (end == words->occupancy || *end != '\0' ||
		    !(self->occupancy > 0 && self->occupancy <= 1))
			return pfs_message_set(message, PFS_BAD_CONFIG,
					       "--occupancy '%.40s': give a share above 0 and at "
					       "most 1, such as 0.95", words->occupancy);
	}
	self->threads = (uint32_t)threads;
	self->window_ns = window_us * 1000;
	self->pass_ns = pass_us * 1000;
	self->bench.seed = seed;
	self->seed_count = (uint32_t)seeds;
	self->hot = (uint32_t)hot;
	self->records = (uint32_t)records;
	return PFS_OK;
}

/* Does the machine see all that it does? malloc is the host's, outside of every machine. */
static bool can_be_simulated(const struct pfs_variant *variant)
{
	return (variant->traits & PFS_TRAIT_C11) != 0 && (variant->traits & PFS_TRAIT_INDEX) != 0;
}

/* The names of the policies that can be simulated, or of the workloads. */
static const char *known_names(bool policies, char *names)
{
	size_t used = 0;
	names[0] = '\0';
	for (uint32_t i = 0; used < NAMES_BYTES; i++) {
		const struct pfs_variant *variant = policies ? pfs_variant_at(i) : NULL;
		const struct pfs_workload *workload = policies ? NULL : pfs_workload_at(i);
		if (variant == NULL && workload == NULL)
			break;
		if (variant != NULL && !can_be_simulated(variant))
			continue;
		used += (size_t)snprintf(names + used, NAMES_BYTES - used, "%s%s",
					 used != 0 ? ", " : "",
					 policies ? variant->name : workload->name);
	}
	return names;
}

static enum pfs_status read_policy(struct pfs_run_options *self, const char *name,
				   struct pfs_message *message)
{
	char names[NAMES_BYTES];
	if (!self->workload->has_policy && name == NULL)
		return PFS_OK;
	if (!self->workload->has_policy)
		return pfs_message_set(message, PFS_BAD_VARIANT,
				       "--policy %.40s: workload %s has no policy; leave it out",
				       name, self->workload->name);
	self->variant = name != NULL ? pfs_variant_find(name) : NULL;
	if (self->variant == NULL)
		return pfs_message_set(message, PFS_BAD_VARIANT,
				       "--policy '%.40s': choose from %s", name != NULL ? name : "",
				       known_names(true, names));
	if (!can_be_simulated(self->variant))
		return pfs_message_set(message, PFS_BAD_VARIANT,
				       "--policy %s: the simulated machine does not see into it; "
				       "choose from %s", name, known_names(true, names));
	if ((self->variant->traits & self->workload->traits) != self->workload->traits)
		return pfs_message_set(message, PFS_BAD_VARIANT,
				       "--workload %s: policy %s cannot do all that it needs; "
				       "choose exact, for one", self->workload->name, name);
	if (!pfs_layout_option_fits(self->bench.layout, self->bench.bare_words,
				    self->variant->traits, self->workload->traits))
		return pfs_message_set(message, PFS_BAD_VARIANT,
				       "--layout bare: workload %s needs words beside the records; "
				       "choose bare-words", self->workload->name);
	return PFS_OK;
}

static enum pfs_status read_trace(struct pfs_run_options *self, struct pfs_message *message)
{
	if (!self->workload->has_trace && self->bench.trace_count == 0)
		return PFS_OK;
	if (!self->workload->has_trace)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "--trace %.120s: only workload replay has one",
				       self->bench.traces[0]);
	if (self->bench.trace_count != 1)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "workload %s: give one --trace FILE, such as one of "
				       "results/traces", self->workload->name);
	return pfs_replays_load(&self->replays, self->bench.traces, 1, NULL, message);
}

static enum pfs_status read_workload(struct pfs_run_options *self, const struct words *words,
				     struct pfs_message *message)
{
	const char *name = words->workload != NULL ? words->workload : "churn";
	char names[NAMES_BYTES];
	self->workload = pfs_workload_find(name);
	if (self->workload == NULL)
		return pfs_message_set(message, PFS_BAD_VARIANT,
				       "--workload '%.40s': choose from %s", name,
				       known_names(false, names));
	uint32_t multiple = self->workload->threads_multiple, most = self->workload->threads_max;
	if (self->threads % multiple != 0)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "--threads %u: workload %s needs a multiple of %u",
				       self->threads, name, multiple);
	if (most != 0 && self->threads > most)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "--threads %u: workload %s is for at most %u",
				       self->threads, name, most);
	enum pfs_status status = read_policy(self, words->policy, message);
	return status == PFS_OK ? read_trace(self, message) : status;
}

static enum pfs_status read_machine(struct pfs_run_options *self, const struct words *words,
				    struct pfs_message *message)
{
	const char *placement = words->placement != NULL ? words->placement : "compact";
	const char *format = words->format != NULL ? words->format : "text";
	const char *slash = strrchr(words->machine, '/');
	self->placement = strcmp(placement, "scatter") == 0 ? PFS_TIMED_SCATTER
							    : PFS_TIMED_COMPACT;
	if (self->placement == PFS_TIMED_COMPACT && strcmp(placement, "compact") != 0)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "--placement '%.40s': choose compact or scatter", placement);
	self->json = strcmp(format, "json") == 0;
	if (!self->json && strcmp(format, "text") != 0)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "--format '%.40s': choose text or json", format);
	enum pfs_status status = pfs_costs_find(
		&self->costs, words->costs != NULL ? words->costs : PFS_COSTS_DEFAULT, message);
	if (status != PFS_OK)
		return status;
	uint64_t slice_us = 0;
	if (read_number("slice_us", words->slice_us, 1, 1000000, &slice_us, message) != PFS_OK)
		return PFS_BAD_CONFIG;
	if (slice_us != 0)
		self->costs.slice_ns = (double)slice_us * 1000;
	self->machine = slash != NULL ? slash + 1 : words->machine;
	status = pfs_topology_create(&self->topology, words->machine, message);
	if (status == PFS_OK && self->bench.memory == PFS_MEMORY_NODE &&
	    self->bench.memory_node >= self->topology->node_count)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "--memory node:%u: this machine has nodes 0 to %u",
				       self->bench.memory_node, self->topology->node_count - 1);
	return status;
}

static enum pfs_status read_series(const struct pfs_run_options *self,
				   struct pfs_message *message)
{
	if (self->bench.series == NULL)
		return PFS_OK;
	if (self->workload->tick == NULL)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "--series %.120s: workload %s has none; add "
				       "--workload tide", self->bench.series,
				       self->workload->name);
	if (self->seed_count > 1)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "--series %.120s: is of one run; leave out --seeds",
				       self->bench.series);
	return PFS_OK;
}

static enum pfs_status check_scene(const struct pfs_run_options *self,
				   struct pfs_message *message)
{
	const struct pfs_scene scene = {
		.options = &self->bench,
		.workload = self->workload,
		.variant = self->variant,
		.replay = self->replays.count != 0 ? &self->replays.list[0] : NULL,
		.records = self->workload->has_records ? self->records : 0,
		.thread_count = self->threads,
	};
	return pfs_scene_check(&scene, message);
}

enum pfs_status pfs_run_options_parse(struct pfs_run_options *self, int argc, char **argv,
				      struct pfs_message *message)
{
	struct words words = { 0 };
	*self = (struct pfs_run_options){ 0 };
	enum pfs_status status = sort_words(&words, &argc, argv, message);
	if (status == PFS_OK)
		status = pfs_options_parse(&self->bench, &argc, argv, message);
	if (status == PFS_OK)
		status = read_numbers(self, &words, message);
	if (status == PFS_OK)
		status = read_workload(self, &words, message);
	if (status == PFS_OK)
		status = read_series(self, message);
	if (status == PFS_OK)
		status = read_machine(self, &words, message);
	if (status == PFS_OK)
		status = check_scene(self, message);
	if (status != PFS_OK)
		(void)pfs_one_line(message->text); /* pfs-bench's own words, too */
	self->bench.latency_ms = 0; /* every call is timed, in the one window */
	return status;
}

void pfs_run_options_fini(struct pfs_run_options *self)
{
	pfs_replays_free(&self->replays);
	pfs_topology_destroy(self->topology);
	pfs_options_fini(&self->bench);
}
