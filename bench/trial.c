/*
 * trial.c - the window, its gate, and the judgement on it. See trial.h.
 */
#define _GNU_SOURCE 1 /* RUSAGE_THREAD */
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "clock.h"
#include "gate.h"

#define BATCH_MAX (UINT64_C(1) << 20)
#define POLL_NS UINT64_C(50000)
#define END_POLL_NS UINT64_C(1000000) /* late is no harm: threads note when they end */

struct window {
	struct pfs_gate gate;
	const struct pfs_trial_plan *plan;
	struct pfs_trial *trial;
	uint64_t stop_ns; /* main */
};

/* The kernel updates these only every two seconds: a window is too short for them. */
static double read_pressure(void)
{
	double avg10 = 0.0;
	FILE *file = fopen("/proc/pressure/cpu", "r");

	if (file == NULL)
		return (double)NAN;
	int found = fscanf(file, "some avg10=%lf", &avg10);
	fclose(file);
	return found == 1 ? avg10 / 100.0 : (double)NAN;
}

static double read_steal_ticks(void)
{
	unsigned long long steal = 0;
	FILE *file = fopen("/proc/stat", "r");

	if (file == NULL)
		return (double)NAN;
	int found = fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &steal);
	fclose(file);
	return found == 1 ? (double)steal : (double)NAN;
}

static uint64_t read_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nivcsw;
}

/* Nothing to do: a workload that is paced by design sleeps, others yield to a partner. */
static void idle(const struct pfs_trial_plan *plan)
{
	if (plan->paced)
		pfs_clock_sleep_until_ns(pfs_clock_wall_ns() + POLL_NS);
	else
		pfs_gate_relax(plan->crowded);
}

static bool is_over(struct window *window, uint32_t index)
{
	const struct pfs_trial_plan *plan = window->plan;

	return pfs_gate_stopped(&window->gate) ||
	       (plan->ended != NULL && plan->ended(plan->context, index));
}

static uint64_t work(struct window *window, uint32_t index, struct pfs_trial_thread *self)
{
	const struct pfs_trial_plan *plan = window->plan;
	bool sampling = self->sample_every != 0 && plan->sample != NULL;
	bool started = false;
	uint64_t ops = 0;

	while (!is_over(window, index)) {
		uint64_t before = plan->adapt ? pfs_clock_wall_ns() : 0;
		uint64_t count = sampling ? self->sample_every - 1 : self->batch;
		uint64_t done = count == 0 ? 0 : plan->step(plan->context, index, count);

		if (sampling) {
			plan->sample(plan->context, index);
			done++;
		}
		if (done == 0)
			idle(plan);
		ops += done;
		if (!started)
			pfs_gate_start(&window->gate);
		started = true;
		if (plan->adapt && done == count && self->batch < BATCH_MAX &&
		    pfs_clock_wall_ns() - before < plan->batch_ns / 2)
			self->batch *= 2;
	}
	if (!started)
		pfs_gate_start(&window->gate);
	return ops;
}

static void window_job(void *context, uint32_t index)
{
	struct window *window = context;
	struct pfs_trial_thread *shared = &window->trial->threads[index];
	struct pfs_trial_thread self = *shared; /* a copy: neighbours share the line */

	pfs_gate_pass(&window->gate, window->plan->crowded);
	self.switches = read_switches();
	self.start_ns = pfs_clock_wall_ns();
	self.cpu_ns = pfs_clock_thread_ns();
	self.ops = work(window, index, &self);
	self.cpu_ns = pfs_clock_thread_ns() - self.cpu_ns;
	self.end_ns = pfs_clock_wall_ns();
	self.switches = read_switches() - self.switches;
	*shared = self;
	pfs_gate_end(&window->gate);
}

static void wait_for(struct window *window, uint32_t (*count)(struct pfs_gate *gate),
		     uint32_t wanted)
{
	while (count(&window->gate) != wanted)
		pfs_clock_sleep_until_ns(pfs_clock_wall_ns() + POLL_NS);
}

