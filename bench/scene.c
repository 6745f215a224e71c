/*
 * scene.c - see scene.h.
 */
#include "scene.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "layout_option.h"
#include "series.h"
#include "touched.h"

#define BATCH_FIRST 8
#define BATCH_FIRST_PACED 64
#define BATCH_NS_MAX UINT64_C(50000)
#define WARM_UP_PARTS 5 /* the warm-up is a fifth of the window */
#define WARM_UP_NS_MIN UINT64_C(2000000)
#define SAMPLE_COST_SHARE 20 /* timing may slow a thread down by a twentieth */
#define SAMPLE_EVERY_MAX 1024
#define LATENCY_TRIES 5
#define BATCH_OF_ENDED 64     /* where the work has an end: nothing is done before the window */
#define PAGE_EXTRA_BYTES 8192 /* a page's own, at most, whatever the layout */
#define RECORD_EXTRA_BYTES 16

/* A trial under way. */
struct run {
	const struct pfs_scene_plan *plan;
	struct pfs_scene scene;
	struct pfs_pool *pool;
	struct pfs_trial_thread *threads;
	struct pfs_histogram *histograms;
	struct pfs_outcome *outcome;
	uint64_t window_ns;
	struct pfs_touched touched;
	enum pfs_status status; /* of the jobs; written by one thread at a time */
};

uint32_t pfs_scene_page_count(const struct pfs_scene *scene)
{
	const struct pfs_options *options = scene->options;
	uint64_t all = (uint64_t)options->pages_each * scene->thread_count;

	if (options->pages_each == 0)
		return options->pages;
	return all < PFS_PAGE_MAX ? (uint32_t)all : PFS_PAGE_MAX;
}

uint32_t pfs_scene_record_pages(const struct pfs_scene *scene)
{
	uint32_t page_records = scene->options->page_records;

	return (uint32_t)(((uint64_t)scene->records + page_records - 1) / page_records);
}

void pfs_scene_pages(const struct pfs_scene *scene, struct pfs_config *config, uint32_t prealloc,
		     uint32_t need)
{
	bool grows = (pfs_variant_traits(scene->variant) & PFS_TRAIT_GROW) != 0;
	bool has_pages = (pfs_variant_traits(scene->variant) & PFS_TRAIT_INDEX) != 0;

	config->page_prealloc = !has_pages ? 0 : grows ? prealloc : need;
	config->page_max = grows ? 4 * need : need;
}

void pfs_scene_extra(struct pfs_scene *scene, const char *name, double value)
{
	if (scene->extra_count == PFS_EXTRAS_MAX)
		return;
	scene->extras[scene->extra_count].name = name;
	scene->extras[scene->extra_count++].value = value;
}

void pfs_scene_configure(const struct pfs_scene *scene, uint32_t container,
			 struct pfs_config *config)
{
	const struct pfs_options *options = scene->options;

	pfs_config_init(config);
	if (options->record_size != 0)
		config->record_size_bytes = options->record_size;
	config->page_records = options->page_records;
	config->layout = options->layout;
	config->bare_words = options->bare_words;
	if (config->layout == PFS_LAYOUT_BARE && config->record_size_bytes % 16 != 0)
		config->record_align_bytes = 8;
	config->memory = options->memory;
	config->memory_node = options->memory_node;
	config->full_flags = options->full_flags;
	config->owner_fences = options->owner_fences;
	config->huge_pages = options->huge_pages ? PFS_HUGE_ADVISE : PFS_HUGE_NEVER;
	config->seed = options->seed;
	config->source = scene->source;
	if (options->reclaim_period_ms != UINT32_MAX)
		config->reclaim.period_ms = options->reclaim_period_ms;
	if (options->reclaim_decay_passes != UINT32_MAX)
		config->reclaim.decay_passes = options->reclaim_decay_passes;
	pfs_scene_pages(scene, config, pfs_scene_page_count(scene), pfs_scene_page_count(scene));
	if (scene->workload->configure != NULL)
		scene->workload->configure(scene, container, config);
	pfs_layout_option_finish(config);
	if (options->page_prealloc != UINT32_MAX)
		config->page_prealloc = options->page_prealloc;
	if (options->page_max != 0)
		config->page_max = options->page_max;
	if ((pfs_variant_traits(scene->variant) & PFS_TRAIT_RECLAIM) == 0)
		config->reclaim.period_ms = 0; /* the flags are for all policies that have it */
}

