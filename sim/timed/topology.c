#define _GNU_SOURCE
#include "sim/timed/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <hwloc/distances.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/nearest_node.h"
#include "containers/message.h"

/* How many PUs a synthetic string makes: the product of its counts, without what is attached
 * in brackets or described in parentheses. hwloc would try to build a million. */
static uint64_t product_of(const char *spec)
{
	uint64_t product = 1;
	int depth = 0;
	for (const char *at = spec; *at != '\0'; at++) {
		depth += (*at == '[' || *at == '(') - (*at == ']' || *at == ')');
		if (*at != ':' || depth != 0)
			continue;
		uint64_t count = strtoull(at + 1, NULL, 0); /* "0x10", as hwloc reads it */
		if (count > PFS_TOPOLOGY_PU_MAX || product > PFS_TOPOLOGY_PU_MAX)
			return UINT64_MAX;
		product *= count != 0 ? count : 1;
	}
	return product;
}

/* Is it a path, or an existing file? A synthetic string always has a colon. */
static bool is_file(const char *spec)
{
	size_t length = strlen(spec);
	return access(spec, F_OK) == 0 || strchr(spec, '/') != NULL ||
	       (length > 4 && strcmp(spec + length - 4, ".xml") == 0) || strchr(spec, ':') == NULL;
}

/* hwloc and libxml2 write to stderr, but a caller wants one line. */
static int silence(void)
{
	(void)fflush(stderr);
	int kept = dup(STDERR_FILENO);
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (kept >= 0 && nowhere >= 0)
		(void)dup2(nowhere, STDERR_FILENO);
	if (nowhere >= 0)
		(void)close(nowhere);
	return kept;
}

static void speak(int kept)
{
	if (kept < 0)
		return;
	(void)fflush(stderr);
	(void)dup2(kept, STDERR_FILENO);
	(void)close(kept);
}

static bool load_into(hwloc_topology_t *hwloc, const char *spec, bool file)
{
	if (hwloc_topology_init(hwloc) != 0)
		return false;
	if ((file ? hwloc_topology_set_xml(*hwloc, spec)
		  : hwloc_topology_set_synthetic(*hwloc, spec)) == 0 &&
	    hwloc_topology_load(*hwloc) == 0)
		return true;
	hwloc_topology_destroy(*hwloc);
	return false;
}

/* hwloc 2 reads beyond its objects if a damaged file contradicts itself, so a child tries first. */
static bool survives(const char *spec)
{
	const struct rlimit no_core = { 0, 0 };
	hwloc_topology_t hwloc;
	int state = 0;
	pid_t child = fork();
	if (child == 0) {
		(void)setrlimit(RLIMIT_CORE, &no_core);
		bool good = load_into(&hwloc, spec, true);
		if (good)
			hwloc_topology_destroy(hwloc);
		_exit(good ? 0 : 1);
	}
	return child > 0 && waitpid(child, &state, 0) == child && WIFEXITED(state) &&
	       WEXITSTATUS(state) == 0;
}

/* NULL, or what is wrong: the file must be regular and not empty. */
static const char *why_unreadable(const char *path)
{
	struct stat about;
	if (stat(path, &about) != 0)
		return strerror(errno);
	if (!S_ISREG(about.st_mode))
		return "is no regular file";
	if (about.st_size == 0)
		return "is empty";
	return access(path, R_OK) != 0 ? strerror(errno) : NULL;
}

static enum pfs_status load(hwloc_topology_t *hwloc, const char *spec, struct pfs_message *message)
{
	bool file = is_file(spec);
	const char *why = file ? why_unreadable(spec) : NULL;
	if (why != NULL)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "machine %.120s: %s; give a file written by "
				       "`lstopo FILE.xml`, or a string such as "
				       "\"pack:2 numa:4 core:16 pu:2\"",
				       spec, why);
	if (!file && product_of(spec) > PFS_TOPOLOGY_PU_MAX)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "machine \"%.120s\": more than %u PUs; make it smaller",
				       spec, PFS_TOPOLOGY_PU_MAX);
	int kept = silence();
	bool good = (!file || survives(spec)) && load_into(hwloc, spec, file);
	speak(kept);
	if (good)
		return PFS_OK;
	return pfs_message_set(message, PFS_BAD_CONFIG,
			       file ? "machine %.120s: is no topology; write one with "
				      "`lstopo FILE.xml`"
				    : "machine \"%.120s\": hwloc can't read it; a string such as "
				      "\"pack:2 numa:4 core:16 pu:2\" goes from the outside in",
			       spec);
}

static uint16_t index_of(hwloc_topology_t hwloc, hwloc_obj_t pu, hwloc_obj_type_t type,
			 uint16_t otherwise)
{
	hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(hwloc, type, pu);
	return found != NULL ? (uint16_t)found->logical_index : otherwise;
}

static uint32_t count_of(hwloc_topology_t hwloc, hwloc_obj_type_t type)
{
	int count = hwloc_get_nbobjs_by_type(hwloc, type);
	return count > 0 ? (uint32_t)count : 0;
}

