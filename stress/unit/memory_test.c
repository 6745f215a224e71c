/*
 * memory_test.c - the memory source on this machine: every kind of memory, every refusal.
 *
 * Each case is a process of its own: the topology is read once in the life of a process, and
 * one case takes mbind away from itself. That memory lands on the right one of several nodes
 * is shown in the guest of numa_vm/.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <hwloc.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pfslab/variant.h>

#include "containers/mapped.h"
#include "containers/memory.h"

#define CHECK(condition) check((condition), #condition, __LINE__)
#define MIB ((size_t)1 << 20)

static uint32_t failure_count;

static void check(bool ok, const char *condition, int line)
{
	if (ok)
		return;
	fprintf(stderr, "memory_test.c:%d: failed: %s\n", line, condition);
	failure_count++;
}

static const struct pfs_memory_source *source(void)
{
	const struct pfs_memory_source *hwloc = pfs_memory_hwloc();
	if (hwloc == NULL) {
		fprintf(stderr, "memory_test: hwloc could not read the topology\n");
		exit(1);
	}
	return hwloc;
}

/* If a sandbox forbids binding this kind of memory, it cannot be tested here. */
static bool can_bind(enum pfs_memory memory)
{
	struct pfs_message message;
	if (pfs_memory_check(memory, 0, &message) == PFS_OK)
		return true;
	fprintf(stderr, "memory_test: %s\n", message.text);
	exit(77);
}

/* Size and resident bytes of this process. */
static void own_bytes(uint64_t *mapped, uint64_t *resident)
{
	uint64_t os_page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	FILE *file = fopen("/proc/self/statm", "r");
	if (file == NULL || fscanf(file, "%lu %lu", mapped, resident) != 2) {
		fprintf(stderr, "memory_test: cannot read /proc/self/statm\n");
		exit(1);
	}
	fclose(file);
	*mapped *= os_page_bytes;
	*resident *= os_page_bytes;
}

static void map_and_unmap(enum pfs_memory memory, uint32_t node_wanted, uint32_t node_expected)
{
	const struct pfs_memory_source *from = source();
	size_t size_bytes = 20480 + 1; /* ends inside an OS page */
	uint32_t node_got = 12345;
	unsigned char *bytes = from->map(from->context, size_bytes, memory, node_wanted, &node_got);
	CHECK(bytes != NULL && (uintptr_t)bytes % 64 == 0);
	if (bytes == NULL)
		return;
	CHECK(node_got == node_expected);
	for (size_t i = 0; i < size_bytes; i++)
		failure_count += bytes[i] != 0;
	memset(bytes, 0xa5, size_bytes);
	CHECK(from->resident(from->context, bytes, size_bytes) == 24576 ||
	      sysconf(_SC_PAGESIZE) != 4096);
	from->unmap(from->context, bytes, size_bytes);
	CHECK(from->resident(from->context, bytes, size_bytes) == 0);
}

static void every_kind(void)
{
	bool one_node = pfs_memory_node_count() == 1;
	uint32_t here = one_node ? 0 : pfs_memory_caller_node(); /* on several it may change */
	for (int round = 0; round < 100; round++) {
		if (one_node)
			map_and_unmap(PFS_MEMORY_FIRST_TOUCH, PFS_NODE_MIXED, here);
		if (one_node && can_bind(PFS_MEMORY_LOCAL))
			map_and_unmap(PFS_MEMORY_LOCAL, PFS_NODE_MIXED, here);
		if (can_bind(PFS_MEMORY_LOCAL))
			map_and_unmap(PFS_MEMORY_LOCAL, 0, 0);
		if (can_bind(PFS_MEMORY_NODE))
			map_and_unmap(PFS_MEMORY_NODE, 0, 0);
		if (can_bind(PFS_MEMORY_INTERLEAVE))
			map_and_unmap(PFS_MEMORY_INTERLEAVE, PFS_NODE_MIXED,
				      one_node ? 0 : PFS_NODE_MIXED);
	}
}

