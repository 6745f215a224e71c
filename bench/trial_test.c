/*
 * trial_test.c - the pool and the judgement of a trial, on steps whose behaviour is known.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "gate.h"
#include "trial.h"

#define THREADS 3

static int failures;
static uint32_t turns[THREADS], turn_count;
static struct pfs_mark steps[THREADS], opened, ticks;

static void expect(bool held, const char *what)
{
	if (held)
		return;
	failures++;
	fprintf(stderr, "trial_test: failed: %s\n", what);
}

static void turn_job(void *context, uint32_t index)
{
	(void)context;
	turns[turn_count++] = index;
}

static void each_job(void *context, uint32_t index)
{
	pfs_mark_set(&((struct pfs_mark *)context)[index], 7 + index);
}

static void count_step(uint32_t index, uint64_t count)
{
	pfs_mark_set(&steps[index], pfs_mark_get(&steps[index]) + count);
}

static uint64_t sleepy_step(void *context, uint32_t index, uint64_t count)
{
	(void)context;
	pfs_clock_sleep_until_ns(pfs_clock_wall_ns() + 1000000);
	count_step(index, count);
	return count;
}

static uint64_t idle_step(void *context, uint32_t index, uint64_t count)
{
	(void)context, (void)index, (void)count;
	return 0;
}

static uint64_t quick_step(void *context, uint32_t index, uint64_t count)
{
	(void)context;
	count_step(index, count);
	return count;
}

static void at_open(void *context)
{
	(void)context;
	for (uint32_t i = 0; i < THREADS; i++)
		expect(pfs_mark_get(&steps[i]) == 0, "no step before the gate opens");
	pfs_mark_set(&opened, pfs_mark_get(&opened) + 1);
}

static void tick(void *context, uint64_t elapsed_ns)
{
	(void)context, (void)elapsed_ns;
	pfs_mark_set(&ticks, pfs_mark_get(&ticks) + 1);
}

static struct pfs_trial_plan plan_with(uint64_t (*step)(void *, uint32_t, uint64_t))
{
	memset(steps, 0, sizeof(steps));
	return (struct pfs_trial_plan){
		.step = step,
		.at_open = at_open,
		.window_ns = 20000000,
		.pu_count = THREADS,
	};
}

static void check_pool(struct pfs_pool *pool)
{
	struct pfs_mark marks[THREADS] = { 0 };

	pfs_pool_turns(pool, turn_job, NULL);
	expect(turn_count == THREADS, "each thread had a turn");
	for (uint32_t i = 0; i < THREADS; i++)
		expect(turns[i] == i, "turns are in order");
	pfs_pool_each(pool, each_job, marks);
	for (uint32_t i = 0; i < THREADS; i++)
		expect(pfs_mark_get(&marks[i]) == 7 + i, "each thread ran the job");
}

static void check_judgement(struct pfs_pool *pool)
{
	struct pfs_trial_thread threads[THREADS] = { { .batch = 3 },
						     { .batch = 3 },
						     { .batch = 3 } };
	struct pfs_trial trial = { .threads = threads };
	struct pfs_trial_plan plan = plan_with(sleepy_step);

	pfs_trial_run(pool, &plan, &trial);
	expect(trial.disturbed, "threads that sleep did not run together");
	expect(trial.util_min < PFS_TRIAL_UTIL_MIN, "and their share says so");
	expect(trial.window_ns >= plan.window_ns / 2, "the window was measured");
	for (uint32_t i = 0; i < THREADS; i++) {
		expect(threads[i].ops == pfs_mark_get(&steps[i]), "what was done is what counts");
		expect(threads[i].ops % 3 == 0 && threads[i].ops != 0, "in batches of three");
	}
	plan = plan_with(sleepy_step);
	plan.paced = true;
	pfs_trial_run(pool, &plan, &trial);
	expect(!trial.disturbed, "sleep by design is no disturbance");
	plan = plan_with(sleepy_step);
	plan.crowded = true;
	plan.pu_count = 1;
	pfs_trial_run(pool, &plan, &trial);
	expect(trial.disturbed, "a crowd that leaves its PU idle is disturbed");
	plan = plan_with(idle_step);
	pfs_trial_run(pool, &plan, &trial);
	expect(threads[0].ops == 0, "nothing done is nothing counted");
	expect(pfs_mark_get(&opened) == 4, "main was asked before each opening");
}

static void check_batches(struct pfs_pool *pool)
{
	struct pfs_trial_thread threads[THREADS] = { { .batch = 1 },
						     { .batch = 1 },
						     { .batch = 1 } };
	struct pfs_trial trial = { .threads = threads };
	struct pfs_trial_plan plan = plan_with(quick_step);

	plan.adapt = true;
	plan.batch_ns = 10000000; /* far more than a step of nothing takes */
	plan.tick = tick;
	plan.tick_ns = 4000000;
	pfs_trial_run(pool, &plan, &trial);
	expect(threads[0].batch > 1, "batches that take no time grow");
	expect(pfs_mark_get(&ticks) >= 1 && pfs_mark_get(&ticks) <= 5, "ticks as planned");
	plan = plan_with(quick_step);
	threads[0].batch = 5;
	pfs_trial_run(pool, &plan, &trial);
	expect(threads[0].batch == 5, "without adapt they stay");
}

