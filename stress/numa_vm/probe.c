/*
 * probe.c - run in the 4-node guest: do threads, memory and records land where they should?
 *
 * The machine is known: run_guest.sh gives node n the CPUs 2n and 2n+1, one core each, so all
 * expectations are plain numbers. Where memory lies is asked of the kernel (move_pages), not
 * of the code under test.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pfslab/container.h>
#include <pfslab/variant.h>

#include "bench/placement.h"
#include "containers/memory.h"

#define CHECK(condition) check((condition), #condition, __LINE__)
#define NODES 4U
#define CPUS 8U
#define OS_PAGE 4096U
#define OS_PAGES 64U
#define PAGE_RECORDS 64U

static uint32_t failure_count;

static void check(bool ok, const char *condition, int line)
{
	if (ok)
		return;
	printf("probe.c:%d: failed: %s\n", line, condition);
	failure_count++;
}

/* The node that holds this byte, or a negative error: -ENOENT if nothing holds it yet. */
static int node_of_byte(const void *byte)
{
	void *os_page = (void *)((uintptr_t)byte & ~(uintptr_t)(OS_PAGE - 1));
	int status = -EFAULT;
	if (syscall(SYS_move_pages, 0, 1UL, &os_page, NULL, &status, 0) != 0)
		return -errno;
	return status;
}

static void bind_to_node(hwloc_topology_t topology, uint32_t node)
{
	char text[16];
	struct pfs_placement placement;
	struct pfs_message message = { "" };
	snprintf(text, sizeof(text), "node:%u", node);
	CHECK(pfs_placement_init(&placement, topology, text, 1, &message) == PFS_OK);
	CHECK(pfs_placement_bind(&placement, topology, 0, &message) == PFS_OK);
	pfs_placement_fini(&placement);
	CHECK(pfs_memory_caller_node() == node);
}

static void machine_is_as_expected(hwloc_topology_t topology)
{
	static const uint64_t expected[NODES * NODES] = { 10, 16, 21, 32, 16, 10, 32, 21,
							  21, 32, 10, 16, 32, 21, 16, 10 };
	struct hwloc_distances_s *distances[1];
	unsigned count = 1;
	CHECK(pfs_memory_node_count() == NODES);
	CHECK(hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &count, distances,
					  HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) == 0 &&
	      count == 1);
	if (count != 1)
		return;
	CHECK(memcmp(distances[0]->values, expected, sizeof(expected)) == 0);
	hwloc_distances_release(topology, distances[0]);
}

/* One of thread_count threads; all are alive and bound at the same time. */
struct bound_thread {
	pthread_t handle;
	pthread_barrier_t *barrier;
	const struct pfs_placement *placement;
	hwloc_topology_t topology;
	uint32_t thread_index;
	bool bound;
	unsigned cpu, node;
};

static void *report_place(void *opaque)
{
	struct bound_thread *self = opaque;
	self->bound = pfs_placement_bind(self->placement, self->topology, self->thread_index,
					 NULL) == PFS_OK;
	pthread_barrier_wait(self->barrier);
	getcpu(&self->cpu, &self->node);
	return NULL;
}

/* cpus: where thread 0, 1, ... must run, one digit each. */
static void threads_land(hwloc_topology_t topology, const char *text, const char *cpus)
{
	struct bound_thread thread[2 * CPUS];
	uint32_t thread_count = (uint32_t)strlen(cpus);
	struct pfs_placement placement;
	pthread_barrier_t barrier;
	struct pfs_message message = { "" };
	CHECK(pfs_placement_init(&placement, topology, text, thread_count, &message) == PFS_OK);
	pthread_barrier_init(&barrier, NULL, thread_count);
	for (uint32_t i = 0; i < thread_count; i++) {
		thread[i] = (struct bound_thread){ .barrier = &barrier,
						   .placement = &placement,
						   .topology = topology,
						   .thread_index = i };
		CHECK(pthread_create(&thread[i].handle, NULL, report_place, &thread[i]) == 0);
	}
	for (uint32_t i = 0; i < thread_count; i++) {
		unsigned cpu = (unsigned)(cpus[i] - '0');
		pthread_join(thread[i].handle, NULL);
		CHECK(thread[i].bound);
		if (thread[i].cpu == cpu && thread[i].node == cpu / 2 &&
		    placement.node_logical[i] == cpu / 2)
			continue;
		printf("probe: %s: thread %u runs on CPU %u of node %u, not on CPU %u\n", text, i,
		       thread[i].cpu, thread[i].node, cpu);
		failure_count++;
	}
	pthread_barrier_destroy(&barrier);
	pfs_placement_fini(&placement);
}

