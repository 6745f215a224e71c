/*
 * placement.c - compact, scatter, node:K and oversubscribe:F, on any hwloc topology.
 *
 * One list of PUs is made and sorted; thread i gets entry i, and past the end it wraps around.
 * hwloc_distrib is not used: it scatters, but knows neither "compact" nor "siblings last".
 */
#define _GNU_SOURCE
#include "placement.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command_line.h"
#include "nearest_node.h"

#define PFS_NODE_NONE UINT32_MAX

/* One PU this process may use, and where it stands. */
struct seat {
	uint32_t pu_logical;
	uint32_t pu_os;
	uint32_t node;      /* logical, or PFS_NODE_NONE */
	uint32_t core;      /* logical */
	uint32_t core_rank; /* of its core among the usable cores of the node */
	uint32_t smt_rank;  /* of the PU among the usable PUs of the core */
};

struct seats {
	struct seat *seat;
	uint32_t count;
};

/* The CPUs that the process might use before the benchmark bound its own threads: the mask of the
 * thread that asked first. The whole process's mask would be the union over all threads, including
 * ThreadSanitizer's own. */
static pthread_mutex_t usable_lock = PTHREAD_MUTEX_INITIALIZER;
static hwloc_cpuset_t usable;

static bool remember_usable(hwloc_topology_t topology)
{
	bool ok = true;
	pthread_mutex_lock(&usable_lock);
	if (usable == NULL && hwloc_topology_is_thissystem(topology)) {
		hwloc_bitmap_t now = hwloc_bitmap_alloc();
		ok = now != NULL && hwloc_get_cpubind(topology, now, HWLOC_CPUBIND_THREAD) == 0;
		if (ok)
			usable = now;
		else
			hwloc_bitmap_free(now);
	}
	pthread_mutex_unlock(&usable_lock);
	return ok;
}

hwloc_topology_t pfs_topology_load(void)
{
	hwloc_topology_t topology;
	if (hwloc_topology_init(&topology) != 0)
		return NULL;
	if (hwloc_topology_load(topology) != 0 || !remember_usable(topology)) {
		hwloc_topology_destroy(topology);
		return NULL;
	}
	return topology;
}

static bool is_usable(hwloc_topology_t topology, hwloc_obj_t pu)
{
	bool answer = true;
	if (!hwloc_topology_is_thissystem(topology))
		return true; /* another machine's CPUs: this process's mask says nothing of them */
	pthread_mutex_lock(&usable_lock);
	if (usable != NULL)
		answer = hwloc_bitmap_isset(usable, pu->os_index) != 0;
	pthread_mutex_unlock(&usable_lock);
	return answer;
}

static uint32_t home_node(hwloc_topology_t topology, hwloc_obj_t pu)
{
	hwloc_obj_t node = pfs_nearest_node(topology, pu);
	return node == NULL ? PFS_NODE_NONE : node->logical_index;
}

static int compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int by_neighbour(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;
	int order = compare(x->node, y->node);
	if (order == 0)
		order = compare(x->core, y->core);
	return order != 0 ? order : compare(x->pu_logical, y->pu_logical);
}

/* No core gets a second thread while another has none; then one node after the other. */
static int by_distance(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;
	int order = compare(x->smt_rank, y->smt_rank);
	if (order == 0)
		order = compare(x->core_rank, y->core_rank);
	if (order == 0)
		order = compare(x->node, y->node);
	return order != 0 ? order : compare(x->pu_logical, y->pu_logical);
}

/* The ranks follow from the compact order, in which neighbours are adjacent. */
static void rank_seats(struct seats *self)
{
	qsort(self->seat, self->count, sizeof(*self->seat), by_neighbour);
	for (uint32_t i = 1; i < self->count; i++) {
		const struct seat *before = &self->seat[i - 1];
		struct seat *seat = &self->seat[i];
		if (seat->node != before->node)
			continue; /* both ranks stay 0 */
		if (seat->core == before->core) {
			seat->core_rank = before->core_rank;
			seat->smt_rank = before->smt_rank + 1;
		} else {
			seat->core_rank = before->core_rank + 1;
		}
	}
}

