/*
 * main.c - pfs-bench: registers the cross product of the flags and lets Google Benchmark run.
 *
 * For the library a benchmark has one thread; trials start their own (trial.h). The library sees
 * each trial as a million iterations, each as long as an operation took on average (the window
 * divided by the operations of all threads). So its times are nanoseconds per operation, and all
 * repetitions have the same number of iterations, as it requires.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator.h"
#include "build.h"
#include "layout_option.h"
#include "library_flags.h"
#include "machine.h"
#include "options.h"
#include "report.h"
#include "scene.h"
#include "series.h"
#include "shim.h"
#include "trace_load.h"
#include "traits.h"

#define EXIT_CHECK_FAILED 1
#define EXIT_WRONG_INPUT 2
#define NAME_CHARS 256
#define TRIAL_ITERATIONS 1000000
#define EMPTY_ATTEMPTS 20

struct bench_case {
	struct pfs_scene_plan plan;
	char name[NAME_CHARS];
};

struct bench {
	struct pfs_options options;
	struct pfs_clock clock;
	hwloc_topology_t topology;
	struct pfs_placement *placements; /* [placement][threads] */
	uint32_t placement_count;         /* of those made */
	struct bench_case *cases;
	size_t case_count;
	struct pfs_series *series;
	struct pfs_replays replays;
	struct pfs_message message;
};

static struct pfs_outcome outcome; /* too large for the stack; one benchmark runs at a time */

