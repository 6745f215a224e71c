#include "sim/run/run_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/layout_option.h"
#include "bench/scene.h"
#include "bench/workload.h"
#include "base/command_line.h"
#include "containers/message.h"
#include "containers/variant.h"
#include "sim/timed/hot_lines.h"
#include "check/machine/machine.h"

#define OPS_DEFAULT 20000
#define WINDOW_US_DEFAULT 20000
#define RECORDS_DEFAULT 16384
#define NAMES_BYTES 192

/* Options of pfs-bench that have the same meaning here. */
/* clang-format off */
static const char *const shared[] = {
	"pages", "page-records", "page-prealloc", "page-max", "record-size", "layout", "memory",
	"owner-fences", "full-flags", "reclaim-period-ms", "reclaim-decay-passes", "trace",
	"series",
};
/* clang-format on */
#define SHARED (sizeof(shared) / sizeof(shared[0]))

/* The texts and numbers of the other options, as given. */
struct words {
	const char *machine, *costs, *placement, *policy, *workload, *format;
	uint64_t threads, window_us, seed, seeds, hot, records, slice_us, pass_us;
};

static const struct pfs_option *find_shared(const char *name)
{
	for (size_t i = 0; i < pfs_options_table_count; i++)
		if (strcmp(pfs_options_table[i].name, name) == 0)
			return &pfs_options_table[i];
	return NULL;
}

/* PFS_GO_ON, or the exit status. */
static int read_words(struct pfs_run_options *self, struct words *words, int argc, char **argv)
{
	const struct pfs_option own[] = {
		PFS_TEXT_OPTION("machine", "M", &words->machine,
				"an hwloc synthetic string "
				"(\"numa:8 core:32 pu:1\") or a file of lstopo's (machine.xml); "
				"needed"),
		PFS_NUMBER_OPTION("threads", "T", &words->threads, 1, PFS_MACHINE_THREADS_MAX,
				  "1 to 1024, more than the machine's PUs take turns; needed"),
		PFS_TEXT_OPTION("policy", "P", &words->policy,
				"a policy (pfs-sim list); needed, "
				"but for workload floor"),
		PFS_TEXT_OPTION("workload", "W", &words->workload,
				"a workload of pfs-bench "
				"(pfs-bench --list-workloads); default churn"),
		PFS_REAL_OPTION("occupancy", "O", &self->occupancy, 1e-9, 1,
				"above 0, at most 1: "
				"of churn and scan; default 0.9"),
		PFS_NUMBER_OPTION("ops", "N", &self->ops, 1, UINT64_C(1) << 40,
				  "allocate, "
				  "publish, free triples of all threads together, at which the "
				  "window ends; default 20000. A fifth as many go before"),
		PFS_NUMBER_OPTION("window-us", "N", &words->window_us, 1, 1000000000,
				  "of tide and day, "
				  "which move with time: virtual time instead of --ops; default "
				  "20000"),
		PFS_NUMBER_OPTION("seed", "S", &words->seed, 0, UINT64_MAX, "default 1"),
		PFS_NUMBER_OPTION("seeds", "K", &words->seeds, 1, 100000,
				  "K runs, of seeds S, S + "
				  "1, ..., each a process; default 1"),
		PFS_TEXT_OPTION("costs", "C", &words->costs,
				"a preset or a JSON file; default " PFS_COSTS_DEFAULT),
		PFS_NUMBER_OPTION("slice-us", "N", &words->slice_us, 1, 1000000,
				  "time slice of "
				  "threads that share a PU; default the costs'"),
		PFS_NUMBER_OPTION("pass-us", "N", &words->pass_us, 1, 1000000000,
				  "virtual time "
				  "between background passes, not --reclaim-period-ms's"),
		PFS_TEXT_OPTION("placement", "L", &words->placement,
				"compact or scatter; default "
				"compact"),
		PFS_NUMBER_OPTION("hot", "N", &words->hot, 0, PFS_HOT_LINES_MAX,
				  "list the N cache "
				  "lines, at most 64, on which threads spent most time"),
		PFS_TEXT_OPTION("format", "F", &words->format, "text or json; default text"),
		PFS_NUMBER_OPTION("records", "N", &words->records, 1, UINT32_C(1) << 24,
				  "of fill "
				  "and refuse, instead of --pages; default 16384"),
	};
	enum { OWN = sizeof(own) / sizeof(own[0]) };
	struct pfs_option all[OWN + SHARED];
	memcpy(all, own, sizeof(own));
	for (size_t i = 0; i < SHARED; i++)
		all[OWN + i] = *find_shared(shared[i]);
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = "pfs-sim run", .words = "", .options = all, .option_count = OWN + SHARED,
		.about = "a workload of pfs-bench on a simulated machine, in virtual time",
		.after = "exit 0: done. 1: a check failed, or it cannot be written. 2: bad "
			 "usage.\n",
		.context = &self->bench,
	};
	/* clang-format on */
	return pfs_command_line_read(&line, argc, argv, NULL);
}

