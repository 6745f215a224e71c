#define _GNU_SOURCE
#include "sim/command/command_run.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/counters.h"
#include "bench/series.h"
#include "base/command_line.h"
#include "sim/seams/arena.h"
#include "sim/run/due.h"
#include "check/machine/machine.h"
#include "sim/run/run_result.h"
#include "sim/run/timed_calls.h"
#include "sim/run/trial_backend.h"

static struct pfs_outcome outcome; /* too large for a stack */

/* One run: the inputs of the scene and the machine. */
struct run {
	const struct pfs_run_options *options;
	struct pfs_scene_plan plan;
	struct pfs_placement placement;
	struct pfs_clock clock;
	struct pfs_trial_backend backend;
};

/* ---- progress, on stderr if it is a terminal ---- */

static void show_share(double share)
{
	char bar[41];
	int full = (int)(share * 40);
	for (int i = 0; i < 40; i++)
		bar[i] = i < full ? '#' : '.';
	bar[40] = '\0';
	(void)fprintf(stderr, "\r[%s] %3.0f %%", bar, share * 100);
}

static void on_progress(void *context, double share)
{
	(void)context;
	show_share(share < 1 ? share : 1);
}

static void end_progress(void)
{
	if (isatty(STDERR_FILENO))
		(void)fprintf(stderr, "\r%60s\r", "");
}

/* ---- one run ---- */

static void put(void *context, const char *name, double value)
{
	pfs_run_result_put(context, name, value);
}

/* Which threads' operations are items: all, if the workload counts none (a reader alone). */
static void mark_counted(const struct pfs_run_options *options, bool *counts)
{
	const struct pfs_workload *workload = options->workload;
	struct pfs_scene scene = { .thread_count = options->threads };
	bool any = false;
	for (uint32_t i = 0; i < options->threads; i++) {
		counts[i] = workload->is_counted == NULL || workload->is_counted(&scene, i);
		any |= counts[i];
	}
	for (uint32_t i = 0; !any && i < options->threads; i++)
		counts[i] = true;
}

/* Items of each thread over its own time, summed: threads end within one batch of each other,
 * and none is counted while it rests. */
static double items_per_second(const struct run *run)
{
	const struct pfs_trial_backend *backend = &run->backend;
	double sum = 0;
	for (uint32_t i = 0; i < run->options->threads; i++) {
		if (backend->counts[i] && backend->thread_ns[i] != 0)
			sum += (double)backend->thread_ops[i] * 1e9 / (double)backend->thread_ns[i];
	}
	return sum;
}

