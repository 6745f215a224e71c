/*
 * calibrate.c - the program behind `pfs-sim calibrate`: finds pairs of PUs, measures in rounds,
 * writes the file of costs.
 */
#define _GNU_SOURCE
#include "sim/calibrate/calibrate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/placement.h"
#include "base/command_line.h"
#include "base/output.h"
#include "containers/barrier.h"

#define ROUNDS_MIN 3u

static struct pfs_calibration calibration;

static const char program[] = "pfs-sim calibrate";

#define refuse(...) pfs_command_refuse(program, PFS_EXIT_WRONG_USE, __VA_ARGS__)

static hwloc_obj_t above(const struct pfs_calibration *self, uint32_t pu_os, hwloc_obj_type_t type)
{
	hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(self->topology, pu_os);
	return hwloc_get_ancestor_obj_by_type(self->topology, type, pu);
}

static bool share(const struct pfs_calibration *self, uint32_t a, uint32_t b, hwloc_obj_type_t type)
{
	hwloc_obj_t object = above(self, a, type);
	return object != NULL && object == above(self, b, type);
}

/* As sim/timed/topology.c sees it: without an L3 in the description, the cores of a node share
 * one. */
static enum pfs_pair_kind kind_of(const struct pfs_calibration *self,
				  const struct pfs_placement *all, uint32_t a, uint32_t b)
{
	uint32_t x = all->pu_os[a], y = all->pu_os[b];
	bool node = all->node_logical[a] == all->node_logical[b];
	bool has_l3 = hwloc_get_nbobjs_by_type(self->topology, HWLOC_OBJ_L3CACHE) > 0;
	if (share(self, x, y, HWLOC_OBJ_CORE))
		return PFS_PAIR_SMT;
	if (has_l3 ? share(self, x, y, HWLOC_OBJ_L3CACHE) : node)
		return PFS_PAIR_L3;
	if (node)
		return PFS_PAIR_NODE;
	return share(self, x, y, HWLOC_OBJ_PACKAGE) ? PFS_PAIR_PACKAGE : PFS_PAIR_REMOTE;
}

static void destroy_pair(struct pfs_pair *self)
{
	if (self == NULL)
		return;
	pfs_pool_destroy(self->pool);
	pfs_placement_fini(&self->placement);
	free(self);
}

/* Two threads on the a-th and the b-th of all PUs; NULL after a line in *message. */
static struct pfs_pair *make_pair(struct pfs_calibration *self, const struct pfs_placement *all,
				  uint32_t a, uint32_t b, struct pfs_message *message)
{
	const uint32_t chosen[2] = { a, b };
	struct pfs_pair *pair = aligned_alloc(alignof(struct pfs_pair), sizeof(*pair));
	if (pair == NULL) {
		(void)snprintf(message->text, sizeof(message->text), "no memory for two threads");
		return NULL;
	}
	memset(pair, 0, sizeof(*pair));
	if (pfs_placement_init(&pair->placement, self->topology, "compact", 2, message) != PFS_OK) {
		free(pair);
		return NULL;
	}
	for (uint32_t i = 0; i < 2; i++) {
		pair->placement.pu_os[i] = pair->pu_os[i] = all->pu_os[chosen[i]];
		pair->placement.pu_logical[i] = pair->pu_logical[i] = all->pu_logical[chosen[i]];
		pair->placement.node_logical[i] = all->node_logical[chosen[i]];
	}
	if (pfs_pool_create(&pair->pool, &pair->placement, self->topology, message) != PFS_OK) {
		pair->pool = NULL;
		destroy_pair(pair);
		return NULL;
	}
	return pair;
}

/* The first pair of each kind. 0, or 2 after a line on stderr. */
static int find_pairs(struct pfs_calibration *self)
{
	struct pfs_placement all;
	struct pfs_message message;
	int count = hwloc_get_nbobjs_by_type(self->topology, HWLOC_OBJ_PU);
	if (pfs_placement_init(&all, self->topology, "compact", (uint32_t)count, &message) !=
	    PFS_OK)
		return refuse("%s", message.text);
	self->pu_count = all.pu_count;
	bool good = all.pu_count >= 2;
	for (uint32_t a = 0; good && a < all.pu_count; a++) {
		for (uint32_t b = a + 1; good && b < all.pu_count; b++) {
			enum pfs_pair_kind kind = kind_of(self, &all, a, b);
			if (self->pairs[kind] != NULL)
				continue;
			self->pairs[kind] = make_pair(self, &all, a, b, &message);
			good = self->pairs[kind] != NULL;
		}
	}
	if (good) {
		self->same = make_pair(self, &all, 0, 0, &message);
		good = self->same != NULL;
	}
	pfs_placement_fini(&all);
	if (good)
		return 0;
	if (self->pu_count < 2)
		return refuse("this process may use %u CPU; a line needs two to go from one to the "
			      "other: widen the CPU mask (taskset, cgroup), or use a preset",
			      self->pu_count);
	/* The placement's message advises not to bind threads, which is no option here. */
	char *advice = strstr(message.text, "; choose placement none");
	if (advice == NULL)
		advice = strstr(message.text, ", or choose placement none");
	if (advice != NULL)
		*advice = '\0';
	return refuse("%s", message.text);
}