static enum pfs_status take_numbers(struct pfs_run_options *self, const struct words *words,
				    struct pfs_message *message)
{
	if (words->machine == NULL || words->threads == 0)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "--machine and --threads are needed, such as "
				       "--machine \"numa:8 core:32 pu:1\" --threads 256");
	self->threads = (uint32_t)words->threads;
	self->window_ns = words->window_us * 1000;
	self->pass_ns = words->pass_us * 1000;
	self->bench.seed = words->seed;
	self->seed_count = (uint32_t)words->seeds;
	self->hot = (uint32_t)words->hot;
	self->records = (uint32_t)words->records;
	return PFS_OK;
}

/* Does the machine see all its accesses? malloc is the host's, outside of any machine. */
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
	if (name == NULL)
		return pfs_message_set(message, PFS_BAD_VARIANT,
				       "--policy is needed: choose from "
				       "%s",
				       known_names(true, names));
	if (self->variant == NULL)
		return pfs_message_set(message, PFS_BAD_VARIANT, "--policy '%.40s': choose from %s",
				       name, known_names(true, names));
	if (!can_be_simulated(self->variant))
		return pfs_message_set(
			message, PFS_BAD_VARIANT,
			"--policy %s: the simulated machine cannot simulate it; choose from %s",
			name, known_names(true, names));
	if ((self->variant->traits & self->workload->traits) != self->workload->traits)
		return pfs_message_set(message, PFS_BAD_VARIANT,
				       "--workload %s: policy %s lacks a trait that it needs; "
				       "choose exact, for example",
				       self->workload->name, name);
	if (!pfs_layout_option_fits(self->bench.layout, self->bench.bare_words,
				    self->variant->traits, self->workload->traits))
		return pfs_message_set(message, PFS_BAD_VARIANT,
				       "--layout bare: workload %s needs words beside the records; "
				       "choose bare-words",
				       self->workload->name);
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
				       "results/traces",
				       self->workload->name);
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
				       "--threads %u: workload %s is for at most %u", self->threads,
				       name, most);
	enum pfs_status status = read_policy(self, words->policy, message);
	return status == PFS_OK ? read_trace(self, message) : status;
}

static enum pfs_status read_machine(struct pfs_run_options *self, const struct words *words,
				    struct pfs_message *message)
{
	const char *placement = words->placement != NULL ? words->placement : "compact";
	const char *format = words->format != NULL ? words->format : "text";
	const char *slash = strrchr(words->machine, '/');
	self->placement = strcmp(placement, "scatter") == 0 ? PFS_TIMED_SCATTER : PFS_TIMED_COMPACT;
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
	if (words->slice_us != 0)
		self->costs.slice_ns = (double)words->slice_us * 1000;
	self->machine = slash != NULL ? slash + 1 : words->machine;
	status = pfs_topology_create(&self->topology, words->machine, message);
	if (status == PFS_OK && self->bench.memory == PFS_MEMORY_NODE &&
	    self->bench.memory_node >= self->topology->node_count)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "--memory node:%u: this machine has nodes 0 to %u",
				       self->bench.memory_node, self->topology->node_count - 1);
	return status;
}

static enum pfs_status read_series(const struct pfs_run_options *self, struct pfs_message *message)
{
	if (self->bench.series == NULL)
		return PFS_OK;
	if (self->workload->tick == NULL)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "--series %.120s: workload %s has none; add "
				       "--workload tide",
				       self->bench.series, self->workload->name);
	if (self->seed_count > 1)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "--series %.120s: is of one run; leave out --seeds",
				       self->bench.series);
	return PFS_OK;
}

static enum pfs_status check_scene(const struct pfs_run_options *self, struct pfs_message *message)
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

static enum pfs_status settle(struct pfs_run_options *self, const struct words *words,
			      struct pfs_message *message)
{
	enum pfs_status status = pfs_options_check(&self->bench, message);
	if (status == PFS_OK)
		status = take_numbers(self, words, message);
	if (status == PFS_OK)
		status = read_workload(self, words, message);
	if (status == PFS_OK)
		status = read_series(self, message);
	if (status == PFS_OK)
		status = read_machine(self, words, message);
	return status == PFS_OK ? check_scene(self, message) : status;
}

int pfs_run_options_read(struct pfs_run_options *self, int argc, char **argv)
{
	struct words words = {
		.window_us = WINDOW_US_DEFAULT, .seed = 1, .seeds = 1, .records = RECORDS_DEFAULT
	};
	struct pfs_message message = { .text = "" };
	*self = (struct pfs_run_options){ 0 };
	if (pfs_options_default(&self->bench, &message) != PFS_OK)
		return pfs_command_refuse("pfs-sim run", 1, "%s", message.text);
	self->ops = OPS_DEFAULT;
	self->occupancy = 0.9;
	int status = read_words(self, &words, argc, argv);
	if (status == PFS_GO_ON && settle(self, &words, &message) != PFS_OK)
		status = pfs_command_refuse("pfs-sim run", PFS_EXIT_WRONG_USE, "%s", message.text);
	self->bench.latency_ms = 0; /* every call is timed, in the one window */
	return status;
}

void pfs_run_options_fini(struct pfs_run_options *self)
{
	pfs_replays_free(&self->replays);
	pfs_topology_destroy(self->topology);
	pfs_options_fini(&self->bench);
}
