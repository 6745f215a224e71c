/*
 * placement_test.c - where threads would run on machines described to hwloc, and where they do run
 * on this one. Each case is a process of its own, because a case changes the environment and the
 * CPU mask, and placement.c remembers them.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/placement.h"

#define CHECK(condition) check((condition), #condition, __LINE__)
#define TWO_NODES "pack:2 [numa] l3:1 core:4 pu:2"

static uint32_t failure_count;

static void check(bool ok, const char *condition, int line)
{
	if (ok)
		return;
	fprintf(stderr, "placement_test.c:%d: failed: %s\n", line, condition);
	failure_count++;
}

static hwloc_topology_t load(const char *synthetic)
{
	hwloc_topology_t topology;
	if (synthetic != NULL)
		setenv("HWLOC_SYNTHETIC", synthetic, 1);
	topology = pfs_topology_load();
	if (topology == NULL) {
		fprintf(stderr, "placement_test: hwloc could not load the topology\n");
		exit(1);
	}
	return topology;
}

/* The logical PUs of thread_count threads, as "0 8 2 10". */
static void check_order(hwloc_topology_t topology, const char *text, uint32_t thread_count,
			const char *expected, uint32_t pu_count)
{
	struct pfs_placement placement;
	struct pfs_message message = { "" };
	char order[512] = "";
	if (pfs_placement_init(&placement, topology, text, thread_count, &message) != PFS_OK) {
		fprintf(stderr, "placement_test: %s refused: %s\n", text, message.text);
		failure_count++;
		return;
	}
	for (uint32_t i = 0; i < thread_count; i++) {
		size_t used = strlen(order);
		snprintf(order + used, sizeof(order) - used, i == 0 ? "%u" : " %u",
			 placement.pu_logical[i]);
	}
	if (strcmp(order, expected) != 0 || placement.pu_count != pu_count) {
		fprintf(stderr,
			"placement_test: %s with %u threads: PUs %s (%u of them), not %s "
			"(%u)\n",
			text, thread_count, order, placement.pu_count, expected, pu_count);
		failure_count++;
	}
	CHECK(placement.thread_count == thread_count);
	pfs_placement_fini(&placement);
	CHECK(placement.pu_logical == NULL && placement.thread_count == 0);
}