static void fail(struct run *run, enum pfs_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void fail(struct run *run, enum pfs_status status, const char *format, ...)
{
	va_list arguments;

	if (run->status != PFS_OK)
		return; /* the first one tells */
	run->status = status;
	va_start(arguments, format);
	vsnprintf(run->scene.message.text, sizeof(run->scene.message.text), format, arguments);
	va_end(arguments);
}

/* The memory for the pages of all containers, and an eighth more: a policy may add some pages. */
static bool touch_memory(struct run *run)
{
	const struct pfs_scene *scene = &run->scene;
	uint32_t containers = scene->options->latency_ms != 0 ? scene->container_count : 1;
	struct pfs_config config;

	pfs_scene_configure(scene, 0, &config);
	uint64_t record = config.record_size_bytes + config.record_align_bytes + RECORD_EXTRA_BYTES;
	uint64_t page = record * config.page_records + PAGE_EXTRA_BYTES;
	uint64_t all = page * pfs_scene_record_pages(scene) * containers;
	if (!pfs_touched_init(&run->touched, all + all / 8))
		return false;
	run->scene.source = &run->touched.source;
	return true;
}

/* On worker 0, so that preallocated pages are first touched where it is pinned. */
static void create_job(void *context, uint32_t index)
{
	struct run *run = context;
	struct pfs_scene *scene = &run->scene;

	if (index == 0 && run->plan->touched && !touch_memory(run))
		fail(run, PFS_NO_MEMORY, "no memory to touch in advance; lower --records");
	for (uint32_t i = 0; index == 0 && run->status == PFS_OK && i < scene->container_count;
	     i++) {
		struct pfs_message message = { .text = "" };
		struct pfs_config config;
		pfs_scene_configure(scene, i, &config);
		enum pfs_status status = pfs_container_create(scene->variant, &config,
							      &scene->containers[i], &message);
		if (status != PFS_OK)
			fail(run, status, "%s", message.text);
	}
}

static void prepare_job(void *context, uint32_t index)
{
	struct run *run = context;
	struct pfs_scene *scene = &run->scene;
	struct pfs_worker *worker = &scene->workers[index];

	if (run->status != PFS_OK)
		return;
	for (uint32_t i = 0; i < scene->container_count; i++) {
		if (pfs_thread_attach(scene->containers[i], &worker->threads[i]) != PFS_OK)
			fail(run, PFS_NO_MEMORY, "no memory to attach thread %u", index);
	}
	if (run->status == PFS_OK && scene->workload->prepare != NULL &&
	    !scene->workload->prepare(worker))
		fail(run, PFS_NO_MEMORY, "no memory for the live set of thread %u", index);
}

static void settle_job(void *context, uint32_t index)
{
	struct run *run = context;

	if (run->status == PFS_OK && run->scene.workload->settle != NULL)
		run->scene.workload->settle(&run->scene.workers[index]);
}

static void finish_job(void *context, uint32_t index)
{
	struct run *run = context;
	struct pfs_scene *scene = &run->scene;
	struct pfs_worker *worker = &scene->workers[index];

	if (run->status == PFS_OK && scene->workload->finish != NULL)
		scene->workload->finish(worker);
	if (worker->fault != NULL)
		fail(run, PFS_BAD_VARIANT, "thread %u: %s", index, worker->fault);
}

static void detach_job(void *context, uint32_t index)
{
	struct pfs_scene *scene = &((struct run *)context)->scene;

	for (uint32_t i = 0; i < scene->container_count; i++)
		if (scene->workers[index].threads[i] != NULL)
			pfs_thread_detach(scene->workers[index].threads[i]);
}

static uint64_t step(void *context, uint32_t index, uint64_t count)
{
	struct pfs_scene *scene = &((struct run *)context)->scene;

	return scene->workload->step(&scene->workers[index], count);
}

static bool ended_steps(void *context, uint32_t index)
{
	struct pfs_scene *scene = &((struct run *)context)->scene;

	return scene->workload->ended(&scene->workers[index], false);
}

static bool ended_samples(void *context, uint32_t index)
{
	struct pfs_scene *scene = &((struct run *)context)->scene;

	return scene->workload->ended(&scene->workers[index], true);
}

static void sample(void *context, uint32_t index)
{
	struct pfs_scene *scene = &((struct run *)context)->scene;

	scene->workload->sample(&scene->workers[index]);
}

static void at_open(void *context)
{
	struct run *run = context;

	pfs_check_sum_counts(&run->scene, &run->outcome->before);
	if (run->scene.workload->tick != NULL)
		pfs_series_begin(run->scene.series, run->scene.name);
}

static void tick(void *context, uint64_t elapsed_ns)
{
	struct run *run = context;

	run->scene.workload->tick(&run->scene, elapsed_ns, run->window_ns);
}

static struct pfs_trial_plan plan_of(struct run *run)
{
	const struct pfs_placement *placement = run->plan->placement;
	uint32_t pu_count = placement->pu_count != 0 ? placement->pu_count : run->plan->pu_allowed;

	return (struct pfs_trial_plan){
		.step = step,
		.context = run,
		.window_ns = run->window_ns,
		.paced = run->scene.workload->paced,
		.ended = run->scene.workload->ended != NULL ? ended_steps : NULL,
		.pu_count = pu_count,
		.crowded = run->scene.thread_count > pu_count,
	};
}

static void warm_up(struct run *run)
{
	struct pfs_trial_plan plan = plan_of(run);
	struct pfs_trial trial = { .threads = run->threads };

	for (uint32_t i = 0; i < run->scene.thread_count; i++)
		run->threads[i].batch = plan.paced           ? BATCH_FIRST_PACED
					: plan.ended != NULL ? BATCH_OF_ENDED
							     : BATCH_FIRST;
	if (plan.paced || plan.ended != NULL)
		return;
	plan.adapt = true;
	plan.batch_ns = run->window_ns / 1000 < BATCH_NS_MAX ? run->window_ns / 1000 : BATCH_NS_MAX;
	/* the window excludes the batches that end after the stop, one for each thread */
	plan.batch_ns = plan.batch_ns * plan.pu_count / (run->scene.thread_count + plan.pu_count) +
			1;
	plan.window_ns = run->window_ns / WARM_UP_PARTS;
	if (plan.window_ns < WARM_UP_NS_MIN)
		plan.window_ns = WARM_UP_NS_MIN;
	pfs_trial_run(run->pool, &plan, &trial);
}

static void measure(struct run *run)
{
	struct pfs_trial_plan plan = plan_of(run);
	struct pfs_scene *scene = &run->scene;
	struct pfs_outcome *outcome = run->outcome;
	uint64_t *ops = calloc(scene->thread_count, sizeof(*ops));

	if (ops == NULL) {
		fail(run, PFS_NO_MEMORY, "no memory for the results");
		return;
	}
	plan.at_open = at_open;
	plan.tick = scene->workload->tick != NULL ? tick : NULL;
	plan.tick_ns = scene->workload->tick != NULL
			       ? run->window_ns / scene->workload->tick_share + 1
			       : 0;
	outcome->trial.threads = run->threads;
	outcome->crowded = plan.crowded;
	pfs_trial_run(run->pool, &plan, &outcome->trial);
	outcome->ops_min = UINT64_MAX;
	for (uint32_t i = 0; i < scene->thread_count; i++) {
		ops[i] = run->threads[i].ops;
		outcome->ops += ops[i];
		if (scene->workload->is_counted != NULL && !scene->workload->is_counted(scene, i))
			continue;
		outcome->has_items = true;
		outcome->items += ops[i];
		outcome->ops_min = ops[i] < outcome->ops_min ? ops[i] : outcome->ops_min;
		outcome->ops_max = ops[i] > outcome->ops_max ? ops[i] : outcome->ops_max;
	}
	pfs_check_sum_counts(scene, &outcome->after);
	outcome->occupancy = pfs_check_occupancy(scene, &outcome->after);
	if (run->plan->touched)
		pfs_scene_extra(scene, "fresh_bytes",
				(double)pfs_touched_short_bytes(&run->touched));
	if (scene->workload->report != NULL)
		scene->workload->report(scene, ops, (double)outcome->trial.window_ns / 1e9);
	outcome->page_ideal = pfs_check_page_ideal(scene);
	free(ops);
}

/* A power of two so large that timing one call in so many costs at most a twentieth. Never 1, since
 * the untimed steps in between advance a workload. */
static uint64_t sample_every(const struct run *run, const struct pfs_trial_thread *thread)
{
	double op_ns = (double)(thread->end_ns - thread->start_ns) / (double)(thread->ops + 1);
	double wanted = 2 * run->plan->clock->cost_ns * SAMPLE_COST_SHARE / op_ns;
	uint64_t every = 2;

	while ((double)every < wanted && every < SAMPLE_EVERY_MAX)
		every *= 2;
	return every;
}

static bool has_samples(const struct run *run)
{
	for (uint32_t i = 0; i < run->scene.thread_count; i++) {
		if (run->histograms[i].total != 0)
			return true;
	}
	return false;
}

static void measure_latency(struct run *run)
{
	struct pfs_trial_plan plan = plan_of(run);
	struct pfs_scene *scene = &run->scene;
	struct pfs_trial trial = { .threads = run->threads };
	struct pfs_counts before, after;

	uint32_t latency_ms = scene->options->latency_ms;
	if (scene->workload->sample == NULL || latency_ms == 0)
		return;
	plan.sample = sample;
	if (latency_ms != UINT32_MAX)
		plan.window_ns = UINT64_C(1000000) * latency_ms;
	else if (plan.ended == NULL)
		plan.window_ns = run->window_ns / 2;
	for (uint32_t i = 0; i < scene->thread_count; i++)
		run->threads[i].sample_every = plan.ended != NULL
						       ? 1
						       : sample_every(run, &run->threads[i]);
	plan.ended = plan.ended != NULL ? ended_samples : NULL;
	pfs_check_sum_counts(scene, &before);
	/* Where threads mostly wait, a busy machine may leave a short window without a sample. */
	for (uint32_t try = 0; try < LATENCY_TRIES && !has_samples(run); try++) {
		pfs_trial_run(run->pool, &plan, &trial);
		plan.window_ns *= 2;
	}
	pfs_check_sum_counts(scene, &after);
	run->outcome->reclaimed_timed = after.reclaimed - before.reclaimed;
	for (uint32_t i = 0; i < scene->thread_count; i++)
		pfs_histogram_merge(&run->outcome->histogram, &run->histograms[i]);
}

static bool make_workers(struct run *run)
{
	struct pfs_scene *scene = &run->scene;
	size_t count = scene->thread_count;

	scene->workers = aligned_alloc(alignof(struct pfs_worker), count * sizeof(*scene->workers));
	run->threads = calloc(count, sizeof(*run->threads));
	run->histograms = calloc(count, sizeof(*run->histograms));
	if (scene->workers == NULL || run->threads == NULL || run->histograms == NULL)
		return false;
	memset(scene->workers, 0, count * sizeof(*scene->workers));
	for (uint32_t i = 0; i < scene->thread_count; i++) {
		scene->workers[i].scene = scene;
		scene->workers[i].index = i;
		scene->workers[i].random = scene->options->seed * 0x2545F4914F6CDD1D +
					   pfs_worker_salt(i) + 1;
		if (scene->workers[i].random == 0)
			scene->workers[i].random = 1;
		scene->workers[i].histogram = &run->histograms[i];
	}
	return true;
}

static void free_workers(struct run *run)
{
	for (uint32_t i = 0; run->scene.workers != NULL && i < run->scene.thread_count; i++) {
		free(run->scene.workers[i].live.records); /* NULL, but after a fault */
		free(run->scene.workers[i].own);
	}
	free(run->scene.workers);
	free(run->threads);
	free(run->histograms);
}

static void play(struct run *run)
{
	struct pfs_scene *scene = &run->scene;
	const struct pfs_workload *workload = scene->workload;
	struct pfs_message message;

	pfs_pool_each(run->pool, create_job, run);
	if (run->status == PFS_OK && workload->start != NULL && !workload->start(scene))
		fail(run, PFS_NO_MEMORY, "no memory for workload %s", workload->name);
	pfs_pool_turns(run->pool, prepare_job, run);
	pfs_pool_turns(run->pool, settle_job, run);
	if (run->status == PFS_OK) {
		warm_up(run);
		measure(run);
		measure_latency(run);
	}
	if (run->status == PFS_OK && !pfs_check_held(scene, &message))
		fail(run, PFS_BAD_VARIANT, "%s", message.text);
	pfs_pool_turns(run->pool, finish_job, run);
	if (run->status == PFS_OK && !pfs_check_empty(scene, &message))
		fail(run, PFS_BAD_VARIANT, "%s", message.text);
	if (run->status == PFS_OK) /* else a worker may be inside a read section */
		pfs_pool_turns(run->pool, detach_job, run);
	if (workload->stop != NULL)
		workload->stop(scene);
	for (uint32_t i = 0; i < scene->container_count; i++)
		pfs_container_destroy(scene->containers[i]);
	pfs_touched_fini(&run->touched);
}

enum pfs_status pfs_scene_run(const struct pfs_scene_plan *plan, struct pfs_outcome *outcome,
			      struct pfs_message *message)
{
	/* Static, because workers use it: on a stack its address would differ from process to
	 * process, and so would a simulated run. */
	static struct run run;
	run = (struct run){
		.plan = plan,
		.outcome = outcome,
		.window_ns = UINT64_C(1000000) * (plan->options->window_ms != 0
							  ? plan->options->window_ms
							  : plan->workload->window_ms),
		.scene = {
			.options = plan->options,
			.clock = plan->clock,
			.workload = plan->workload,
			.variant = plan->variant,
			.calls = plan->calls,
			.name = plan->name,
			.series = plan->series,
			.replay = plan->replay,
			.occupancy = plan->occupancy,
			.records = plan->records,
			.thread_count = plan->placement->thread_count,
			.container_count = plan->workload->container_count,
		},
	};
	run.scene.capacity = plan->options->page_records *
			     (uint64_t)(plan->workload->has_records
						? pfs_scene_record_pages(&run.scene)
						: pfs_scene_page_count(&run.scene));

	memset(outcome, 0, sizeof(*outcome));
	outcome->container_count = run.scene.container_count;
	for (uint32_t i = 0; i < PFS_CONTAINERS_MAX; i++)
		run.scene.live_peak[i] = UINT64_MAX;
	run.status = pfs_pool_create(&run.pool, plan->placement, plan->topology,
				     &run.scene.message);
	if (run.status == PFS_OK && make_workers(&run))
		play(&run);
	else
		fail(&run, PFS_NO_MEMORY, "no memory for %u threads", run.scene.thread_count);
	memcpy(outcome->extras, run.scene.extras, sizeof(outcome->extras));
	outcome->extra_count = run.scene.extra_count;
	outcome->trial.threads = NULL;
	*message = run.scene.message;
	pfs_pool_destroy(run.pool);
	free_workers(&run);
	return run.status;
}
