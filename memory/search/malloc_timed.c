/*
 * malloc_timed.c - the command that runs the allocator under many threads in virtual time. See
 * docs/explanation/search-results.md.
 *
 * The first run warms up and the second is measured. In a third, all threads free their blocks and
 * end; then nothing may be in use.
 */
#include "base/command_line.h"
#include "memory/search/malloc_timed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/message.h"
#include "sim/timed/timed.h"

static struct session {
	const char *machine, *costs;
	const struct pfs_load *load;
	uint64_t threads, calls, seed, tick_us, needless_most;
	bool is_bounded; /* it fails if there are more needless slabs */
	struct pfs_load_thread *all;
	struct pfs_timed *timed;
	void **arguments;
	enum { RUNS, ENDS } phase;
} session = { .machine = "numa:8 core:32 pu:1",
	      .costs = PFS_COSTS_DEFAULT,
	      .threads = 256,
	      .calls = 2000,
	      .seed = 1,
	      .tick_us = 100000 };

static const char program[] = "malloc_timed";

static int refuse(const char *what, const char *why)
{
	return pfs_command_refuse(program, PFS_EXIT_WRONG_USE, "%s: %s", what, why);
}

static const struct pfs_load *load_of(const char *name)
{
	const struct pfs_load *at = pfs_loads;
	while (at->name != NULL && strcmp(at->name, name) != 0)
		at++;
	return at->name != NULL ? at : NULL;
}

static enum pfs_status read_load(void *context, const struct pfs_option *option, const char *text,
				 struct pfs_message *message)
{
	(void)context;
	session.load = load_of(text);
	return session.load != NULL
		       ? PFS_OK
		       : pfs_read_choice(option->name, text, "those of --help", message);
}

/* PFS_GO_ON, or the exit status. */
static int read_arguments(int argc, char **argv)
{
	char loads[2000] = "";
	uint64_t most = UINT64_MAX;
	const struct pfs_option options[] = {
		PFS_READ_OPTION("load", "L", read_load, "what the threads do; required"),
		PFS_TEXT_OPTION("machine", "M", &session.machine, "as of pfs-sim run"),
		PFS_TEXT_OPTION("costs", "C", &session.costs, "as of pfs-sim run"),
		PFS_NUMBER_OPTION("threads", "T", &session.threads, 1, 1023, "default 256"),
		PFS_NUMBER_OPTION("calls", "N", &session.calls, 0, 100000000, "default 2000"),
		PFS_NUMBER_OPTION("seed", "S", &session.seed, 0, UINT32_MAX, "default 1"),
		PFS_NUMBER_OPTION("tick-us", "U", &session.tick_us, 0, 10000000, "default 100000"),
		PFS_NUMBER_OPTION("needless-most", "N", &most, 0, UINT32_MAX,
				  "more needless slabs "
				  "than these are a failure"),
	};
	size_t used = 0;
	for (const struct pfs_load *at = pfs_loads; at->name != NULL && used < sizeof(loads); at++)
		used += (size_t)snprintf(loads + used, sizeof(loads) - used, "  %-8s %s\n",
					 at->name, at->summary);
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = program, .words = "", .options = options,
		.option_count = sizeof(options) / sizeof(options[0]),
		.about = "T threads of the machine make N calls of malloc and free each, in "
			 "virtual time. Exit 1: a block has two owners, one is lost, or there were "
			 "more needless slabs. 2: bad usage.",
		.after = loads,
	};
	/* clang-format on */
	int status = pfs_command_line_read(&line, argc, argv, NULL);
	session.is_bounded = most != UINT64_MAX;
	session.needless_most = most;
	if (status == PFS_GO_ON && session.load == NULL)
		return refuse("--load", "is required; --help lists the loads");
	return status;
}

/* ---- runs ---- */

/* The last thread, without an argument, ticks. */
static void body(void *argument)
{
	struct pfs_load_thread *self = argument;
	if (self == NULL) {
		pfs_malloc_timed_tick(session.tick_us * 1000, (uint32_t)session.threads);
		return;
	}
	self->done = 0;
	if (session.phase == RUNS) {
		session.load->run(self, session.all);
	} else {
		pfs_load_end(self);
		pfs_malloc_timed_leave();
	}
	pfs_malloc_timed_done();
}

static bool run(void)
{
	pfs_malloc_timed_next_run();
	return pfs_timed_run(session.timed, body, session.arguments);
}

static bool make_threads(void)
{
	size_t count = session.threads;
	session.all = aligned_alloc(64, count * sizeof(*session.all));
	session.arguments = calloc(count + 1, sizeof(*session.arguments));
	if (session.all == NULL || session.arguments == NULL)
		return false;
	memset((void *)session.all, 0, count * sizeof(*session.all));
	size_t live = (session.load->live_most + 1) * sizeof(void *);
	for (uint32_t id = 0; id < count; id++) {
		struct pfs_load_thread *thread = &session.all[id];
		thread->id = id;
		thread->threads = (uint32_t)count;
		thread->calls = (uint32_t)session.calls;
		thread->random = (session.seed << 20 | id) * UINT64_C(0x9E3779B97F4A7C15) + 1;
		thread->live = aligned_alloc(64, (live + 63) / 64 * 64);
		if (thread->live == NULL)
			return false;
		memset(thread->live, 0, live);
		session.arguments[id] = thread;
	}
	return true;
}

