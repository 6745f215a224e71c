/*
 * machine.c - see machine.h.
 */
#include "machine.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "allocator.h"
#include "build.h"
#include "gate.h"
#include "shim.h"

#define ABSENT "ABSENT"
#define FLOOR_RUNS 50
#define FLOOR_STEPS 1000

static void say(const char *key, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const char *key, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (char *at = text; *at != '\0'; at++)
		if (iscntrl((unsigned char)*at))
			*at = ' ';
	for (size_t size = strlen(text); size > 0 && text[size - 1] == ' '; size--)
		text[size - 1] = '\0';
	pfs_shim_context(key, text[0] != '\0' ? text : ABSENT);
}

/* The first line of a file; false if there is none. */
static bool first_line(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	bool got = false;

	if (file == NULL)
		return false;
	got = fgets(text, (int)size, file) != NULL;
	fclose(file);
	return got;
}

static void say_file(const char *key, const char *path)
{
	char text[1024];

	say(key, "%s", first_line(path, text, sizeof(text)) ? text : ABSENT);
}

/* The value of the first line of /proc/cpuinfo that begins with key. */
static bool cpuinfo(const char *key, char *text, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	bool got = false;

	if (file == NULL)
		return false;
	while (!got && fgets(text, (int)size, file) != NULL) {
		char *colon = strchr(text, ':');
		if (strncmp(text, key, strlen(key)) != 0 || colon == NULL)
			continue;
		memmove(text, colon + 1 + (colon[1] == ' '), strlen(colon) - (colon[1] == ' '));
		got = true;
	}
	fclose(file);
	return got;
}

/* A cloud uses one name for several processors; these values tell them apart. */
static void say_cpu_id(void)
{
	static const struct {
		const char *key, *label;
		/* clang-format off */
	} parts[] = {
		{"vendor_id", ""}, {"cpu family", " family "}, {"model\t", " model "},
		{"stepping", " stepping "}, {"CPU implementer", "implementer "},
		{"CPU variant", " variant "}, {"CPU part", " part "},
		{"CPU revision", " revision "},
	};
	/* clang-format on */
	char id[512] = "", text[8192];

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t used = strlen(id);
		if (!cpuinfo(parts[i].key, text, sizeof(text)))
			continue;
		text[strcspn(text, "\n")] = '\0';
		snprintf(id + used, sizeof(id) - used, "%s%.40s", parts[i].label, text);
	}
	say("cpu_id", "%s", id);
}

static void say_cache(hwloc_topology_t topology, const char *key, hwloc_obj_type_t type)
{
	hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);

	if (cache != NULL && cache->attr->cache.size != 0)
		say(key, "%llu", (unsigned long long)cache->attr->cache.size);
	else
		say(key, ABSENT);
}

/* The least time of the atomic steps that every allocate, publish and free takes, on a line of this
 * thread's own. Two machines of the same name may differ by several times. */
static void say_floor(void)
{
	static alignas(PFS_BENCH_LINE) _Atomic(uint32_t) word;
	uint64_t least = UINT64_MAX;

	for (int run = 0; run < FLOOR_RUNS; run++) {
		uint64_t begin = pfs_clock_wall_ns();
		for (int i = 0; i < FLOOR_STEPS; i++)
			pfs_floor_triple(&word);
		uint64_t took = pfs_clock_wall_ns() - begin;
		least = took < least ? took : least;
	}
	say("floor_ns", "%.2f", (double)least / FLOOR_STEPS);
}

static void say_cpu(void)
{
	char text[8192];
	struct utsname name;

	say("cpu_model", "%s", cpuinfo("model name", text, sizeof(text)) ? text : ABSENT);
	say_cpu_id();
	say("cpu_microcode", "%s", cpuinfo("microcode", text, sizeof(text)) ? text : ABSENT);
	if (cpuinfo("flags", text, sizeof(text)))
		say("hypervisor", "%s", strstr(text, " hypervisor") != NULL ? "yes" : "no");
	else
		say("hypervisor", ABSENT);
	if (uname(&name) == 0) {
		say("kernel", "%s %s %s", name.sysname, name.release, name.version);
		say("machine", "%s", name.machine);
	}
	say_file("governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	say_file("boost", "/sys/devices/system/cpu/cpufreq/boost");
	say_file("no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo");
	say_file("smt", "/sys/devices/system/cpu/smt/active");
	say_file("isolated", "/sys/devices/system/cpu/isolated");
	say_file("clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource");
}

static void say_memory(void)
{
	say_file("transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled");
	say_file("numa_balancing", "/proc/sys/kernel/numa_balancing");
	say_file("aslr", "/proc/sys/kernel/randomize_va_space");
	say("page_size", "%ld", sysconf(_SC_PAGESIZE));
}

static void say_load(void)
{
	say_file("pressure_cpu", "/proc/pressure/cpu");
	say_file("load", "/proc/loadavg");
	say_file("cgroup_cpu_max", "/sys/fs/cgroup/cpu.max");
}

static void say_topology(hwloc_topology_t topology)
{
	char *list = NULL;
	hwloc_cpuset_t bound = hwloc_bitmap_alloc();

	say("hwloc", "%d packages, %d NUMA nodes, %d cores, %d PUs%s",
	    hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE),
	    hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE),
	    hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE),
	    hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU),
	    hwloc_topology_is_thissystem(topology) ? "" : ", not this machine's");
	say("numa_nodes", "%d", hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE));
	say("allowed_pus", "%d", hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU));
	if (bound != NULL && hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_PROCESS) == 0 &&
	    hwloc_bitmap_list_asprintf(&list, bound) > 0)
		say("allowed_cpus", "%s", list);
	else
		say("allowed_cpus", ABSENT);
	free(list);
	hwloc_bitmap_free(bound);
}

static void say_build(const struct pfs_clock *clock, bool counted)
{
	const char *revision = getenv("PFS_GIT_REVISION");

	say("pfslab_version", "%s", PFS_BUILD_VERSION);
	say("compiler", "%s", PFS_BUILD_COMPILER);
	say("compiler_flags", "%s", PFS_BUILD_FLAGS);
	say("build_type", "%s", PFS_BUILD_TYPE);
	say("sanitizers", "%s", PFS_BUILD_SANITIZE[0] != '\0' ? PFS_BUILD_SANITIZE : "none");
	say("counted", "%s", counted ? "yes" : "no");
	say("git_revision", "%s", revision != NULL ? revision : PFS_BUILD_REVISION);
	char allocator[128];
	pfs_allocator_describe(allocator, sizeof(allocator));
	say("allocator", "%s", allocator);
	say("timer", "%s", clock->tsc ? "tsc" : "CLOCK_MONOTONIC");
	say("timer_cost_ns", "%.1f", clock->cost_ns);
	say("timer_step_ns", "%.3f", clock->step_ns);
	say("timer_ns_per_tick", "%.6f", clock->ns_per_tick);
}

void pfs_machine_describe(hwloc_topology_t topology, const struct pfs_clock *clock, bool counted)
{
	say_cpu();
	say_memory();
	say_load();
	say_topology(topology);
	say_cache(topology, "cache_l1d_bytes", HWLOC_OBJ_L1CACHE);
	say_cache(topology, "cache_l2_bytes", HWLOC_OBJ_L2CACHE);
	say_cache(topology, "cache_l3_bytes", HWLOC_OBJ_L3CACHE);
	say_floor();
	say_build(clock, counted);
}