/* False: a PU is in no core, or in a core that is not counted. */
static bool read_pus(struct pfs_topology *self, hwloc_topology_t hwloc)
{
	bool has_cores = count_of(hwloc, HWLOC_OBJ_CORE) != 0;
	bool has_packages = count_of(hwloc, HWLOC_OBJ_PACKAGE) != 0; /* else each node is one */
	bool has_l3 = count_of(hwloc, HWLOC_OBJ_L3CACHE) != 0;
	uint16_t core_rank[PFS_TOPOLOGY_PU_MAX], smt_rank[PFS_TOPOLOGY_PU_MAX] = { 0 };
	uint16_t cores_of_node[PFS_TOPOLOGY_NODE_MAX] = { 0 };
	for (uint32_t at = 0; at < self->pu_count; at++) {
		hwloc_obj_t pu = hwloc_get_obj_by_type(hwloc, HWLOC_OBJ_PU, at);
		hwloc_obj_t node = pfs_nearest_node(hwloc, pu);
		struct pfs_pu *to = &self->pu[at];
		to->node = node != NULL ? (uint16_t)node->logical_index : 0;
		to->package = has_packages ? index_of(hwloc, pu, HWLOC_OBJ_PACKAGE, 0) : to->node;
		to->core = index_of(hwloc, pu, HWLOC_OBJ_CORE,
				    has_cores ? UINT16_MAX : (uint16_t)at);
		to->l3 = has_l3 ? index_of(hwloc, pu, HWLOC_OBJ_L3CACHE, 0)
			 : self->node_count < self->package_count ? to->package
								  : to->node;
		if (to->core >= self->core_count || to->node >= self->node_count ||
		    to->package >= self->package_count)
			return false;
		to->smt_rank = smt_rank[to->core]++;
		if (to->smt_rank == 0)
			core_rank[to->core] = cores_of_node[to->node]++;
		to->core_rank = core_rank[to->core];
		self->package[to->node] = to->package;
	}
	self->l3_count = has_l3 ? count_of(hwloc, HWLOC_OBJ_L3CACHE)
			 : self->node_count < self->package_count ? self->package_count
								  : self->node_count;
	return true;
}

/* Only what the description has, never this machine's own. */
static void read_distances(struct pfs_topology *self, hwloc_topology_t hwloc)
{
	struct hwloc_distances_s *found;
	unsigned count = 1;
	size_t cells = (size_t)self->node_count * self->node_count;
	if (hwloc_distances_get_by_type(hwloc, HWLOC_OBJ_NUMANODE, &count, &found,
					HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
	    count == 0)
		return;
	self->distance = calloc(cells, sizeof(*self->distance));
	for (unsigned i = 0; self->distance != NULL && i < found->nbobjs; i++) {
		for (unsigned k = 0; k < found->nbobjs; k++)
			self->distance[found->objs[i]->logical_index * self->node_count +
				       found->objs[k]->logical_index] =
				(uint32_t)found->values[i * found->nbobjs + k];
	}
	for (size_t i = 0; self->distance != NULL && i < cells; i++) {
		if (self->distance[i] != 0)
			continue;
		free(self->distance); /* given for some nodes only: ignored */
		self->distance = NULL;
	}
	hwloc_distances_release(hwloc, found);
}

static enum pfs_status read_all(struct pfs_topology *self, hwloc_topology_t hwloc, const char *spec,
				struct pfs_message *message)
{
	self->pu_count = count_of(hwloc, HWLOC_OBJ_PU);
	self->node_count = count_of(hwloc, HWLOC_OBJ_NUMANODE);
	self->core_count = count_of(hwloc, HWLOC_OBJ_CORE);
	self->package_count = count_of(hwloc, HWLOC_OBJ_PACKAGE);
	if (self->pu_count > PFS_TOPOLOGY_PU_MAX || self->core_count > PFS_TOPOLOGY_PU_MAX ||
	    self->node_count > PFS_TOPOLOGY_NODE_MAX)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "machine %.120s: more than %u PUs or %u nodes; make it "
				       "smaller",
				       spec, PFS_TOPOLOGY_PU_MAX, PFS_TOPOLOGY_NODE_MAX);
	if (self->core_count == 0)
		self->core_count = self->pu_count;
	if (self->node_count == 0)
		self->node_count = 1;
	if (self->package_count == 0)
		self->package_count = self->node_count;
	self->pu = calloc(self->pu_count, sizeof(*self->pu));
	self->package = calloc(self->node_count, sizeof(*self->package));
	if (self->pu == NULL || self->package == NULL)
		return pfs_message_set(message, PFS_NO_MEMORY, "no memory for the topology");
	if (self->pu_count == 0 || !read_pus(self, hwloc))
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "machine %.120s: its PUs do not fit its cores, nodes and "
				       "packages; write it again with `lstopo FILE.xml`",
				       spec);
	read_distances(self, hwloc);
	return PFS_OK;
}

enum pfs_status pfs_topology_create(struct pfs_topology **topology, const char *spec,
				    struct pfs_message *message)
{
	hwloc_topology_t hwloc;
	*topology = NULL;
	enum pfs_status status = load(&hwloc, spec, message);
	if (status != PFS_OK)
		return status;
	struct pfs_topology *self = calloc(1, sizeof(*self));
	status = self != NULL
			 ? read_all(self, hwloc, spec, message)
			 : pfs_message_set(message, PFS_NO_MEMORY, "no memory for the topology");
	hwloc_topology_destroy(hwloc);
	if (status == PFS_OK)
		*topology = self;
	else
		pfs_topology_destroy(self);
	return status;
}

void pfs_topology_destroy(struct pfs_topology *self)
{
	if (self == NULL)
		return;
	free(self->pu);
	free(self->package);
	free(self->distance);
	free(self);
}
