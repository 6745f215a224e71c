/*
 * timed_test.c - the machine in virtual time: topologies, costs, threads, time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/atomic.h"
#include "containers/mutex.h"
#include "sim/timed.h"

static int failures;

#define EXPECT(condition, ...)                                      \
	do {                                                        \
		if (!(condition)) {                                 \
			failures++;                                 \
			(void)printf("FAILED %s:%d: ", __FILE__, __LINE__); \
			(void)printf(__VA_ARGS__);                  \
			(void)putchar('\n');                        \
		}                                                   \
	} while (0)

static void test_topology(void)
{
	struct pfs_topology *topology;
	struct pfs_message message;
	EXPECT(pfs_topology_create(&topology, "pack:2 numa:4 core:16 pu:2", &message) == PFS_OK,
	       "%s", message.text);
	EXPECT(topology->pu_count == 256 && topology->core_count == 128 &&
		       topology->node_count == 8 && topology->package_count == 2,
	       "counts of a machine of 8 nodes");
	EXPECT(topology->pu[33].core == 16 && topology->pu[33].node == 1 &&
		       topology->pu[33].smt_rank == 1 && topology->pu[255].package == 1,
	       "where PUs stand");
	EXPECT(topology->l3_count == 8 && topology->pu[33].l3 == 1, "an L3 for each node");
	pfs_topology_destroy(topology);
	static const char *const bad[] = { "pack:2 cores:many", "", "nosuch.xml", "/dev/null",
					   "pu:100000", "core:64 pu:32", "pack:2 pu:", "1024" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		message.text[0] = '\0';
		EXPECT(pfs_topology_create(&topology, bad[i], &message) == PFS_BAD_CONFIG &&
			       topology == NULL && message.text[0] != '\0' &&
			       strchr(message.text, '\n') == NULL,
		       "bad machine %s: %s", bad[i], message.text);
	}
}

static struct {
	struct pfs_mutex lock;
	_Atomic(uint64_t) sum;
	uint64_t plain;
	uint64_t ends[1024];
} shared;

static void count_up(void *argument)
{
	for (int i = 0; i < 100; i++) {
		(void)pfs_fetch_add_relaxed(&shared.sum, 1);
		pfs_mutex_lock(&shared.lock);
		shared.plain++;
		pfs_mutex_unlock(&shared.lock);
		pfs_timed_work_ns(100);
	}
	shared.ends[(uintptr_t)argument] = pfs_timed_now_ns();
}

static void test_threads(const char *machine, uint32_t threads)
{
	struct pfs_topology *topology;
	struct pfs_costs costs;
	struct pfs_message message;
	void *arguments[1024];
	if (pfs_topology_create(&topology, machine, &message) != PFS_OK ||
	    pfs_costs_find(&costs, PFS_COSTS_DEFAULT, &message) != PFS_OK) {
		EXPECT(false, "%s", message.text);
		return;
	}
	struct pfs_timed_plan plan = { .topology = topology, .costs = &costs,
				       .thread_count = threads, .seed = 1 };
	struct pfs_timed *timed = pfs_timed_create(&plan, &message);
	for (uintptr_t id = 0; id < threads; id++)
		arguments[id] = (void *)id;
	memset(&shared, 0, sizeof(shared));
	for (uint64_t run = 1; run <= 2; run++) {
		struct pfs_timed_stats stats;
		bool fine = pfs_timed_run(timed, count_up, arguments);
		EXPECT(fine, "%s", pfs_timed_message(timed));
		pfs_timed_get_stats(timed, &stats);
		EXPECT(shared.plain == run * threads * 100 && shared.sum == run * threads * 100,
		       "%u threads: %llu and %llu", threads, (unsigned long long)shared.plain,
		       (unsigned long long)shared.sum);
		uint64_t latest = 0;
		for (uint32_t id = 0; id < threads; id++)
			latest = shared.ends[id] > latest ? shared.ends[id] : latest;
		EXPECT(stats.end_ns == latest && latest >= 10000, "end %llu, latest %llu",
		       (unsigned long long)stats.end_ns, (unsigned long long)latest);
	}
	pfs_timed_destroy(timed);
	pfs_topology_destroy(topology);
}

int main(void)
{
	test_topology();
	test_threads("core:4 pu:1", 1);
	test_threads("core:4 pu:1", 4);
	test_threads("pack:2 numa:4 core:16 pu:2", 256);
	test_threads("numa:8 core:32 pu:1", 1024);
	if (failures == 0)
		(void)printf("timed machine: all passed\n");
	return failures != 0;
}