/* The usable PUs of the topology, or of one node, in compact order. */
static bool find_seats(struct seats *self, hwloc_topology_t topology, hwloc_obj_t node)
{
	int pu_count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
	hwloc_obj_t pu = NULL;
	self->count = 0;
	self->seat = calloc((size_t)pu_count + 1, sizeof(*self->seat));
	if (self->seat == NULL)
		return false;
	while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu))) {
		hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
		if (!is_usable(topology, pu) ||
		    (node != NULL && !hwloc_bitmap_isset(node->cpuset, pu->os_index)))
			continue;
		self->seat[self->count++] = (struct seat){
			.pu_logical = pu->logical_index,
			.pu_os = pu->os_index,
			.node = home_node(topology, pu),
			.core = core != NULL ? core->logical_index : pu->logical_index,
		};
	}
	rank_seats(self);
	return true;
}

static bool read_number(const char *text, uint32_t *number)
{
	uint64_t value = 0;
	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
		if (value > UINT32_MAX)
			return false;
	}
	*number = (uint32_t)value;
	return true;
}

static enum pfs_status parse(const char *text, enum pfs_placement_kind *kind, uint32_t *parameter,
			     struct pfs_message *message)
{
	static const char on_node[] = "node:", oversubscribe[] = "oversubscribe:";
	*parameter = 0;
	if (strcmp(text, "none") == 0) {
		*kind = PFS_PLACEMENT_NONE;
	} else if (strcmp(text, "compact") == 0) {
		*kind = PFS_PLACEMENT_COMPACT;
	} else if (strcmp(text, "scatter") == 0) {
		*kind = PFS_PLACEMENT_SCATTER;
	} else if (strncmp(text, on_node, strlen(on_node)) == 0) {
		*kind = PFS_PLACEMENT_ON_NODE;
		if (!read_number(text + strlen(on_node), parameter))
			return pfs_say_why(message, PFS_BAD_CONFIG,
					   "placement %.80s: K of node:K is the "
					   "number of a NUMA node, as in node:0",
					   text);
	} else if (strncmp(text, oversubscribe, strlen(oversubscribe)) == 0) {
		*kind = PFS_PLACEMENT_OVERSUBSCRIBE;
		if (!read_number(text + strlen(oversubscribe), parameter) || *parameter == 0)
			return pfs_say_why(message, PFS_BAD_CONFIG,
					   "placement %.80s: F of oversubscribe:F "
					   "is the number of threads on each CPU, 1 or more",
					   text);
	} else {
		return pfs_say_why(message, PFS_BAD_CONFIG,
				   "placement %.80s: not known; choose none, "
				   "compact, scatter, node:K or oversubscribe:F",
				   text);
	}
	return PFS_OK;
}

static enum pfs_status find_node(hwloc_topology_t topology, uint32_t number, hwloc_obj_t *node,
				 struct pfs_message *message)
{
	uint32_t count = (uint32_t)hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
	if (number >= count && count == 1)
		return pfs_say_why(message, PFS_NO_NODE,
				   "placement node:%u: this machine has 1 NUMA node "
				   "(0); choose node:0, or another placement",
				   number);
	if (number >= count)
		return pfs_say_why(message, PFS_NO_NODE,
				   "placement node:%u: this machine has %u NUMA "
				   "nodes (0 to %u); choose one of them, or another placement",
				   number, count, count - 1);
	*node = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, number);
	if (hwloc_bitmap_iszero((*node)->cpuset))
		return pfs_say_why(message, PFS_NO_NODE,
				   "placement node:%u: this node has memory but no "
				   "CPU; choose another node",
				   number);
	return PFS_OK;
}

/* One seat to each thread; on success *self owns the arrays. */
static enum pfs_status seat_threads(struct pfs_placement *self, const struct seats *seats,
				    struct pfs_message *message)
{
	uint32_t share = self->kind == PFS_PLACEMENT_OVERSUBSCRIBE ? self->parameter : 1;
	uint32_t *array = calloc(self->thread_count, 3 * sizeof(*array));
	uint32_t wanted = self->thread_count / share + (self->thread_count % share != 0);
	if (array == NULL)
		return pfs_say_why(message, PFS_NO_MEMORY,
				   "threads %u: no memory for their placement", self->thread_count);
	self->pu_logical = array;
	self->pu_os = array + self->thread_count;
	self->node_logical = array + 2 * (size_t)self->thread_count;
	self->pu_count = wanted < seats->count ? wanted : seats->count;
	for (uint32_t i = 0; i < self->thread_count; i++) {
		const struct seat *seat = &seats->seat[i / share % seats->count];
		self->pu_logical[i] = seat->pu_logical;
		self->pu_os[i] = seat->pu_os;
		self->node_logical[i] = seat->node;
	}
	return PFS_OK;
}

