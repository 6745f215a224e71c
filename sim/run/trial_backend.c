#include "sim/run/trial_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/trial.h"
#include "containers/container.h"
#include "containers/message.h"
#include "containers/yield.h"
#include "sim/seams/seams.h"

#define BATCHES 16 /* in a thread's share of the window, at least */
#define BATCH_MAX 32
#define IDLE_SPINS 64 /* looks for work before it yields the CPU */
#define IDLE_NS 20
#define POLL_NS UINT64_C(100000) /* of threads that sleep by design, as in bench/trial.c */
#define STUCK_NS UINT64_C(1000000000)
#define RECLAIMERS_MAX 8

static struct pfs_trial_backend *backend;

struct pfs_pool {
	struct pfs_timed *timed;
	void **arguments; /* [thread_count + backend->reclaimers] */
	uint32_t thread_count;
};

struct reclaimer {
	struct pfs_container *container; /* NULL: it was destroyed */
	struct pfs_thread *thread;
	uint64_t period_ns; /* as the containers were told */
};

static struct reclaimer reclaimers[RECLAIMERS_MAX];
static uint32_t reclaimer_count;

/* The current window: plain memory that only the simulator reads. */
static struct {
	const struct pfs_trial_plan *plan;
	struct pfs_trial_thread *threads;
	uint64_t ops, ops_max;
	uint64_t progress_ns; /* when something was done last */
	uint32_t thread_count;
	uint32_t working; /* threads that have not ended */
	double shown;     /* share of the work that was last shown */
	double stretch;   /* nominal time over virtual time */
	bool measured;
	bool stopped;
} window;

void pfs_trial_backend_use(struct pfs_trial_backend *chosen)
{
	backend = chosen;
	reclaimer_count = 0;
}

/* The seam for pfs_reclaimer_start: the pass gets a virtual thread in every window. */
static enum pfs_status add_reclaimer(struct pfs_container *container)
{
	struct reclaimer *reclaimer = &reclaimers[reclaimer_count];
	if (reclaimer_count == backend->reclaimers)
		return PFS_BAD_CONFIG;
	reclaimer->period_ns = UINT64_C(1000000) *
			       pfs_container_config(container)->reclaim.period_ms;
	reclaimer->container = container;
	enum pfs_status status = pfs_thread_attach(container, &reclaimer->thread);
	reclaimer_count += status == PFS_OK;
	return status;
}

static void remove_reclaimer(struct pfs_container *container)
{
	for (uint32_t i = 0; i < reclaimer_count; i++) {
		if (reclaimers[i].container != container)
			continue;
		pfs_thread_detach(reclaimers[i].thread);
		reclaimers[i].container = NULL;
	}
}

static void on_tick(void *context, uint64_t now_ns)
{
	const struct pfs_trial_plan *plan = window.plan;
	(void)context;
	if (plan == NULL || plan->tick == NULL || window.stopped)
		return;
	pfs_sim_quiet();
	plan->tick(plan->context, (uint64_t)((double)now_ns * window.stretch));
	pfs_sim_loud();
}

enum pfs_status pfs_pool_create(struct pfs_pool **pool, const struct pfs_placement *placement,
				hwloc_topology_t topology, struct pfs_message *message)
{
	uint32_t count = placement->thread_count + backend->reclaimers;
	struct pfs_timed_plan plan = {
		.topology = backend->topology,
		.costs = backend->costs,
		.thread_count = count,
		.placement = backend->placement,
		.seed = backend->seed,
		.tick = backend->window_ns != 0 ? on_tick : NULL,
		.tick_ns = backend->window_ns != 0 ? backend->window_ns / backend->tick_share + 1
						   : 0,
	};
	struct pfs_pool *self = calloc(1, sizeof(*self));
	(void)topology;
	*pool = self;
	if (self == NULL || backend->reclaimers > RECLAIMERS_MAX)
		return pfs_message_set(message, PFS_NO_MEMORY, "no memory for the machine");
	self->thread_count = placement->thread_count;
	self->arguments = calloc(count, sizeof(*self->arguments));
	self->timed = pfs_timed_create(&plan, message);
	if (self->arguments == NULL || self->timed == NULL) {
		pfs_pool_destroy(self);
		*pool = NULL;
		return PFS_NO_MEMORY;
	}
	pfs_seams_reclaimer = add_reclaimer;
	pfs_seams_reclaimer_stop = remove_reclaimer;
	return PFS_OK;
}

void pfs_pool_destroy(struct pfs_pool *self)
{
	if (self == NULL)
		return;
	pfs_timed_destroy(self->timed);
	free(self->arguments);
	free(self);
}

uint32_t pfs_pool_thread_count(const struct pfs_pool *self)
{
	return self->thread_count;
}

/* The machine cannot continue, and the state of the containers is unknown: no scene can continue
 * from here. */
static _Noreturn void give_up(const struct pfs_pool *self)
{
	(void)fflush(stdout);
	(void)fprintf(stderr, "pfs-sim: %s\n", pfs_timed_message(self->timed));
	_Exit(1);
}

struct call {
	void (*job)(void *context, uint32_t thread_index);
	void *context;
	uint32_t index;
};

static void run_job(void *argument)
{
	const struct call *call = argument;
	call->job(call->context, call->index);
}