static void orders_with_siblings(void)
{
	hwloc_topology_t topology = load(TWO_NODES);
	check_order(topology, "compact", 16, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", 16);
	check_order(topology, "scatter", 16, "0 8 2 10 4 12 6 14 1 9 3 11 5 13 7 15", 16);
	check_order(topology, "scatter", 3, "0 8 2", 3);
	check_order(topology, "compact", 18, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1", 16);
	check_order(topology, "node:0", 8, "0 2 4 6 1 3 5 7", 8);
	check_order(topology, "node:1", 10, "8 10 12 14 9 11 13 15 8 10", 8);
	check_order(topology, "oversubscribe:3", 8, "0 0 0 1 1 1 2 2", 3);
	check_order(topology, "oversubscribe:1", 3, "0 1 2", 3);
	check_order(topology, "oversubscribe:4294967295", 3, "0 0 0", 1);
	hwloc_topology_destroy(topology);
}

/* Nodes inside packages, as on Sapphire Rapids with sub-NUMA clusters, and no SMT. */
static void orders_with_small_nodes(void)
{
	hwloc_topology_t topology = load("pack:2 group:2 [numa] core:3 pu:1");
	check_order(topology, "scatter", 12, "0 3 6 9 1 4 7 10 2 5 8 11", 12);
	check_order(topology, "compact", 5, "0 1 2 3 4", 5);
	check_order(topology, "node:2", 4, "6 7 8 6", 3);
	hwloc_topology_destroy(topology);
}

/* Nodes of different sizes: at the end only the larger one has room. */
static void orders_with_unequal_nodes(void)
{
	hwloc_topology_t topology = load("numa:2 core:4 pu:1");
	hwloc_bitmap_t left = hwloc_bitmap_alloc();
	hwloc_bitmap_set_range(left, 3, 7);
	CHECK(hwloc_topology_restrict(topology, left, 0) == 0);
	/* hwloc renumbers: OS CPU 3 is PU 0 of node 0, 4 to 7 are 1 to 4 of node 1 */
	check_order(topology, "scatter", 5, "0 1 2 3 4", 5);
	check_order(topology, "node:0", 2, "0 0", 1);
	hwloc_bitmap_free(left);
	hwloc_topology_destroy(topology);
}

/* The operating system numbers siblings apart, as most do: logical and OS index differ. */
static void os_indexes(void)
{
	hwloc_topology_t topology = load("pack:2 [numa] core:2 pu:2(indexes=core)");
	struct pfs_placement placement;
	CHECK(pfs_placement_init(&placement, topology, "scatter", 8, NULL) == PFS_OK);
	for (uint32_t i = 0; i < 8; i++) {
		hwloc_obj_t pu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU,
						       placement.pu_logical[i]);
		CHECK(pu->os_index == placement.pu_os[i]);
		CHECK(placement.node_logical[i] == i % 2);
	}
	CHECK(placement.pu_logical[1] == 4 && placement.pu_os[1] == 2);
	pfs_placement_fini(&placement);
	hwloc_topology_destroy(topology);
}

static void check_refused(hwloc_topology_t topology, const char *text, uint32_t thread_count,
			  enum pfs_status expected, const char *line)
{
	struct pfs_placement placement, before;
	struct pfs_message message = { "" };
	enum pfs_status status;
	memset(&placement, 0x5a, sizeof(placement));
	memcpy(&before, &placement, sizeof(before));
	status = pfs_placement_init(&placement, topology, text, thread_count, &message);
	if (status != expected || strcmp(message.text, line) != 0) {
		fprintf(stderr, "placement_test: %s: status %d and \"%s\", not %d and \"%s\"\n",
			text, (int)status, message.text, (int)expected, line);
		failure_count++;
	}
	CHECK(memcmp(&placement, &before, sizeof(before)) == 0);
	CHECK(pfs_placement_init(&placement, topology, text, thread_count, NULL) == expected);
}

static void refusals(void)
{
	static const char *const unknown[] = { "compakt", "", "Compact", "node", "compact " };
	static const char *const no_number[] = { "node:", "node:-1", "node:1x", "node: 1",
						 "node:4294967296" };
	static const char *const no_factor[] = { "oversubscribe:", "oversubscribe:0",
						 "oversubscribe:-2", "oversubscribe:1.5" };
	hwloc_topology_t topology = load(TWO_NODES);
	char line[256];
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		snprintf(line, sizeof(line),
			 "placement %s: not known; choose none, compact, scatter, "
			 "node:K or oversubscribe:F",
			 unknown[i]);
		check_refused(topology, unknown[i], 2, PFS_BAD_CONFIG, line);
	}
	for (size_t i = 0; i < sizeof(no_number) / sizeof(*no_number); i++) {
		snprintf(line, sizeof(line),
			 "placement %s: K of node:K is the number of a NUMA node, "
			 "as in node:0",
			 no_number[i]);
		check_refused(topology, no_number[i], 2, PFS_BAD_CONFIG, line);
	}
	for (size_t i = 0; i < sizeof(no_factor) / sizeof(*no_factor); i++) {
		snprintf(line, sizeof(line),
			 "placement %s: F of oversubscribe:F is the number of "
			 "threads on each CPU, 1 or more",
			 no_factor[i]);
		check_refused(topology, no_factor[i], 2, PFS_BAD_CONFIG, line);
	}
	check_refused(topology, "node:2", 2, PFS_NO_NODE,
		      "placement node:2: this machine has 2 NUMA "
		      "nodes (0 to 1); choose one of them, or another placement");
	check_refused(topology, "compact", 0, PFS_BAD_CONFIG,
		      "threads 0: nothing to place; give 1 or more");
	check_refused(NULL, "compact", 2, PFS_NO_NODE,
		      "placement: hwloc could not read this "
		      "machine's topology; try lstopo, or choose placement none");
	hwloc_topology_destroy(topology);
	topology = load("core:2 pu:1");
	check_refused(topology, "node:7", 2, PFS_NO_NODE,
		      "placement node:7: this machine has 1 NUMA "
		      "node (0); choose node:0, or another placement");
	hwloc_topology_destroy(topology);
}

/* A node without CPUs, such as memory behind CXL, never gets a thread. */
static void node_without_cpus(void)
{
	hwloc_topology_t topology = load("numa:3 core:2 pu:1");
	hwloc_bitmap_t left = hwloc_bitmap_alloc();
	hwloc_bitmap_set_range(left, 0, 3);
	CHECK(hwloc_topology_restrict(topology, left, 0) == 0);
	CHECK(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE) == 3);
	check_order(topology, "scatter", 5, "0 2 1 3 0", 4);
	check_refused(topology, "node:2", 2, PFS_NO_NODE,
		      "placement node:2: this node has memory "
		      "but no CPU; choose another node");
	hwloc_bitmap_free(left);
	hwloc_topology_destroy(topology);
}

static void binding_on_another_machine(void)
{
	hwloc_topology_t topology = load(TWO_NODES);
	struct pfs_placement placement;
	struct pfs_message message = { "" };
	CHECK(pfs_placement_init(&placement, topology, "compact", 2, NULL) == PFS_OK);
	CHECK(pfs_placement_bind(&placement, topology, 0, &message) == PFS_NO_NODE);
	CHECK(strncmp(message.text, "placement: hwloc describes another machine, no thread", 53) ==
	      0);
	pfs_placement_fini(&placement);
	CHECK(pfs_placement_init(&placement, topology, "none", 2, NULL) == PFS_OK);
	CHECK(placement.pu_count == 0 && placement.pu_logical == NULL && placement.pu_os == NULL);
	CHECK(pfs_placement_bind(&placement, topology, 1, NULL) == PFS_OK);
	CHECK(pfs_placement_bind(&placement, topology, 2, &message) == PFS_BAD_CONFIG);
	pfs_placement_fini(&placement);
	hwloc_topology_destroy(topology);
}