static enum pfs_status place(struct pfs_placement *self, hwloc_topology_t topology,
			     struct pfs_message *message)
{
	hwloc_obj_t node = NULL;
	struct seats seats;
	enum pfs_status status;
	if (topology == NULL)
		return pfs_say_why(message, PFS_NO_NODE,
				   "placement: hwloc could not read this machine's "
				   "topology; try lstopo, or choose placement none");
	if (self->kind == PFS_PLACEMENT_ON_NODE) {
		status = find_node(topology, self->parameter, &node, message);
		if (status != PFS_OK)
			return status;
	}
	if (!find_seats(&seats, topology, node))
		return pfs_say_why(message, PFS_NO_MEMORY,
				   "placement: no memory for the list of CPUs");
	if (self->kind == PFS_PLACEMENT_SCATTER || self->kind == PFS_PLACEMENT_ON_NODE)
		qsort(seats.seat, seats.count, sizeof(*seats.seat), by_distance);
	if (seats.count == 0)
		status = pfs_say_why(message, PFS_NO_NODE,
				     "placement: this process may use no CPU %s; "
				     "widen its CPU mask (taskset), or choose placement none",
				     node != NULL ? "of that node" : "of the topology");
	else
		status = seat_threads(self, &seats, message);
	free(seats.seat);
	return status;
}

enum pfs_status pfs_placement_init(struct pfs_placement *self, hwloc_topology_t topology,
				   const char *text, uint32_t thread_count,
				   struct pfs_message *message)
{
	struct pfs_placement fresh = { .thread_count = thread_count };
	enum pfs_status status = parse(text, &fresh.kind, &fresh.parameter, message);
	if (status != PFS_OK)
		return status;
	if (thread_count == 0)
		return pfs_say_why(message, PFS_BAD_CONFIG,
				   "threads 0: nothing to place; give 1 or more");
	if (fresh.kind != PFS_PLACEMENT_NONE) {
		status = place(&fresh, topology, message);
		if (status != PFS_OK)
			return status;
	}
	*self = fresh;
	return PFS_OK;
}

void pfs_placement_fini(struct pfs_placement *self)
{
	free(self->pu_logical); /* the three arrays are one block */
	*self = (struct pfs_placement){ .kind = PFS_PLACEMENT_NONE };
}

enum pfs_status pfs_placement_bind(const struct pfs_placement *self, hwloc_topology_t topology,
				   uint32_t thread_index, struct pfs_message *message)
{
	hwloc_obj_t pu;
	if (thread_index >= self->thread_count)
		return pfs_say_why(message, PFS_BAD_CONFIG, "thread %u: %u threads were placed",
				   thread_index, self->thread_count);
	if (self->kind == PFS_PLACEMENT_NONE)
		return PFS_OK;
	/* On a topology of another machine hwloc binds nothing and reports success. */
	if (!hwloc_topology_is_thissystem(topology))
		return pfs_say_why(
			message, PFS_NO_NODE,
			"placement: hwloc describes another machine, no "
			"thread can be bound; unset HWLOC_SYNTHETIC and HWLOC_XMLFILE, or "
			"choose placement none");
	pu = hwloc_get_pu_obj_by_os_index(topology, self->pu_os[thread_index]);
	if (pu == NULL || hwloc_set_cpubind(topology, pu->cpuset,
					    HWLOC_CPUBIND_THREAD | HWLOC_CPUBIND_STRICT) != 0)
		return pfs_say_why(message, PFS_NO_NODE,
				   "placement: the system refuses to bind thread %u "
				   "to CPU %u (%s); choose placement none",
				   thread_index, self->pu_os[thread_index], strerror(errno));
	return PFS_OK;
}
