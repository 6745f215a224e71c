/*
 * timed_test.c - the machine in virtual time: costs of accesses, threads, time.
 *
 * usage: timed_test          all tests
 *        timed_test --print  the figures of one run, to be compared between processes
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/atomic.h"
#include "containers/memory.h"
#include "containers/mutex.h"
#include "containers/yield.h"
#include "check/machine/machine.h"
#include "sim/tests/expect_where.h"
#include "sim/timed/timed.h"

typedef unsigned long long number; /* for printf */

/* One machine at a time. */
static struct {
	struct pfs_topology *topology;
	struct pfs_costs costs;
	struct pfs_timed_plan plan;
	struct pfs_timed *timed;
	struct pfs_timed_stats stats;
	uint64_t ticks;
} rig;

static void on_tick(void *context, uint64_t now_ns)
{
	rig.ticks++;
	EXPECT(context == &rig && now_ns == rig.ticks * 1000, "tick at %llu", (number)now_ns);
}

static void open_rig(const char *machine, uint32_t threads, double jitter)
{
	struct pfs_message message = { "" };
	EXPECT(pfs_topology_create(&rig.topology, machine, &message) == PFS_OK &&
		       pfs_costs_find(&rig.costs, PFS_COSTS_DEFAULT, &message) == PFS_OK,
	       "%s", message.text);
	rig.costs.jitter = jitter;
	rig.plan = (struct pfs_timed_plan){ .topology = rig.topology,
					    .costs = &rig.costs,
					    .thread_count = threads,
					    .seed = 1,
					    .tick = on_tick,
					    .tick_ns = 1000,
					    .context = &rig };
	rig.timed = pfs_timed_create(&rig.plan, &message);
	EXPECT(rig.timed != NULL, "%s", message.text);
}

static bool run_rig(void (*body)(void *))
{
	static void *arguments[1024];
	for (uintptr_t id = 0; id < 1024; id++)
		arguments[id] = (void *)id;
	rig.ticks = 0;
	bool fine = pfs_timed_run(rig.timed, body, arguments);
	pfs_timed_get_stats(rig.timed, &rig.stats);
	return fine;
}

static void close_rig(void)
{
	pfs_timed_destroy(rig.timed);
	pfs_topology_destroy(rig.topology);
}

static struct {
	struct pfs_mutex lock;
	_Alignas(64) _Atomic(uint64_t) word;
	_Alignas(64) uint64_t plain;
	uint64_t done[1024];
	uint64_t ends[1024];
} shared;

/* PUs 0, 1: siblings; 2: another core on their L3; 4: the other package. Clocks count from 0,
 * 1, 2, .. microseconds, so that nobody competes. */
static uint64_t took_ns(uint64_t from_us, bool writes)
{
	uint64_t now = pfs_timed_now_ns();
	if (from_us * 1000 > now)
		pfs_timed_work_ns(from_us * 1000 - now);
	now = pfs_timed_now_ns();
	if (writes)
		(void)pfs_fetch_add_relaxed(&shared.word, 1);
	else
		(void)pfs_load_relaxed(&shared.word);
	return pfs_timed_now_ns() - now;
}

static void exact_costs(void *argument)
{
	static const struct {
		uint32_t thread;
		bool writes;
		uint64_t low, high;
		const char *what;
	} steps[] = {
		{ 0, true, 91, 91, "from memory of the own node" }, /* 85 + 6 */
		{ 0, true, 6, 6, "owned" },
		{ 0, false, 1, 2, "load, owned" },
		{ 1, true, 8, 9, "from the sibling" },
		{ 2, true, 80, 80, "from a core on the same L3" }, /* 74 + 6 */
		{ 4, true, 194, 194, "from the other package" },   /* 188 + 6 */
		{ 2, false, 189, 190, "load, from the other package" },
		{ 2, false, 1, 2, "load, shared" },
		{ 4, false, 1, 2, "load, shared by the one it came from" },
		{ 0, false, 23, 24, "load, from the own L3" },                 /* 22 + 1.7 */
		{ 4, true, 156, 157, "upgrade: the others are to forget it" }, /* 0.8 * 188 + 6 */
		{ 4, true, 6, 6, "owned again" },
	};
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (steps[i].thread != (uintptr_t)argument)
			continue;
		uint64_t took = took_ns(i + 1, steps[i].writes);
		EXPECT(took >= steps[i].low && took <= steps[i].high, "%s: %llu ns", steps[i].what,
		       (number)took);
	}
}