static bool refuse(struct bench *self, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static bool refuse(struct bench *self, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(self->message.text, sizeof(self->message.text), format, arguments);
	va_end(arguments);
	return false;
}

/* The operations by which a benchmark's time is divided: triples or, without them, a reader's. */
static uint64_t ops_of(const struct pfs_outcome *result)
{
	return result->has_items ? result->items : result->ops;
}

/* A trial. It is repeated while it is disturbed and the flags allow it, or while no thread did
 * anything in its window. */
static enum pfs_status run_trial(const struct bench_case *one, uint32_t *attempts,
				 struct pfs_message *message)
{
	enum pfs_status status = PFS_OK;
	bool again = false;

	*attempts = 0;
	do {
		status = pfs_scene_run(&one->plan, &outcome, message);
		++*attempts;
		again = ops_of(&outcome) == 0
				? *attempts < EMPTY_ATTEMPTS
				: outcome.trial.disturbed &&
					  *attempts <= one->plan.options->repeat_disturbed;
	} while (status == PFS_OK && again);
	return status;
}

static void run_case(struct pfs_shim_state *state, void *user)
{
	const struct bench_case *one = user;
	struct pfs_message message = { .text = "" };
	uint64_t items = 0;
	uint32_t attempts = 0;
	int64_t done = 0;
	double sum_s = 0.0;

	do {
		if (run_trial(one, &attempts, &message) != PFS_OK) {
			pfs_shim_error(state, message.text);
			return;
		}
		uint64_t ops = ops_of(&outcome);
		double window_s = (double)outcome.trial.window_ns / 1e9;
		if (ops == 0) {
			pfs_shim_error(state, "no operation was done in the window: lengthen "
					      "--window-ms or lower --threads");
			return;
		}
		pfs_shim_keep_running_batch(state, TRIAL_ITERATIONS);
		pfs_shim_iteration_time(state, TRIAL_ITERATIONS * window_s / (double)ops);
		items += outcome.items;
		sum_s += window_s;
		done += TRIAL_ITERATIONS;
	} while (done < pfs_shim_iterations_wanted(state));
	pfs_shim_keep_running_batch(state, 1); /* ends the loop: all were done */
	pfs_report(state, &one->plan, &outcome, items, sum_s, attempts);
}

/* Does the workload fit the policy and the threads? If not, it is left out. */
static bool fits(const struct pfs_scene_plan *plan)
{
	const struct pfs_workload *workload = plan->workload;
	uint32_t threads = plan->placement->thread_count;

	if (workload->has_policy &&
	    !pfs_layout_option_fits(plan->options->layout, plan->options->bare_words,
				    pfs_variant_traits(plan->variant), workload->traits))
		return false;
	if (plan->touched && (pfs_variant_traits(plan->variant) & PFS_TRAIT_INDEX) == 0)
		return false; /* malloc: has no pages, and memory of its own */
	return threads % workload->threads_multiple == 0 &&
	       (workload->threads_max == 0 || threads <= workload->threads_max);
}

static void name_case(struct bench_case *one, const char *placement)
{
	const struct pfs_scene_plan *plan = &one->plan;
	char trace[64] = "", policy[64] = "", occupancy[64] = "", pages[32] = "", size[48] = "";
	static const char *const apis[] = { "", "/api:public", "/api:cxx" }; /* of enum pfs_api */
	const char *api = plan->variant != NULL ? apis[plan->api] : "";

	if (plan->replay != NULL)
		snprintf(trace, sizeof(trace), "_%s", plan->replay->name);
	if (plan->variant != NULL)
		snprintf(policy, sizeof(policy), "/policy:%s",
			 plan->options->peer != NULL ? plan->options->peer
						     : pfs_variant_name(plan->variant));
	if (plan->workload->has_occupancy)
		snprintf(occupancy, sizeof(occupancy), "/occupancy:%.10g", plan->occupancy);
	if (plan->variant != NULL && plan->options->pages_each != 0)
		snprintf(pages, sizeof(pages), "/pages_each:%u", plan->options->pages_each);
	if (plan->workload->has_records)
		snprintf(size, sizeof(size), "/records:%u%s", plan->records,
			 plan->touched ? "/memory:touched" : "");
	snprintf(one->name, sizeof(one->name), "%s%s%s%s%s%s%s/placement:%s/threads:%u",
		 plan->workload->name, trace, policy, occupancy, size, api, pages, placement,
		 plan->placement->thread_count);
	one->plan.name = one->name;
}

static bool check_scene(struct bench *self, const struct pfs_scene_plan *plan)
{
	struct pfs_scene scene = {
		.options = &self->options,
		.workload = plan->workload,
		.variant = plan->variant,
		.replay = plan->replay,
		.records = plan->records,
		.thread_count = plan->placement->thread_count,
	};

	return pfs_scene_check(&scene, &self->message) == PFS_OK;
}

static bool add_case(struct bench *self, const struct pfs_scene_plan *plan, const char *placement)
{
	if (!fits(plan))
		return true;
	if (!check_scene(self, plan))
		return false;
	struct bench_case *one = &self->cases[self->case_count++];
	one->plan = *plan;
	name_case(one, placement);
	return true;
}

/* All thread counts and placements of a workload, trace, policy and occupancy. */
static bool add_cases(struct bench *self, struct pfs_scene_plan plan)
{
	const struct pfs_options *options = &self->options;

	for (uint32_t p = 0; p < options->placement_count; p++) {
		for (uint32_t t = 0; t < options->thread_count; t++) {
			plan.placement = &self->placements[p * options->thread_count + t];
			if (!add_case(self, &plan, options->placements[p]))
				return false;
		}
	}
	return true;
}

/* All sizes, each fresh and touched, where the workload has them. */
static bool add_sizes(struct bench *self, struct pfs_scene_plan plan)
{
	const struct pfs_options *options = &self->options;

	if (!plan.workload->has_records)
		return add_cases(self, plan);
	for (uint32_t i = 0; i < options->record_count * options->touched_count; i++) {
		plan.records = options->records[i / options->touched_count];
		plan.touched = options->touched[i % options->touched_count];
		if (!add_cases(self, plan))
			return false;
	}
	return true;
}

/* All policies, occupancies and ways to call of a workload and trace. */
static bool add_policies(struct bench *self, struct pfs_scene_plan plan)
{
	const struct pfs_options *options = &self->options;
	uint32_t policies = plan.workload->has_policy ? options->policy_count : 1;
	uint32_t occupancies = plan.workload->has_occupancy ? options->occupancy_count : 1;
	uint32_t apis = plan.workload->has_policy ? options->api_count : 1;

	for (uint32_t i = 0; i < policies * occupancies * apis; i++) {
		plan.api = options->apis[i % apis];
		plan.occupancy = options->occupancies[i / apis % occupancies];
		plan.variant = NULL;
		if (plan.workload->has_policy)
			plan.variant = options->policies[i / apis / occupancies];
		if (plan.variant != NULL)
			plan.calls = pfs_calls_of(plan.variant, plan.api);
		if (!add_sizes(self, plan))
			return false;
	}
	return true;
}

static bool load_traces(struct bench *self)
{
	const struct pfs_options *options = &self->options;

	for (uint32_t w = 0; w < options->workload_count; w++)
		if (options->workloads[w]->has_trace)
			return pfs_replays_load(&self->replays, options->traces,
						options->trace_count, PFS_TRACE_FOLDER,
						&self->message) == PFS_OK;
	return options->trace_count == 0 ||
	       refuse(self, "--trace '%.120s': only for workload replay; add that workload",
		      options->traces[0]);
}

static bool make_cases(struct bench *self)
{
	const struct pfs_options *options = &self->options;
	size_t most = (size_t)options->workload_count * options->policy_count *
		      options->occupancy_count * options->api_count * options->placement_count *
		      options->thread_count * (self->replays.count + 1) * options->record_count *
		      options->touched_count;
	struct pfs_scene_plan plan = {
		.options = options,
		.topology = self->topology,
		.pu_allowed = (uint32_t)hwloc_get_nbobjs_by_type(self->topology, HWLOC_OBJ_PU),
		.clock = &self->clock,
		.series = self->series,
	};

	self->cases = calloc(most, sizeof(*self->cases));
	if (self->cases == NULL)
		return refuse(self, "no memory for %zu benchmarks: give fewer values", most);
	for (uint32_t w = 0; w < options->workload_count; w++) {
		plan.workload = options->workloads[w];
		uint32_t traces = plan.workload->has_trace ? self->replays.count : 1;
		for (uint32_t i = 0; i < traces; i++) {
			plan.replay = plan.workload->has_trace ? &self->replays.list[i] : NULL;
			if (!add_policies(self, plan))
				return false;
		}
	}
	if (self->case_count == 0)
		return refuse(self, "nothing to run: no chosen workload fits a chosen policy and "
				    "thread count; see --list-workloads");
	return true;
}

static bool make_placements(struct bench *self)
{
	const struct pfs_options *options = &self->options;
	uint32_t count = options->placement_count * options->thread_count;

	self->topology = pfs_topology_load();
	if (self->topology == NULL)
		return refuse(self, "hwloc cannot read this machine's topology");
	self->placements = calloc(count, sizeof(*self->placements));
	if (self->placements == NULL)
		return refuse(self, "no memory for %u placements", count);
	for (uint32_t i = 0; i < count; i++) {
		if (pfs_placement_init(&self->placements[i], self->topology,
				       options->placements[i / options->thread_count],
				       options->threads[i % options->thread_count],
				       &self->message) != PFS_OK)
			return false;
		self->placement_count++;
		if (self->placements[i].kind != PFS_PLACEMENT_NONE &&
		    !hwloc_topology_is_thissystem(self->topology))
			return refuse(self,
				      "placement %.80s: hwloc describes another machine; unset "
				      "HWLOC_SYNTHETIC and HWLOC_XMLFILE, or choose none",
				      options->placements[i / options->thread_count]);
	}
	return true;
}

/* Can this machine create a container of one record, with the memory that the flags ask for? */
static bool probe_container(struct bench *self, bool *counted)
{
	struct pfs_container *container = NULL;
	struct pfs_config config;
	struct pfs_counts counts;

	pfs_config_init(&config);
	config.page_records = 1;
	config.page_max = 1;
	config.page_prealloc = 1;
	config.memory = self->options.memory;
	config.memory_node = self->options.memory_node;
	struct pfs_message said = { .text = "" };
	enum pfs_status status;
	status = pfs_container_create(pfs_variant_at(0), &config, &container, &said);
	if (status != PFS_OK) /* the message is about memory or memory_node: one flag here */
		return refuse(self, "--memory: %s", said.text);
	pfs_container_counts(container, &counts);
	*counted = counts.counted;
	pfs_container_destroy(container);
	return true;
}

/* The library would refuse it, too, but would not say how to fix it. */
static bool check_filter(struct bench *self, const char *filter)
{
	char name[NAME_CHARS + sizeof("/manual_time")];

	for (size_t i = 0; i < self->case_count; i++) {
		snprintf(name, sizeof(name), "%s/manual_time", self->cases[i].name);
		if (pfs_library_flags_match(filter, name))
			return true;
	}
	return refuse(self, "--benchmark_filter '%.80s': none of %zu; see --benchmark_list_tests",
		      filter, self->case_count);
}

static bool set_up(struct bench *self, const char *filter)
{
	bool counted = false;

	if (self->options.series != NULL) {
		self->series = pfs_series_open(self->options.series);
		if (self->series == NULL)
			return refuse(
				self,
				"--series '%.120s': cannot be written (%s); give another file",
				self->options.series, strerror(errno));
	}
	if (!load_traces(self) || !make_placements(self) || !probe_container(self, &counted))
		return false;
	pfs_clock_init(&self->clock);
	if (!make_cases(self) || !check_filter(self, filter))
		return false;
	pfs_machine_describe(self->topology, &self->clock, counted);
	for (size_t i = 0; i < self->case_count; i++)
		pfs_shim_register(self->cases[i].name, run_case, &self->cases[i]);
	return true;
}

static void tear_down(struct bench *self)
{
	for (uint32_t i = 0; i < self->placement_count; i++)
		pfs_placement_fini(&self->placements[i]);
	free(self->placements);
	free(self->cases);
	pfs_replays_free(&self->replays);
	if (self->topology != NULL)
		hwloc_topology_destroy(self->topology);
	pfs_options_fini(&self->options);
}

static void print_traits(const char *name, uint32_t traits)
{
	char text[PFS_TRAITS_CHARS];

	pfs_traits_text(traits, text);
	printf("%-14s %s\n", name, text);
}

static int run_library(struct bench *self, int argc, char **argv)
{
	const char *file = pfs_library_flags_last(argc, argv, "--benchmark_out");
	char **all = pfs_library_flags_default(&argc, argv, file);
	int status = EXIT_SUCCESS;

	if (all == NULL)
		return EXIT_CHECK_FAILED;
	pfs_shim_initialize(&argc, all);
	if (argc > 1) {
		refuse(self, "unknown flag '%.80s': Google Benchmark does not know it", all[1]);
		status = EXIT_WRONG_INPUT;
	} else if (pfs_shim_run() == 0) {
		refuse(self, "nothing was run");
		status = EXIT_WRONG_INPUT;
	} else if (!pfs_shim_written() || !pfs_library_flags_settle(file, true)) {
		refuse(self,
		       "standard output%s%.120s%s: not all output was written; free some space and "
		       "measure again",
		       file[0] != '\0' ? " or file '" : "", file, file[0] != '\0' ? "'" : "");
		status = EXIT_CHECK_FAILED;
	} else if (pfs_shim_errors() != 0) {
		refuse(self, "%llu benchmarks failed, see their error messages",
		       (unsigned long long)pfs_shim_errors());
		status = EXIT_CHECK_FAILED;
	}
	(void)pfs_library_flags_settle(file, false);
	pfs_shim_shutdown();
	free(all);
	return status;
}

/* A preloaded peer is policy malloc, and can do what that can. */
static void list_peer(const struct pfs_options *options)
{
	char file[128];

	pfs_allocator_describe(file, sizeof(file));
	if (options->list_policies)
		printf("%-14s baseline: %s in place of the process's malloc\n", options->peer,
		       file);
	if (options->list_traits)
		print_traits(options->peer, pfs_variant_traits(pfs_variant_find("malloc")));
}

static void list(const struct pfs_options *options)
{
	if (options->peer != NULL) {
		list_peer(options);
		return;
	}
	const struct pfs_variant *variant;
	for (size_t i = 0; options->list_traits && (variant = pfs_variant_at(i)) != NULL; i++)
		print_traits(pfs_variant_name(variant), pfs_variant_traits(variant));
	for (size_t i = 0; options->list_policies && (variant = pfs_variant_at(i)) != NULL; i++)
		printf("%-14s %s\n", pfs_variant_name(variant), pfs_variant_summary(variant));
	for (uint32_t i = 0; options->list_workloads && pfs_workload_at(i) != NULL; i++)
		printf("%-14s %s\n", pfs_workload_at(i)->name, pfs_workload_at(i)->summary);
	if (options->list_workload_traits)
		pfs_workload_traits_print();
}

static int run(struct bench *self, int argc, char **argv)
{
	int status = pfs_options_read(&self->options, &argc, argv);

	if (status != PFS_GO_ON)
		return status;
	if (self->options.list_policies || self->options.list_traits ||
	    self->options.list_workloads || self->options.list_workload_traits) {
		list(&self->options);
		return EXIT_SUCCESS;
	}
	status = EXIT_WRONG_INPUT;
	if (pfs_library_flags_check(argc, argv, &self->message) != PFS_OK ||
	    !set_up(self, pfs_library_flags_last(argc, argv, "--benchmark_filter"))) {
		pfs_series_drop(self->series);
		return status;
	}
	status = run_library(self, argc, argv);
	if (!pfs_series_close(self->series)) {
		refuse(self, "--series '%.120s': writing failed", self->options.series);
		status = EXIT_CHECK_FAILED;
	}
	return status;
}

int main(int argc, char **argv)
{
	struct bench self = { .message = { .text = "" } };
	int status = run(&self, argc, argv);

	if (self.message.text[0] != '\0' && status != EXIT_SUCCESS)
		fprintf(stderr, "pfs-bench: %s\n", pfs_one_line(self.message.text));
	bool was_said = self.message.text[0] != '\0';
	tear_down(&self);
	return was_said ? status : pfs_command_end("pfs-bench", status);
}