/* Maps with the caller on node mapper and writes with the caller on node writer; how many OS
 * pages each node then holds goes to held. Returns *node_got of map. */
static uint32_t map_and_write(hwloc_topology_t topology, enum pfs_memory memory,
			      uint32_t node_wanted, uint32_t mapper, uint32_t writer,
			      uint32_t held[NODES])
{
	const struct pfs_memory_source *from = pfs_memory_hwloc();
	uint32_t node_got = 12345;
	char *bytes;
	memset(held, 0, NODES * sizeof(*held));
	bind_to_node(topology, mapper);
	bytes = from->map(from->context, OS_PAGES * OS_PAGE, memory, node_wanted, &node_got);
	CHECK(bytes != NULL);
	if (bytes == NULL)
		return node_got;
	bind_to_node(topology, writer);
	for (uint32_t page = 0; page < OS_PAGES; page++)
		bytes[page * OS_PAGE] = 1;
	for (uint32_t page = 0; page < OS_PAGES; page++) {
		int node = node_of_byte(bytes + page * OS_PAGE);
		CHECK(node >= 0 && node < (int)NODES);
		if (node >= 0 && node < (int)NODES)
			held[node]++;
	}
	CHECK(from->resident(from->context, bytes, OS_PAGES * OS_PAGE) == OS_PAGES * OS_PAGE);
	from->unmap(from->context, bytes, OS_PAGES * OS_PAGE);
	return node_got;
}

static void memory_lands(hwloc_topology_t topology)
{
	uint32_t held[NODES];
	for (uint32_t node = 0; node < NODES; node++) {
		uint32_t other = (node + 1) % NODES;
		CHECK(pfs_memory_check(PFS_MEMORY_NODE, node, NULL) == PFS_OK);
		CHECK(map_and_write(topology, PFS_MEMORY_NODE, node, other, other, held) == node);
		CHECK(held[node] == OS_PAGES);
		CHECK(map_and_write(topology, PFS_MEMORY_LOCAL, PFS_NODE_MIXED, node, other,
				    held) == node);
		CHECK(held[node] == OS_PAGES);
		CHECK(map_and_write(topology, PFS_MEMORY_LOCAL, node, other, other, held) == node);
		CHECK(held[node] == OS_PAGES);
		CHECK(map_and_write(topology, PFS_MEMORY_FIRST_TOUCH, PFS_NODE_MIXED, node, other,
				    held) == node);
		CHECK(held[other] == OS_PAGES); /* where it was written first */
		CHECK(map_and_write(topology, PFS_MEMORY_INTERLEAVE, PFS_NODE_MIXED, node, other,
				    held) == PFS_NODE_MIXED);
		for (uint32_t i = 0; i < NODES; i++)
			CHECK(held[i] == OS_PAGES / NODES);
	}
	CHECK(pfs_memory_check(PFS_MEMORY_LOCAL, 0, NULL) == PFS_OK);
	CHECK(pfs_memory_check(PFS_MEMORY_INTERLEAVE, 0, NULL) == PFS_OK);
	CHECK(pfs_memory_check(PFS_MEMORY_NODE, NODES, NULL) == PFS_NO_NODE);
}

/* Allocate count records on a node; returns how many of them another node holds. Attached
 * anew each time: a handle counts from the node it was attached on. */
static uint32_t allocate_on(hwloc_topology_t topology, struct pfs_container *container,
			    uint32_t node, void **records, uint32_t count)
{
	struct pfs_thread *thread;
	uint32_t elsewhere = 0;
	bind_to_node(topology, node);
	CHECK(pfs_thread_attach(container, &thread) == PFS_OK);
	for (uint32_t i = 0; i < count; i++) {
		struct pfs_claim claim = pfs_allocate(thread);
		CHECK(claim.record != NULL);
		if (claim.record == NULL)
			exit(1);
		*(char *)claim.record = 1;
		elsewhere += node_of_byte(claim.record) != (int)node;
		pfs_publish(thread, claim);
		records[i] = claim.record;
	}
	pfs_thread_detach(thread);
	return elsewhere;
}

static void free_all(struct pfs_container *container, void **records)
{
	struct pfs_thread *thread;
	CHECK(pfs_thread_attach(container, &thread) == PFS_OK);
	for (uint32_t i = 0; i < NODES * PAGE_RECORDS; i++)
		pfs_free(thread, records[i]);
	pfs_thread_detach(thread);
}

/*
 * A container of four pages, each added by a thread of another node; then one node takes all
 * their records. Nothing is free while pages are added, so each node fills the page it added.
 */