void pfs_pool_turns(struct pfs_pool *self, void (*job)(void *context, uint32_t thread_index),
		    void *context)
{
	for (uint32_t i = 0; i < self->thread_count; i++) {
		struct call call = { job, context, i };
		if (!pfs_timed_aside(self->timed, i, run_job, &call))
			give_up(self);
	}
}

/* Jobs outside of a window take no time, so they may run one after the other. */
void pfs_pool_each(struct pfs_pool *self, void (*job)(void *context, uint32_t thread_index),
		   void *context)
{
	pfs_pool_turns(self, job, context);
}

/* Nothing to do now: the thread for which it waits may need this CPU. */
static void idle(uint64_t now_ns, uint32_t *spins)
{
	/* The window is not memory of the machine: earlier changes by others must be done first. */
	pfs_timed_turn();
	if (window.stopped)
		return;
	if (now_ns > window.progress_ns + STUCK_NS) {
		backend->stuck = true;
		window.stopped = true;
	}
	if (window.plan->paced) {
		pfs_timed_sleep_ns((uint64_t)((double)POLL_NS / window.stretch));
	} else if (++*spins % IDLE_SPINS == 0) {
		pfs_yield();
	} else {
		pfs_timed_work_ns(IDLE_NS);
	}
}

static double share_done(uint64_t now_ns)
{
	return backend->window_ns != 0 ? (double)now_ns / (double)backend->window_ns
				       : (double)window.ops / (double)window.ops_max;
}

static void count(uint32_t index, uint64_t done, uint64_t now_ns)
{
	if (done != 0)
		window.progress_ns = now_ns;
	window.ops += backend->counts[index] ? done : 0;
	double share = share_done(now_ns);
	window.stopped |= share >= 1;
	if (backend->progress == NULL || !window.measured || share < window.shown + 0.01)
		return;
	window.shown = share;
	backend->progress(backend->context, share);
}

static void work(void *argument)
{
	uint32_t index = (uint32_t)(uintptr_t)argument;
	const struct pfs_trial_plan *plan = window.plan;
	struct pfs_trial_thread *self = &window.threads[index];
	uint32_t spins = 0;
	self->ops = 0;
	self->start_ns = 0;
	while (!window.stopped && !(plan->ended != NULL && plan->ended(plan->context, index))) {
		uint64_t done = plan->step(plan->context, index, self->batch);
		self->ops += done;
		count(index, done, pfs_timed_now_ns());
		if (done == 0 && !window.stopped)
			idle(pfs_timed_now_ns(), &spins);
	}
	self->end_ns = pfs_timed_now_ns();
	window.working--;
	window.stopped |= window.working == 0;
}

static void reclaim(struct reclaimer *self)
{
	while (!window.stopped) {
		pfs_timed_sleep_ns(backend->pass_ns != 0
					   ? backend->pass_ns
					   : (uint64_t)((double)self->period_ns / window.stretch));
		if (!window.stopped)
			(void)pfs_reclaim_pass(self->thread);
	}
}

static void body(void *argument)
{
	uint32_t index = (uint32_t)(uintptr_t)argument;
	if (index < window.thread_count)
		work(argument);
	else if (index - window.thread_count < reclaimer_count)
		reclaim(&reclaimers[index - window.thread_count]);
}

static void keep_results(const struct pfs_pool *pool, struct pfs_trial *trial)
{
	pfs_timed_get_stats(pool->timed, &backend->stats);
	trial->window_ns = 1;
	for (uint32_t i = 0; i < pool->thread_count; i++) {
		backend->thread_ops[i] = trial->threads[i].ops;
		backend->thread_ns[i] = trial->threads[i].end_ns;
		if (trial->threads[i].end_ns > trial->window_ns)
			trial->window_ns = trial->threads[i].end_ns;
	}
}

/* `adapt` is how the scene asks for a warm-up: caches fill, hints are learnt. */
void pfs_trial_run(struct pfs_pool *pool, const struct pfs_trial_plan *plan,
		   struct pfs_trial *trial)
{
	uint64_t share = backend->ops / pool->thread_count / BATCHES;
	memset(&window, 0, sizeof(window));
	window.plan = plan;
	window.threads = trial->threads;
	window.thread_count = window.working = pool->thread_count;
	window.measured = !plan->adapt;
	window.ops_max = plan->ended != NULL ? UINT64_MAX
			 : plan->adapt       ? backend->ops / PFS_WARM_UP_PARTS + 1
					     : backend->ops;
	window.stretch = backend->window_ns != 0
				 ? (double)backend->nominal_ns / (double)backend->window_ns
				 : 1;
	for (uint32_t i = 0; i < pool->thread_count; i++)
		trial->threads[i].batch = share < 1 ? 1 : share > BATCH_MAX ? BATCH_MAX : share;
	for (uint32_t i = 0; i < pool->thread_count + backend->reclaimers; i++)
		pool->arguments[i] = (void *)(uintptr_t)i;
	if (plan->at_open != NULL)
		plan->at_open(plan->context);
	if (window.measured && backend->measuring != NULL)
		backend->measuring(true);
	if (!pfs_timed_run(pool->timed, body, pool->arguments))
		give_up(pool);
	if (window.measured && backend->measuring != NULL)
		backend->measuring(false);
	if (window.measured)
		keep_results(pool, trial);
	trial->util_min = trial->util_total = 1.0;
	trial->switches = 0;
	trial->disturbed = false;
	window.plan = NULL;
}