static void nodes_as_hwloc_numbers_them(void)
{
	hwloc_topology_t topology;
	uint32_t count, here = pfs_memory_caller_node();
	CHECK(hwloc_topology_init(&topology) == 0 && hwloc_topology_load(topology) == 0);
	count = (uint32_t)hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
	CHECK(pfs_memory_node_count() == count);
	CHECK(here < count);
	hwloc_topology_destroy(topology);
}

/* Untouched memory of any kind is not resident, and all of it is given back. */
static void resident_follows(void)
{
	const struct pfs_memory_source *from = source();
	uint64_t mapped_before, mapped_with, mapped_after, resident_with, resident_after, ignored;
	size_t size_bytes = 32 * MIB;
	uint32_t node;
	char *bytes = from->map(from->context, size_bytes, PFS_MEMORY_NODE, 0, &node);
	CHECK(can_bind(PFS_MEMORY_NODE) && bytes != NULL);
	CHECK(from->resident(from->context, bytes, size_bytes) == 0);
	bytes[5 * MIB] = 1;
	CHECK(from->resident(from->context, bytes, size_bytes) > 0);
	CHECK(from->resident(from->context, bytes, size_bytes) <=
	      2 * MIB); /* a huge page at most */
	from->unmap(from->context, bytes, size_bytes);

	own_bytes(&mapped_before, &ignored);
	bytes = from->map(from->context, size_bytes, PFS_MEMORY_FIRST_TOUCH, PFS_NODE_MIXED, &node);
	CHECK(bytes != NULL && from->resident(from->context, bytes, size_bytes) == 0);
	memset(bytes, 1, size_bytes);
	CHECK(from->resident(from->context, bytes, size_bytes) == size_bytes);
	own_bytes(&mapped_with, &resident_with);
	from->unmap(from->context, bytes, size_bytes);
	own_bytes(&mapped_after, &resident_after);
	CHECK(mapped_with >= mapped_before + size_bytes);
	CHECK(mapped_after + size_bytes <= mapped_with);
	CHECK(resident_after + size_bytes <= resident_with + MIB);
}

static void check_refused(enum pfs_memory memory, uint32_t node, enum pfs_status expected,
			  const char *beginning)
{
	struct pfs_message message = { "" };
	enum pfs_status status = pfs_memory_check(memory, node, &message);
	if (status != expected || strncmp(message.text, beginning, strlen(beginning)) != 0) {
		fprintf(stderr, "memory_test: status %d and \"%s\", not %d and \"%s\"\n",
			(int)status, message.text, (int)expected, beginning);
		failure_count++;
	}
	CHECK(pfs_memory_check(memory, node, NULL) == expected);
}

/* A refused map leaves no byte behind and does not touch *node_got. */
static void check_map_refused(enum pfs_memory memory, size_t size_bytes, uint32_t node)
{
	const struct pfs_memory_source *from = source();
	uint64_t mapped_before, mapped_after, ignored;
	uint32_t node_got = 12345;
	own_bytes(&mapped_before, &ignored);
	CHECK(from->map(from->context, size_bytes, memory, node, &node_got) == NULL);
	own_bytes(&mapped_after, &ignored);
	CHECK(mapped_after == mapped_before);
	CHECK(node_got == 12345);
}