/* In KiB, of the first PU that is used. */
static void read_caches(struct pfs_calibration *self, uint32_t pu_os)
{
	static const hwloc_obj_type_t types[3] = { HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE,
						   HWLOC_OBJ_L3CACHE };
	for (uint32_t i = 0; i < 3; i++) {
		hwloc_obj_t cache = above(self, pu_os, types[i]);
		if (cache != NULL && cache->attr != NULL)
			self->cache_kib[i] = (double)cache->attr->cache.size / 1024;
	}
}

static void show_progress(const struct pfs_calibration *self, double spent)
{
	const char *term = getenv("TERM");
	if (isatty(STDERR_FILENO) && (term == NULL || strcmp(term, "dumb") != 0))
		(void)fprintf(stderr, "\rcalibrating: %3.0f %%",
			      fmin(100, 100 * spent / self->seconds));
}

static void measure(struct pfs_calibration *self)
{
	struct pfs_pair *first = NULL;
	for (uint32_t kind = PFS_PAIR_KINDS; kind-- > 0;) {
		if (self->pairs[kind] != NULL && (first == NULL || kind != PFS_PAIR_SMT))
			first = self->pairs[kind]; /* not siblings: these measure one core alone */
	}
	uint64_t begin = pfs_clock_wall_ns();
	double spent = 0;
	for (uint32_t round = 0; round < PFS_ROUNDS_MAX; round++) {
		if (round >= ROUNDS_MIN && spent >= self->seconds)
			break;
		pfs_calibrate_core(self, first);
		for (uint32_t kind = 0; kind < PFS_PAIR_KINDS; kind++) {
			if (self->pairs[kind] != NULL)
				pfs_calibrate_pair(self, self->pairs[kind], kind);
		}
		pfs_calibrate_kernel(self, first);
		pfs_calibrate_same_pu(self, self->same);
		if (self->seconds >= 2 && round % 16 == 1)
			pfs_calibrate_slice(self, self->same);
		spent = (double)(pfs_clock_wall_ns() - begin) / 1e9;
		show_progress(self, spent);
	}
	self->seconds = spent;
	pfs_series_summarize(self);
}

static int write_file(struct pfs_calibration *self, struct pfs_output *output, const char *path,
		      const char *preset)
{
	pfs_calibrate_write(self, preset, output->file);
	if (pfs_output_end(output))
		return 0;
	return refuse("--out '%s': %s; name a file that you may write", path, strerror(errno));
}

struct arguments {
	const char *out, *preset;
	double seconds;
};

/* PFS_GO_ON, or the exit status. */
static int read_arguments(struct arguments *self, int argc, char **argv)
{
	const struct pfs_option options[] = {
		PFS_TEXT_OPTION("out", "FILE", &self->out, "the file; default: calibration.json"),
		PFS_REAL_OPTION("seconds", "S", &self->seconds, 0.1, 3600,
				"how long to measure, "
				"0.1 to 3600; default 10"),
		PFS_TEXT_OPTION("preset", "P", &self->preset,
				"gives the costs that this machine "
				"can't tell; default: " PFS_COSTS_DEFAULT),
	};
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = program, .words = "", .options = options,
		.option_count = sizeof(options) / sizeof(options[0]),
		.about = "Measures what accesses to memory cost on this machine, with threads "
			 "pinned to its PUs, and writes a file for pfs-sim run --costs FILE. Needs "
			 "2 CPUs and a machine that is otherwise idle.",
		.after = "exit 0: written. 2: bad usage, one CPU only, threads can't be pinned, "
			 "FILE can't be\nwritten.\n",
	};
	/* clang-format on */
	return pfs_command_line_read(&line, argc, argv, NULL);
}

static bool is_preset(const char *name)
{
	for (size_t at = 0; pfs_costs_preset(at) != NULL; at++) {
		if (strcmp(pfs_costs_preset(at), name) == 0)
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct pfs_calibration *self = &calibration;
	struct arguments arguments = { "calibration.json", PFS_COSTS_DEFAULT, 10 };
	int status = read_arguments(&arguments, argc, argv);
	if (status != PFS_GO_ON)
		return status;
	if (!is_preset(arguments.preset))
		return refuse("--preset '%.80s': choose from two-socket, desktop, epyc, graviton",
			      arguments.preset);
	struct pfs_output
		output; /* opened before the measurement, so that a failure costs no time */
	if (!pfs_output_begin(&output, arguments.out))
		return refuse("--out '%s': %s; name a file that you may write", arguments.out,
			      strerror(errno));
	self->seconds = arguments.seconds;
	self->topology = pfs_topology_load();
	if (self->topology == NULL) {
		pfs_output_drop(&output);
		return refuse("hwloc can't read this machine's topology; try lstopo");
	}
	pfs_clock_init(&self->clock);
	status = find_pairs(self);
	if (status == 0) {
		read_caches(self, self->same->pu_os[0]);
		if (!pfs_calibrate_prepare_core(self))
			status = refuse("no memory for the measurements");
	}
	if (status == 0) {
		measure(self);
		status = write_file(self, &output, arguments.out, arguments.preset);
	} else {
		pfs_output_drop(&output);
	}
	if (status == 0)
		pfs_calibrate_print(self, arguments.preset, stdout);
	pfs_calibrate_forget_core(self);
	for (uint32_t kind = 0; kind < PFS_PAIR_KINDS; kind++)
		destroy_pair(self->pairs[kind]);
	destroy_pair(self->same);
	hwloc_topology_destroy(self->topology);
	return pfs_command_end(program, status);
}