static void test_exact_costs(void)
{
	memset(&shared, 0, sizeof(shared));
	open_rig("pack:2 core:2 pu:2", 8, 0); /* one node: packages still differ */
	EXPECT(run_rig(exact_costs), "%s", pfs_timed_message(rig.timed));
	EXPECT(rig.stats.memory_near == 1 && rig.stats.transfers_core == 1 &&
		       rig.stats.transfers_l3 == 2 && rig.stats.transfers_remote == 3 &&
		       rig.stats.hits == 5 && rig.stats.accesses == 12 && rig.stats.atomics == 12 &&
		       rig.stats.queue_ns == 0,
	       "counts: near %llu, core %llu, l3 %llu, remote %llu, hits %llu, all %llu",
	       (number)rig.stats.memory_near, (number)rig.stats.transfers_core,
	       (number)rig.stats.transfers_l3, (number)rig.stats.transfers_remote,
	       (number)rig.stats.hits, (number)rig.stats.accesses);
	EXPECT(rig.ticks == rig.stats.end_ns / 1000, "%llu ticks", (number)rig.ticks);
	close_rig();
}

/* More lines than a level of the cache holds, twice: the second pass shows the level. */
static _Alignas(64) _Atomic(uint64_t) many[1 << 16][8];

static void walk(void *argument)
{
	(void)argument;
	static const uint32_t lines[] = { 512, 8192, 40000 };
	for (size_t i = 0; i < 3; i++) {
		uint64_t before = 0;
		for (uint32_t at = 0; at < 2 * lines[i]; at++) {
			if (at == lines[i])
				before = pfs_timed_now_ns();
			(void)pfs_fetch_add_relaxed(&many[at % lines[i] * 7 % (1 << 16)][0], 1);
		}
		shared.done[i] = (pfs_timed_now_ns() - before) / lines[i];
	}
}

static void test_capacity(void)
{
	open_rig("core:1 pu:1", 1, 0);
	EXPECT(run_rig(walk), "%s", pfs_timed_message(rig.timed));
	EXPECT(shared.done[0] >= 5 && shared.done[0] <= 7, "in L1: %llu", (number)shared.done[0]);
	EXPECT(shared.done[1] >= 10 && shared.done[1] <= 12, "in L2: %llu", (number)shared.done[1]);
	EXPECT(shared.done[2] >= 27 && shared.done[2] <= 29, "in L3: %llu", (number)shared.done[2]);
	close_rig();
}

static void add_for_a_while(void *argument)
{
	for (; pfs_timed_now_ns() < 100000; shared.done[(uintptr_t)argument]++)
		(void)pfs_fetch_add_relaxed(&shared.word, 1);
}

/* No thread starves on a line, near or far. */
static void test_fairness(void)
{
	memset(&shared, 0, sizeof(shared));
	open_rig("pack:2 core:8 pu:1", 16, 0.2);
	EXPECT(run_rig(add_for_a_while), "%s", pfs_timed_message(rig.timed));
	uint64_t sum = 0, least = UINT64_MAX;
	for (uint32_t id = 0; id < 16; id++) {
		sum += shared.done[id];
		least = shared.done[id] < least ? shared.done[id] : least;
	}
	EXPECT(sum == shared.word, "no addition is lost");
	EXPECT(least * 16 * 2 > sum, "least %llu of %llu", (number)least, (number)sum);
	EXPECT(rig.stats.queue_ns > 500000, "they queue: %llu ns", (number)rig.stats.queue_ns);
	close_rig();
}