static void wrong_requests(void)
{
	uint32_t count = pfs_memory_node_count();
	char line[256];
	check_refused((enum pfs_memory)4, 0, PFS_BAD_CONFIG, "memory 4: no such kind");
	if (count == 1)
		snprintf(line, sizeof(line),
			 "memory_node 7: this machine has 1 NUMA node (0); choose "
			 "0, or another kind of memory");
	else
		snprintf(line, sizeof(line),
			 "memory_node %u: this machine has %u NUMA nodes (0 to "
			 "%u); choose one of them, or another kind of memory",
			 count + 6, count, count - 1);
	check_refused(PFS_MEMORY_NODE, count + 6, PFS_NO_NODE, line);
	CHECK(pfs_memory_check(PFS_MEMORY_LOCAL, 7, NULL) == PFS_OK); /* node is not read */
	check_map_refused(PFS_MEMORY_NODE, 4096, count);
	check_map_refused(PFS_MEMORY_NODE, 4096, PFS_NODE_MIXED);
	check_map_refused(PFS_MEMORY_LOCAL, 4096, count);
	check_map_refused((enum pfs_memory)4, 4096, 0);
	check_map_refused(PFS_MEMORY_FIRST_TOUCH, SIZE_MAX / 2, 0);
	check_map_refused(PFS_MEMORY_NODE, SIZE_MAX / 2, 0);
	check_map_refused(PFS_MEMORY_FIRST_TOUCH, 0, 0);
}

/* A topology of another machine: nothing is bound, and no result claims that it was. */
static void another_machine(void)
{
	static const char refusal[] =
		"hwloc describes another machine, no memory can be bound; unset "
		"HWLOC_SYNTHETIC and HWLOC_XMLFILE, or choose "
		"memory first-touch";
	char line[256];
	setenv("HWLOC_SYNTHETIC", "numa:4 core:2 pu:1", 1);
	CHECK(pfs_memory_node_count() == 4);
	CHECK(pfs_memory_caller_node() == PFS_NODE_MIXED);
	snprintf(line, sizeof(line), "memory local: %s", refusal);
	check_refused(PFS_MEMORY_LOCAL, 0, PFS_NO_NODE, line);
	snprintf(line, sizeof(line), "memory interleave: %s", refusal);
	check_refused(PFS_MEMORY_INTERLEAVE, 0, PFS_NO_NODE, line);
	snprintf(line, sizeof(line), "memory node: %s", refusal);
	check_refused(PFS_MEMORY_NODE, 3, PFS_NO_NODE, line);
	check_map_refused(PFS_MEMORY_NODE, 4096, 0);
	check_map_refused(PFS_MEMORY_LOCAL, 4096, 0);
	check_map_refused(PFS_MEMORY_INTERLEAVE, 4096, PFS_NODE_MIXED);
	CHECK(pfs_memory_check(PFS_MEMORY_FIRST_TOUCH, 0, NULL) == PFS_OK);
	map_and_unmap(PFS_MEMORY_FIRST_TOUCH, PFS_NODE_MIXED, PFS_NODE_MIXED);
}

static bool set_filter(struct sock_filter *filter, size_t length)
{
	struct sock_fprog program = { (unsigned short)length, filter };
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* From here on mbind fails with EPERM, as in a container with the usual seccomp profile. */
static bool forbid_mbind(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mbind, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	return set_filter(filter, sizeof(filter) / sizeof(*filter));
}

/* From here on munmap of this size fails with ENOMEM, as at the limit on mappings. */
static bool forbid_munmap(uint32_t size_bytes)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_munmap, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, size_bytes, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	return set_filter(filter, sizeof(filter) / sizeof(*filter));
}

/* The memory is given back nevertheless, and the next blocks of that size reuse the addresses. */
static void unmapping_refused(void)
{
	enum { BLOCKS = 300, SIZE = 3 * 4096 };
	const struct pfs_memory_source *from = source();
	char *blocks[BLOCKS];
	uint32_t node;
	uintptr_t sum_before = 0, sum_after = 0;
	if (!forbid_munmap(SIZE))
		exit(77);
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = from->map(from->context, SIZE, PFS_MEMORY_FIRST_TOUCH, PFS_NODE_MIXED,
				      &node);
		CHECK(blocks[i] != NULL);
		memset(blocks[i], 1, SIZE);
		sum_before += (uintptr_t)blocks[i];
	}
	for (int i = 0; i < BLOCKS; i++)
		from->unmap(from->context, blocks[i], SIZE);
	CHECK(pfs_mapped_kept() == BLOCKS);
	for (int i = 0; i < BLOCKS; i++)
		CHECK(from->resident(from->context, blocks[i], SIZE) == 0);
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = from->map(from->context, SIZE, PFS_MEMORY_FIRST_TOUCH, PFS_NODE_MIXED,
				      &node);
		CHECK(blocks[i] != NULL && blocks[i][0] == 0 && blocks[i][SIZE - 1] == 0);
		sum_after += (uintptr_t)blocks[i];
	}
	CHECK(sum_after == sum_before);
	CHECK(pfs_mapped_kept() == 0);
}