static void put_stats(const struct pfs_timed_stats *stats, struct pfs_run_result *result)
{
	const struct {
		const char *name;
		uint64_t value;
	} all[] = {
		{ "accesses", stats->accesses },
		{ "atomics", stats->atomics },
		{ "hits", stats->hits },
		{ "transfers_core", stats->transfers_core },
		{ "transfers_l3", stats->transfers_l3 },
		{ "transfers_node", stats->transfers_node },
		{ "transfers_remote", stats->transfers_remote },
		{ "memory_near", stats->memory_near },
		{ "memory_far", stats->memory_far },
		{ "queue_ns", stats->queue_ns },
		{ "preemptions", stats->preemptions },
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		pfs_run_result_put(result, all[i].name, (double)all[i].value);
}

static void put_all(const struct run *run, struct pfs_run_result *result)
{
	const struct pfs_counter_sink sink = { .put = put, .context = result, .exact = true };
	if (outcome.has_items)
		pfs_run_result_put(result, "items_per_second", items_per_second(run));
	pfs_run_result_put(result, "ops", (double)outcome.ops);
	pfs_run_result_put(result, "window_ns", (double)outcome.trial.window_ns);
	if (outcome.ops_max != 0 && !run->options->workload->paced)
		pfs_run_result_put(result, "fairness",
				   (double)outcome.ops_min / (double)outcome.ops_max);
	pfs_run_result_put(result, "oversubscribed", outcome.crowded);
	outcome.histogram = *pfs_timed_calls_histogram();
	outcome.reclaimed_timed = outcome.after.reclaimed - outcome.before.reclaimed;
	pfs_counters_put(&sink, &run->plan, &outcome);
	if (run->plan.variant != NULL) {
		pfs_run_result_put(result, "refused_early", (double)pfs_due_counts().refused_early);
		pfs_run_result_put(result, "grown_early", (double)pfs_due_counts().grown_early);
	}
	put_stats(&run->backend.stats, result);
	result->parts = *pfs_parts();
	result->hot_count = pfs_hot_lines_take(result->hot, run->options->hot);
}

/* Containers with a background pass: each takes a virtual thread. */
static uint32_t count_reclaimers(const struct run *run)
{
	const struct pfs_run_options *options = run->options;
	uint32_t count = 0;
	struct pfs_scene scene = {
		.options = &options->bench,
		.workload = options->workload,
		.variant = options->variant,
		.replay = run->plan.replay,
		.records = run->plan.records,
		.thread_count = options->threads,
	};
	for (uint32_t i = 0; i < options->workload->container_count; i++) {
		struct pfs_config config;
		pfs_scene_configure(&scene, i, &config);
		bool reclaims = (pfs_variant_traits(options->variant) & PFS_TRAIT_RECLAIM) != 0;
		count += reclaims && config.reclaim.period_ms != 0;
	}
	return count;
}

static void measure_hot(bool begins)
{
	pfs_timed_calls_record(begins);
	(void)pfs_hot_lines_record(begins);
}

static void make_run(struct run *run, const struct pfs_run_options *options)
{
	uint32_t nominal_ms = options->workload->window_ms;
	bool moves = options->workload->tick != NULL;
	*run = (struct run){ .options = options, .clock = { .ns_per_tick = 1, .cost_ns = 1 } };
	run->placement.thread_count = options->threads;
	run->placement.pu_count = options->topology->pu_count;
	run->plan = (struct pfs_scene_plan){
		.options = &options->bench,
		.workload = options->workload,
		.variant = options->variant,
		.calls = options->variant != NULL ? pfs_timed_calls(options->variant) : NULL,
		.placement = &run->placement,
		.pu_allowed = options->topology->pu_count,
		.clock = &run->clock,
		.name = options->workload->name,
		.replay = options->replays.count != 0 ? &options->replays.list[0] : NULL,
		.occupancy = options->occupancy,
		.records = options->workload->has_records ? options->records : 0,
	};
	run->backend = (struct pfs_trial_backend){
		.topology = options->topology,
		.costs = &options->costs,
		.placement = options->placement,
		.seed = options->bench.seed,
		.ops = options->ops,
		.window_ns = moves ? options->window_ns : 0,
		.nominal_ns = UINT64_C(1000000) * nominal_ms,
		.pass_ns = options->pass_ns,
		.tick_share = (uint32_t)options->workload->tick_share,
		.measuring = options->hot != 0 ? measure_hot : pfs_timed_calls_record,
		.reclaimers = count_reclaimers(run),
	};
}

static int refuse(const char *text)
{
	return pfs_command_refuse("pfs-sim run", 1, "%s", text);
}

/* 0, or 1 or 2 with a line on stderr. */
static int play(struct run *run, struct pfs_run_result *result)
{
	struct pfs_message message = { .text = "" };
	uint32_t most = PFS_MACHINE_THREADS_MAX - run->backend.reclaimers;
	if (run->options->threads > most) {
		(void)fprintf(stderr,
			      "pfs-sim run: --threads %u: background reclaim needs %u of %u; give "
			      "at most %u, or --reclaim-period-ms=0\n",
			      run->options->threads, run->backend.reclaimers,
			      PFS_MACHINE_THREADS_MAX, most);
		return 2;
	}
	pfs_trial_backend_use(&run->backend);
	enum pfs_status ended = pfs_scene_run(&run->plan, &outcome, &message);
	if (ended != PFS_OK) {
		(void)fprintf(stderr, "pfs-sim run: seed %llu: %s\n",
			      (unsigned long long)result->seed, message.text);
		return ended == PFS_BAD_CONFIG ? 2 : 1;
	}
	if (run->backend.stuck)
		return refuse("nothing was done for a second of virtual time; give more --pages "
			      "or fewer --threads");
	put_all(run, result);
	return 0;
}

static int run_once(const struct pfs_run_options *options, bool shows, struct pfs_series *series,
		    struct pfs_run_result *result)
{
	static struct run run;
	int status;
	make_run(&run, options);
	bool *counts = calloc(options->threads, sizeof(*counts));
	run.plan.series = series;
	run.backend.progress = shows ? on_progress : NULL;
	run.backend.counts = counts;
	run.backend.thread_ops = calloc(options->threads, sizeof(uint64_t));
	run.backend.thread_ns = calloc(options->threads, sizeof(uint64_t));
	memset(result, 0, sizeof(*result));
	result->seed = options->bench.seed;
	if (counts == NULL || run.backend.thread_ops == NULL || run.backend.thread_ns == NULL) {
		status = refuse("no memory for the threads' results");
	} else {
		mark_counted(options, counts);
		status = play(&run, result);
	}
	free(counts);
	free(run.backend.thread_ops);
	free(run.backend.thread_ns);
	return status;
}

/* ---- several seeds, each in a process of its own ---- */

/* For as long as the program runs. */
static void *zeroed_pages(size_t bytes)
{
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return pages != MAP_FAILED ? pages : NULL;
}

static uint32_t cpu_count(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

struct child {
	pid_t pid;
	int pipe;
};

/* Allocates nothing, here or in the parent: a run's objects must have the same places in their
 * cache lines, whether it is the only run or one of many. */
static bool move_bytes(ssize_t (*move)(int file, void *bytes, size_t count), int file, char *bytes)
{
	size_t done = 0;
	while (done < sizeof(struct pfs_run_result)) {
		ssize_t count = move(file, bytes + done, sizeof(struct pfs_run_result) - done);
		if (count <= 0)
			return false;
		done += (size_t)count;
	}
	return true;
}

static ssize_t write_some(int file, void *bytes, size_t count)
{
	return write(file, bytes, count);
}

static bool start_child(struct pfs_run_options *options, uint32_t index, struct child *child)
{
	int ends[2];
	if (pipe(ends) != 0)
		return false;
	child->pipe = ends[0];
	child->pid = fork();
	if (child->pid < 0) {
		(void)close(ends[0]);
		(void)close(ends[1]);
		return false;
	}
	if (child->pid != 0) {
		(void)close(ends[1]);
		return true;
	}
	static struct pfs_run_result result;
	options->bench.seed += index; /* in place: a copy would be in other cache lines */
	int status = run_once(options, false, NULL, &result);
	_exit(status == 0 && !move_bytes(write_some, ends[1], (char *)&result) ? 1 : status);
}

/* Reads the result until the run ends. */
static int end_child(const struct child *child, struct pfs_run_result *result)
{
	int state = 0;
	bool whole = move_bytes(read, child->pipe, (char *)result);
	(void)close(child->pipe);
	if (waitpid(child->pid, &state, 0) != child->pid || !WIFEXITED(state))
		return 1;
	if (WEXITSTATUS(state) != 0)
		return WEXITSTATUS(state);
	return whole ? 0 : 1;
}

static int run_seeds(struct pfs_run_options *options, bool shows, struct pfs_run_result *results)
{
	uint32_t count = options->seed_count, started = 0, room = cpu_count();
	struct child *children = zeroed_pages(count * sizeof(*children));
	int status = children != NULL ? 0 : refuse("no memory for that many --seeds");
	for (uint32_t ended = 0; ended < started || (status == 0 && ended < count); ended++) {
		for (; status == 0 && started < count && started < ended + room; started++) {
			if (start_child(options, started, &children[started]))
				continue;
			status = refuse("cannot start a process for each seed; give fewer --seeds");
			break;
		}
		if (ended == started)
			break;
		int one = end_child(&children[ended], &results[ended]);
		if (status == 0)
			status = one;
		if (shows)
			show_share((double)(ended + 1) / count);
	}
	return status;
}

static int run_all(struct pfs_run_options *options, struct pfs_run_result *results)
{
	bool shows = isatty(STDERR_FILENO);
	struct pfs_series *series = NULL;
	if (options->seed_count > 1)
		return run_seeds(options, shows, results);
	if (options->bench.series != NULL)
		series = pfs_series_open(options->bench.series);
	if (options->bench.series != NULL && series == NULL)
		return pfs_command_refuse("pfs-sim run", PFS_EXIT_WRONG_USE,
					  "--series '%.120s': "
					  "cannot be written; give another file",
					  options->bench.series);
	int status = run_once(options, shows, series, results);
	if (status != 0)
		pfs_series_drop(series);
	else if (!pfs_series_close(series))
		status = pfs_command_refuse("pfs-sim run", 1,
					    "--series '%.120s': cannot be "
					    "written; free some space, or give another file",
					    options->bench.series);
	return status;
}

int pfs_command_run(int argc, char **argv)
{
	static struct pfs_run_options options; /* workloads read it: see the head of timed.h */
	if (!pfs_arena_begin())
		return refuse("no address space for a run; raise ulimit -v");
	int status = pfs_run_options_read(&options, argc, argv);
	if (status != PFS_GO_ON) {
		pfs_run_options_fini(&options);
		return status;
	}
	struct pfs_run_result *results = zeroed_pages(options.seed_count * sizeof(*results));
	status = results != NULL ? run_all(&options, results)
				 : refuse("no memory for that many --seeds");
	end_progress();
	if (status == 0)
		pfs_run_results_write(&options, results, options.seed_count);
	pfs_run_options_fini(&options);
	return status;
}