static void work(void *argument)
{
	for (int i = 0; i < 10; i++)
		pfs_timed_work_ns(1000000);
	shared.ends[(uintptr_t)argument] = pfs_timed_now_ns();
}

static void test_time_slices(void)
{
	open_rig("core:1 pu:1", 4, 0);
	EXPECT(run_rig(work), "%s", pfs_timed_message(rig.timed));
	EXPECT(rig.stats.preemptions >= 9 && rig.stats.preemptions <= 16, "%llu preemptions",
	       (number)rig.stats.preemptions);
	/* 40 ms of work, and a switch for each change of threads. */
	EXPECT(rig.stats.end_ns >= 40000000 && rig.stats.end_ns <= 40000000 + 20 * 1500,
	       "all end at %llu", (number)rig.stats.end_ns);
	EXPECT(shared.ends[0] > 30000000, "the first one shares: %llu", (number)shared.ends[0]);
	close_rig();
}

static void count_up(void *argument)
{
	for (int i = 0; i < 100; i++) {
		(void)pfs_fetch_add_relaxed(&shared.word, 1);
		pfs_mutex_lock(&shared.lock);
		shared.plain++;
		pfs_timed_work_ns(50);
		pfs_mutex_unlock(&shared.lock);
		if (i % 10 == 0)
			pfs_timed_sleep_ns(10000);
		if (i % 7 == 0)
			pfs_yield();
	}
	shared.ends[(uintptr_t)argument] = pfs_timed_now_ns();
}

static void test_threads(const char *machine, uint32_t threads)
{
	memset(&shared, 0, sizeof(shared));
	open_rig(machine, threads, 0.2);
	for (uint64_t run = 1; run <= 2; run++) {
		EXPECT(run_rig(count_up), "%s", pfs_timed_message(rig.timed));
		EXPECT(shared.plain == run * threads * 100 && shared.word == run * threads * 100,
		       "%u threads: %llu and %llu", threads, (number)shared.plain,
		       (number)shared.word);
		uint64_t latest = 0;
		for (uint32_t id = 0; id < threads; id++)
			latest = shared.ends[id] > latest ? shared.ends[id] : latest;
		EXPECT(rig.stats.end_ns == latest && latest >= 100000 + 100 * 50,
		       "end %llu, latest %llu", (number)rig.stats.end_ns, (number)latest);
	}
	close_rig();
}

static void lock_twice(void *argument)
{
	(void)argument;
	pfs_mutex_lock(&shared.lock);
	pfs_mutex_lock(&shared.lock);
}

static void fail(void *argument)
{
	if ((uintptr_t)argument == 1)
		pfs_machine_fail("as asked");
	pfs_timed_work_ns(1000);
	(void)pfs_load_relaxed(&shared.word);
}

static void see_node(void *argument)
{
	*(uint32_t *)argument = pfs_memory_caller_node();
}

static void test_failures(void)
{
	uint32_t node = 77;
	memset(&shared, 0, sizeof(shared));
	open_rig("numa:2 core:2 pu:1", 4, 0.2);
	EXPECT(pfs_timed_aside(rig.timed, 3, see_node, &node) && node == 1, "node %u", node);
	EXPECT(pfs_memory_node_count() == 2, "nodes");
	EXPECT(!run_rig(lock_twice) && strstr(pfs_timed_message(rig.timed), "deadlock") != NULL,
	       "a deadlock: %s", pfs_timed_message(rig.timed));
	close_rig();
	open_rig("numa:2 core:2 pu:1", 4, 0.2);
	EXPECT(!run_rig(fail) && strcmp(pfs_timed_message(rig.timed), "as asked") == 0,
	       "a failure: %s", pfs_timed_message(rig.timed));
	EXPECT(!run_rig(work) && !pfs_timed_aside(rig.timed, 0, see_node, &node),
	       "nothing runs on a machine that failed");
	close_rig();
}