/* A page of large records: the bytes of free records are not written. */
static void first_touch_is_the_owners(void)
{
	struct pfs_container *container;
	struct pfs_thread *thread;
	struct pfs_message message;
	struct pfs_counts counts;
	struct pfs_config config;
	(void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* a header in a large OS page has all of it */
	pfs_config_init(&config);
	config.record_size_bytes = MIB;
	config.page_records = 64;
	config.page_max = 1;
	CHECK(pfs_container_create(pfs_variant_find("exact"), &config, &container, &message) ==
	      PFS_OK);
	CHECK(pfs_thread_attach(container, &thread) == PFS_OK);
	CHECK(pfs_allocate(thread).record != NULL);
	pfs_container_counts(container, &counts);
	CHECK(counts.resident_bytes >= 64 * 4096 && counts.resident_bytes <= 2 * MIB);
	pfs_thread_detach(thread);
	pfs_container_destroy(container);
}

static void binding_forbidden(void)
{
	if (!can_bind(PFS_MEMORY_NODE) || !forbid_mbind())
		exit(77);
	check_refused(PFS_MEMORY_NODE, 0, PFS_NO_NODE,
		      "memory node: the system refuses to bind "
		      "memory (Operation not permitted); choose memory first-touch");
	check_refused(PFS_MEMORY_LOCAL, 0, PFS_NO_NODE, "memory local: the system refuses");
	check_map_refused(PFS_MEMORY_NODE, 4096, 0);
	check_map_refused(PFS_MEMORY_LOCAL, 4096, 0);
	check_map_refused(PFS_MEMORY_INTERLEAVE, 4096, PFS_NODE_MIXED);
	CHECK(pfs_memory_check(PFS_MEMORY_FIRST_TOUCH, 0, NULL) == PFS_OK);
}

/* Answers 0, 1, or 77 when this machine can't show it. */
static int run(void (*test)(void), const char *name)
{
	int status = 0, answer = 1;
	pid_t child;
	fflush(NULL);
	child = fork();
	if (child == 0) {
		unsetenv("HWLOC_SYNTHETIC");
		unsetenv("HWLOC_XMLFILE");
		test();
		exit(failure_count != 0);
	}
	if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status))
		answer = WEXITSTATUS(status);
	printf("%-28s %s\n", name, answer == 0 ? "ok" : answer == 77 ? "skipped" : "FAILED");
	return answer;
}

int main(void)
{
	static const struct {
		void (*run)(void);
		const char *name;
	} test[] = {
		{ nodes_as_hwloc_numbers_them, "nodes_as_hwloc_numbers_them" },
		{ every_kind, "every_kind" },
		{ resident_follows, "resident_follows" },
		{ wrong_requests, "wrong_requests" },
		{ another_machine, "another_machine" },
		{ binding_forbidden, "binding_forbidden" },
		{ unmapping_refused, "unmapping_refused" },
		{ first_touch_is_the_owners, "first_touch_is_the_owners" },
	};
	bool failed = false, skipped = false;
	for (size_t i = 0; i < sizeof(test) / sizeof(*test); i++) {
		int answer = run(test[i].run, test[i].name);
		failed = failed || (answer != 0 && answer != 77);
		skipped = skipped || answer == 77;
	}
	return failed ? 1 : skipped ? 77 : 0;
}