/* four_nodes.xml is what hwloc read in the guest of numa_vm/: distances and the groups that
 * hwloc makes of them, which shift every depth. */
static void distances_from_file(void)
{
	static const uint64_t expected[16] = { 10, 16, 21, 32, 16, 10, 32, 21,
					       21, 32, 10, 16, 32, 21, 16, 10 };
	struct hwloc_distances_s *distances[1];
	hwloc_topology_t topology;
	unsigned count = 1;
	setenv("HWLOC_XMLFILE", PFS_FOUR_NODES_XML, 1);
	topology = load(NULL);
	CHECK(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE) == 4);
	CHECK(hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &count, distances,
					  HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) == 0 &&
	      count == 1);
	if (count == 1) {
		CHECK(distances[0]->nbobjs == 4);
		CHECK(memcmp(distances[0]->values, expected, sizeof(expected)) == 0);
		hwloc_distances_release(topology, distances[0]);
	}
	check_order(topology, "scatter", 9, "0 2 4 6 1 3 5 7 0", 8);
	check_order(topology, "compact", 4, "0 1 2 3", 4);
	check_order(topology, "node:3", 3, "6 7 6", 2);
	hwloc_topology_destroy(topology);
}

/* The CPUs of this process; returns how many. */
static uint32_t own_cpus(cpu_set_t *mask)
{
	CPU_ZERO(mask);
	CHECK(sched_getaffinity(0, sizeof(*mask), mask) == 0);
	return (uint32_t)CPU_COUNT(mask);
}

static void bind_each(hwloc_topology_t topology, const char *text, uint32_t thread_count,
		      const cpu_set_t *mask, uint32_t pu_count)
{
	struct pfs_placement placement;
	struct pfs_message message = { "" };
	CHECK(pfs_placement_init(&placement, topology, text, thread_count, &message) == PFS_OK);
	CHECK(placement.pu_count == pu_count);
	for (uint32_t i = 0; i < thread_count; i++) {
		cpu_set_t now;
		CHECK(CPU_ISSET(placement.pu_os[i], mask));
		CHECK(pfs_placement_bind(&placement, topology, i, &message) == PFS_OK);
		CHECK(own_cpus(&now) == 1 && CPU_ISSET(placement.pu_os[i], &now));
		CHECK(sched_getcpu() == (int)placement.pu_os[i]);
	}
	pfs_placement_fini(&placement);
}

/* Each step binds the caller, which must not shrink the set of CPUs for the next step. */
static void binding_on_this_machine(void)
{
	cpu_set_t mask;
	uint32_t cpu_count = own_cpus(&mask);
	hwloc_topology_t topology = load(NULL);
	bind_each(topology, "compact", cpu_count, &mask, cpu_count);
	bind_each(topology, "scatter", 2 * cpu_count, &mask, cpu_count);
	hwloc_topology_destroy(topology);
	topology = load(NULL);
	bind_each(topology, "oversubscribe:2", 2 * cpu_count, &mask, cpu_count);
	hwloc_topology_destroy(topology);
}

/* As if taskset had started it with one CPU: every placement keeps to that CPU, and nodes keep
 * their numbers. */
static void allowed_cpus_only(void)
{
	cpu_set_t mask, one;
	uint32_t last = 0;
	hwloc_topology_t topology;
	own_cpus(&mask);
	for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &mask))
			last = cpu;
	CPU_ZERO(&one);
	CPU_SET(last, &one);
	CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
	topology = load(NULL);
	bind_each(topology, "compact", 4, &one, 1);
	bind_each(topology, "scatter", 4, &one, 1);
	bind_each(topology, "oversubscribe:2", 4, &one, 1);
	hwloc_topology_destroy(topology);
}

static bool passes(void (*test)(void), const char *name)
{
	int status = 0;
	pid_t child;
	fflush(NULL);
	child = fork();
	if (child == 0) {
		unsetenv("HWLOC_SYNTHETIC");
		unsetenv("HWLOC_XMLFILE");
		test();
		exit(failure_count != 0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		status = 1;
	printf("%-28s %s\n", name, status == 0 ? "ok" : "FAILED");
	return status == 0;
}

int main(void)
{
	static const struct {
		void (*run)(void);
		const char *name;
	} test[] = {
		{ orders_with_siblings, "orders_with_siblings" },
		{ orders_with_small_nodes, "orders_with_small_nodes" },
		{ orders_with_unequal_nodes, "orders_with_unequal_nodes" },
		{ os_indexes, "os_indexes" },
		{ refusals, "refusals" },
		{ node_without_cpus, "node_without_cpus" },
		{ binding_on_another_machine, "binding_on_another_machine" },
		{ distances_from_file, "distances_from_file" },
		{ binding_on_this_machine, "binding_on_this_machine" },
		{ allowed_cpus_only, "allowed_cpus_only" },
	};
	uint32_t failed = 0;
	for (size_t i = 0; i < sizeof(test) / sizeof(*test); i++)
		failed += !passes(test[i].run, test[i].name);
	return failed != 0;
}