static void records_land(hwloc_topology_t topology, enum pfs_layout layout, enum pfs_memory memory,
			 uint32_t memory_node)
{
	void *records[NODES * PAGE_RECORDS];
	uint32_t elsewhere = 0, expected;
	struct pfs_container *container;
	struct pfs_message message = { "" };
	struct pfs_config config;
	struct pfs_counts counts;
	pfs_config_init(&config);
	config.page_records = PAGE_RECORDS;
	config.page_max = NODES;
	config.layout = layout;
	config.memory = memory;
	config.memory_node = memory_node;
	if (pfs_container_create(pfs_variant_find("local_scan"), &config, &container, &message) !=
	    PFS_OK) {
		printf("probe: container refused: %s\n", message.text);
		failure_count++;
		return;
	}
	for (uint32_t node = 0; node < NODES; node++)
		elsewhere += allocate_on(topology, container, node, records + node * PAGE_RECORDS,
					 PAGE_RECORDS);
	expected = memory == PFS_MEMORY_NODE ? (NODES - 1) * PAGE_RECORDS : 0;
	CHECK(elsewhere == expected);
	free_all(container, records);
	elsewhere += allocate_on(topology, container, 2, records, NODES * PAGE_RECORDS);
	expected += memory == PFS_MEMORY_NODE && memory_node == 2 ? 0 : (NODES - 1) * PAGE_RECORDS;
	CHECK(elsewhere == expected);
	pfs_container_counts(container, &counts);
	CHECK(counts.growths == NODES && counts.pages == NODES);
	if (counts.counted)
		CHECK(counts.remote == elsewhere && counts.mixed == 0);
	printf("probe: records of pages %s: %u of %u on another node, counted %s\n",
	       memory == PFS_MEMORY_LOCAL  ? "local"
	       : memory == PFS_MEMORY_NODE ? "of node 2"
					   : "by first touch",
	       elsewhere, 2 * NODES * PAGE_RECORDS,
	       counts.counted ? "alike" : "not at all in this build");
	free_all(container, records);
	pfs_container_destroy(container);
}

/* Started by taskset on node 2 alone: its number stays 2, for threads and for memory. */
static void numbers_stay(void)
{
	hwloc_topology_t topology;
	struct pfs_placement placement;
	struct pfs_message message = { "" };
	uint32_t held[NODES];
	cpu_set_t mask;
	CPU_ZERO(&mask);
	CPU_SET(4, &mask);
	CPU_SET(5, &mask);
	CHECK(sched_setaffinity(0, sizeof(mask), &mask) == 0);
	topology = pfs_topology_load();
	threads_land(topology, "compact", "454");
	threads_land(topology, "scatter", "45");
	threads_land(topology, "node:2", "45");
	CHECK(pfs_placement_init(&placement, topology, "node:0", 1, &message) == PFS_NO_NODE);
	CHECK(strstr(message.text, "may use no CPU of that node") != NULL);
	CHECK(pfs_memory_caller_node() == 2 && pfs_memory_node_count() == NODES);
	CHECK(map_and_write(topology, PFS_MEMORY_LOCAL, PFS_NODE_MIXED, 2, 2, held) == 2);
	CHECK(held[2] == OS_PAGES);
	CHECK(map_and_write(topology, PFS_MEMORY_NODE, 0, 2, 2, held) == 0);
	CHECK(held[0] == OS_PAGES);
	hwloc_topology_destroy(topology);
}

/* Before anything is remembered of this process's CPUs. */
static void in_a_child(void (*test)(void))
{
	int status = 1;
	pid_t child = fork();
	if (child == 0) {
		test();
		fflush(NULL);
		_exit(failure_count != 0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

int main(void)
{
	hwloc_topology_t topology;
	in_a_child(numbers_stay);
	topology = pfs_topology_load();
	if (topology == NULL || pfs_memory_hwloc() == NULL) {
		printf("probe: hwloc could not load the topology\n");
		return 1;
	}
	machine_is_as_expected(topology);
	threads_land(topology, "compact", "0123456701");
	threads_land(topology, "scatter", "0246135702");
	threads_land(topology, "node:3", "6767");
	threads_land(topology, "oversubscribe:2", "00112233");
	memory_lands(topology);
	for (int layout = PFS_LAYOUT_IN_RECORD; layout <= PFS_LAYOUT_SIDE_BY_SIDE; layout++) {
		records_land(topology, (enum pfs_layout)layout, PFS_MEMORY_LOCAL, 0);
		records_land(topology, (enum pfs_layout)layout, PFS_MEMORY_FIRST_TOUCH, 0);
		records_land(topology, (enum pfs_layout)layout, PFS_MEMORY_NODE, 2);
	}
	hwloc_topology_destroy(topology);
	printf("probe: %s\n", failure_count == 0 ? "all as expected" : "FAILED");
	return failure_count != 0;
}