static void barriers(void *argument)
{
	uintptr_t id = (uintptr_t)argument;
	for (; pfs_timed_now_ns() < 1000000; shared.done[id]++)
		(void)pfs_sim_change(PFS_SIM_BARRIER, NULL, 0, 0, PFS_SIM_SEQ,
				     PFS_SIM_PLACE("barrier"));
}

static void barriers_or_adds(void *argument)
{
	uintptr_t id = (uintptr_t)argument;
	if (id + 1 < rig.plan.thread_count) {
		barriers(argument);
		return;
	}
	for (; pfs_timed_now_ns() < 1000000; shared.done[id]++)
		(void)pfs_fetch_add_relaxed(&shared.word, 1);
}

/* A thread that issues endless barriers waits for each one, which leaves the others time. */
static void test_barriers(void)
{
	memset(&shared, 0, sizeof(shared));
	open_rig("core:2 pu:1", 1, 0);
	EXPECT(run_rig(barriers), "%s", pfs_timed_message(rig.timed));
	EXPECT(shared.done[0] == 7143, "alone, 140 ns each: %llu", (number)shared.done[0]);
	close_rig();
	for (uint32_t callers = 1; callers <= 15; callers += 14) {
		memset(&shared, 0, sizeof(shared));
		open_rig("core:16 pu:1", callers + 1, 0);
		EXPECT(run_rig(barriers_or_adds), "%s", pfs_timed_message(rig.timed));
		/* 140 for the call, 60 for a message, 500 until it arrives, 700 to answer it. */
		EXPECT(callers > 1 || shared.done[0] / 10 == 71, "1400 ns each: %llu",
		       (number)shared.done[0]);
		/* 6 ns each, in half of the time; or in 100 ns after each interrupt of 700. */
		uint64_t added = shared.done[callers], least = callers == 1 ? 80000 : 15000;
		EXPECT(added >= least && added <= 2 * least && shared.done[0] > 10,
		       "%u callers: %llu additions, %llu barriers", callers, (number)added,
		       (number)shared.done[0]);
		close_rig();
	}
}

static _Atomic(uint64_t) *block; /* from malloc: the address differs between processes */

static void add_to_block(void *argument)
{
	for (uint32_t i = 0; i < 500; i++)
		(void)pfs_fetch_add_relaxed(&block[(i * 57 + (uintptr_t)argument) % 10000], 1);
}

/* Memory from malloc, more threads than PUs, all together. */
static int print_figures(void)
{
	block = calloc(10000, sizeof(*block));
	memset(&shared, 0, sizeof(shared));
	open_rig("pack:2 numa:2 l3:2 core:4 pu:2", 100, 0.2);
	bool fine = run_rig(count_up) && run_rig(add_to_block);
	(void)printf("%llu %llu %llu %llu %llu %llu %llu\n", (number)rig.stats.end_ns,
		     (number)rig.stats.accesses, (number)rig.stats.hits,
		     (number)rig.stats.transfers_l3, (number)rig.stats.queue_ns,
		     (number)rig.stats.preemptions, (number)shared.ends[50]);
	close_rig();
	free((void *)block);
	return fine ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--print") == 0)
		return print_figures();
	test_exact_costs();
	test_capacity();
	test_fairness();
	test_time_slices();
	test_threads("core:4 pu:1", 1);
	test_threads("core:4 pu:1", 4);
	test_threads("core:2 pu:1", 7);
	test_threads("pack:2 numa:4 core:16 pu:2", 256);
	test_threads("numa:8 core:32 pu:1", 1024);
	test_failures();
	test_barriers();
	if (failures == 0)
		(void)printf("timed machine: all passed\n");
	return failures != 0;
}