static void destroy_threads(void)
{
	for (uint32_t id = 0; session.all != NULL && id < session.threads; id++)
		free(session.all[id].live);
	free((void *)session.all);
	free(session.arguments);
}

/* ---- the report ---- */

static void report(const struct pfs_timed_stats *stats)
{
	struct pfs_malloc_timed_counts counts = pfs_malloc_timed_counted();
	struct pfs_malloc_timed_slabs slabs = pfs_malloc_timed_slabs();
	uint64_t calls = 0;
	for (uint32_t id = 0; id < session.threads; id++)
		calls += session.all[id].done;
	double each = calls != 0 ? (double)calls : 1;
	(void)printf("simulated: %s, %s, %llu threads, load %s, seed %llu\n", session.machine,
		     session.costs, (unsigned long long)session.threads, session.load->name,
		     (unsigned long long)session.seed);
	(void)printf("calls %llu\nvirtual_us %.1f\ncalls_per_us %.1f\n", (unsigned long long)calls,
		     (double)counts.end_ns / 1e3, (double)calls * 1e3 / (double)counts.end_ns);
	(void)printf("locked_per_call %.4f\nlocks_per_call %.4f\nremote_per_call %.4f\n"
		     "barriers %llu\npurges %llu\nticks %llu\nlongest_tick_us %.1f\n",
		     (double)counts.locked / each, (double)counts.locks / each,
		     (double)stats->transfers_remote / each, (unsigned long long)counts.barriers,
		     (unsigned long long)counts.purges, (unsigned long long)counts.ticks,
		     (double)counts.tick_ns_most / 1e3);
	(void)printf("arenas %llu\nslabs %llu\nslabs_made %llu\nslabs_new %llu\nneedless %llu\n"
		     "needless_by_itself %llu\n",
		     (unsigned long long)slabs.arenas, (unsigned long long)slabs.slabs,
		     (unsigned long long)slabs.made, (unsigned long long)counts.slabs_new,
		     (unsigned long long)counts.needless, (unsigned long long)slabs.needless);
}

/* Every block was freed, and every slab given back. */
static void check_end(void *argument)
{
	bool *is_right = argument;
	pfs_malloc_timed_exit();
	struct pfs_malloc_timed_slabs slabs = pfs_malloc_timed_slabs();
	*is_right = slabs.taken == 0 && slabs.slabs == 0;
	if (!*is_right)
		(void)fprintf(stderr,
			      "malloc_timed: at the end %llu blocks are in use, and %llu "
			      "slabs are left\n",
			      (unsigned long long)slabs.taken, (unsigned long long)slabs.slabs);
}

static int play(void)
{
	struct pfs_timed_stats stats;
	struct pfs_malloc_timed_counts warm;
	bool is_right = false;
	pfs_malloc_timed_count(true);
	bool is_done = run(); /* to warm up */
	warm = pfs_malloc_timed_counted();
	pfs_malloc_timed_count(true);
	is_done = is_done && run();
	pfs_timed_get_stats(session.timed, &stats);
	if (is_done)
		report(&stats);
	(void)printf("slabs_new_before %llu\nneedless_before %llu\n",
		     (unsigned long long)warm.slabs_new, (unsigned long long)warm.needless);
	uint64_t needless = warm.needless + pfs_malloc_timed_counted().needless;
	session.phase = ENDS;
	is_done = is_done && run();
	is_done = is_done && pfs_timed_aside(session.timed, 0, check_end, &is_right);
	if (!is_done)
		(void)fprintf(stderr, "malloc_timed: %s\n", pfs_timed_message(session.timed));
	if (session.is_bounded && needless > session.needless_most)
		(void)refuse("needless", "more slabs were made than --needless-most allows");
	bool is_within = !session.is_bounded || needless <= session.needless_most;
	return is_done && is_right && is_within ? 0 : 1;
}

static int simulate(int argc, char **argv)
{
	struct pfs_topology *topology = NULL;
	static struct pfs_costs costs;
	struct pfs_message message = { .text = "" };
	(void)argc, (void)argv;
	if (pfs_topology_create(&topology, session.machine, &message) != PFS_OK ||
	    pfs_costs_find(&costs, session.costs, &message) != PFS_OK)
		return refuse("machine", message.text);
	if (!pfs_malloc_timed_begin(topology->node_count, topology->pu_count) || !make_threads())
		return refuse("memory", "no address space; raise ulimit -v");
	const struct pfs_timed_plan plan = { .topology = topology,
					     .costs = &costs,
					     .thread_count = (uint32_t)session.threads + 1,
					     .seed = session.seed };
	session.timed = pfs_timed_create(&plan, &message);
	int status = 2;
	if (session.timed != NULL) {
		pfs_malloc_timed_use(session.timed);
		status = play();
	} else {
		(void)refuse("machine", message.text);
	}
	pfs_timed_destroy(session.timed);
	destroy_threads();
	pfs_topology_destroy(topology);
	return status;
}

int main(int argc, char **argv)
{
	int status = read_arguments(argc, argv);
	if (status != PFS_GO_ON)
		return status;
	return pfs_command_end(program, pfs_timed_in_place(simulate, argc, argv));
}