/* Each thread has so much to do, and thread 0 nothing. */
static bool quick_ended(void *context, uint32_t index)
{
	(void)context;
	return pfs_mark_get(&steps[index]) >= 10 * index;
}

static bool never_ended(void *context, uint32_t index)
{
	(void)context, (void)index;
	return false;
}

static void check_ends(struct pfs_pool *pool)
{
	struct pfs_trial_thread threads[THREADS] = { { .batch = 5 },
						     { .batch = 5 },
						     { .batch = 5 } };
	struct pfs_trial trial = { .threads = threads };
	struct pfs_trial_plan plan = plan_with(quick_step);
	uint64_t last = 0, first = UINT64_MAX;

	plan.ended = quick_ended;
	plan.window_ns = UINT64_C(3600000000000); /* would show */
	pfs_trial_run(pool, &plan, &trial);
	for (uint32_t i = 0; i < THREADS; i++) {
		expect(threads[i].ops == 10 * i, "a thread does its part and no more");
		last = threads[i].end_ns > last ? threads[i].end_ns : last;
		first = threads[i].start_ns < first ? threads[i].start_ns : first;
	}
	expect(trial.window_ns == last - first, "the window is as long as the work");
	plan = plan_with(quick_step);
	plan.ended = never_ended;
	pfs_trial_run(pool, &plan, &trial);
	expect(trial.window_ns >= plan.window_ns / 2 && threads[0].ops != 0,
	       "work that does not end is stopped");
}

static void check_clock_step(void)
{
	const uint64_t coarse[] = { 30, 0, 20, 50, 20 }, fine[] = { 30, 20, 51 }, none[] = { 0, 0 };

	expect(pfs_clock_step(coarse, 5) == 10, "a clock that moves on by 10");
	expect(pfs_clock_step(fine, 3) == 1, "a clock that moves on by 1");
	expect(pfs_clock_step(none, 2) == 0, "a clock that stands");
}

int main(void)
{
	hwloc_topology_t topology = pfs_topology_load();
	struct pfs_placement placement;
	struct pfs_message message;
	struct pfs_pool *pool = NULL;

	if (topology == NULL ||
	    pfs_placement_init(&placement, topology, "none", THREADS, &message) != PFS_OK ||
	    pfs_pool_create(&pool, &placement, topology, &message) != PFS_OK) {
		fprintf(stderr, "trial_test: no pool of threads\n");
		return 1;
	}
	expect(pfs_pool_thread_count(pool) == THREADS, "as many threads as asked for");
	check_clock_step();
	check_pool(pool);
	check_judgement(pool);
	check_batches(pool);
	check_ends(pool);
	pfs_pool_destroy(pool);
	pfs_placement_fini(&placement);
	hwloc_topology_destroy(topology);
	return failures == 0 ? 0 : 1;
}