/* The time starts when every thread runs, which may take a while on a busy machine. */
static void sleep_through(struct window *window, uint32_t thread_count)
{
	const struct pfs_trial_plan *plan = window->plan;

	wait_for(window, pfs_gate_started, thread_count);
	uint64_t start = pfs_clock_wall_ns();
	uint64_t end = start + plan->window_ns;

	for (uint64_t next = start; plan->tick != NULL && next < end; next += plan->tick_ns) {
		pfs_clock_sleep_until_ns(next);
		plan->tick(plan->context, pfs_clock_wall_ns() - start);
	}
	while (plan->ended != NULL && pfs_clock_wall_ns() < end &&
	       pfs_gate_ended(&window->gate) != thread_count)
		pfs_clock_sleep_until_ns(pfs_clock_wall_ns() + END_POLL_NS);
	if (plan->ended == NULL)
		pfs_clock_sleep_until_ns(end);
	pfs_gate_stop(&window->gate);
	window->stop_ns = pfs_clock_wall_ns();
}

/*
 * A thread that ran less than 95 % of its time did not contend for the rest of it. With more
 * threads than PUs they take turns by design: then only the sum of their CPU time counts.
 */
static void judge(const struct window *window, uint32_t thread_count)
{
	const struct pfs_trial_plan *plan = window->plan;
	struct pfs_trial *trial = window->trial;
	uint64_t first = UINT64_MAX, last = 0, cpu_ns = 0;

	trial->util_min = 1.0;
	trial->switches = 0;
	for (uint32_t i = 0; i < thread_count; i++) {
		const struct pfs_trial_thread *thread = &trial->threads[i];
		double util = (double)thread->cpu_ns / (double)(thread->end_ns - thread->start_ns);

		first = thread->start_ns < first ? thread->start_ns : first;
		last = thread->end_ns > last ? thread->end_ns : last;
		cpu_ns += thread->cpu_ns;
		trial->switches += thread->switches;
		trial->util_min = util < trial->util_min ? util : trial->util_min;
	}
	uint32_t pus = thread_count < plan->pu_count ? thread_count : plan->pu_count;

	/* after the stop a thread only finishes its batch, see batch_ns */
	uint64_t stop_ns = plan->ended != NULL ? last : window->stop_ns;
	trial->window_ns = stop_ns > first ? stop_ns - first : 1;
	uint64_t switches_max = thread_count * (1 + trial->window_ns / UINT64_C(10000000));
	trial->util_total = (double)cpu_ns / ((double)trial->window_ns * pus);
	if (plan->paced)
		trial->disturbed = false;
	else if (plan->crowded)
		trial->disturbed = trial->util_total < PFS_TRIAL_UTIL_MIN;
	else
		trial->disturbed = trial->util_min < PFS_TRIAL_UTIL_MIN ||
				   trial->switches > switches_max;
}

void pfs_trial_run(struct pfs_pool *pool, const struct pfs_trial_plan *plan,
		   struct pfs_trial *trial)
{
	struct window window = { .plan = plan, .trial = trial };
	uint32_t thread_count = pfs_pool_thread_count(pool);
	double window_us = (double)plan->window_ns / 1e3;
	double steal_before = 0.0;

	pfs_gate_init(&window.gate);
	pfs_pool_begin(pool, window_job, &window);
	wait_for(&window, pfs_gate_arrived, thread_count);
	if (plan->at_open != NULL)
		plan->at_open(plan->context);
	steal_before = read_steal_ticks();
	pfs_gate_open(&window.gate);
	sleep_through(&window, thread_count);
	pfs_pool_wait(pool);
	trial->pressure = read_pressure();
	trial->steal = (read_steal_ticks() - steal_before) * 1e6 / (double)sysconf(_SC_CLK_TCK) /
		       window_us / (double)sysconf(_SC_NPROCESSORS_ONLN);
	judge(&window, thread_count);
}
