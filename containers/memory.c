/*
 * memory.c - the machine's memory as a pfs_memory_source. See memory.h for the invariant.
 *
 * mmap and munmap are called directly, not through hwloc_alloc: on a topology that is not this
 * machine's hwloc_alloc falls back to malloc, which neither zeroes memory nor gives it back.
 */
#define _GNU_SOURCE
#include "memory.h"

#include <errno.h>
#include <hwloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "atomic.h"
#include "gate.h"
#include "mapped.h"
#include "message.h"
#include "page_map.h"

/* The kernel's node indexes have holes; hwloc's logical ones have none. */
struct machine {
	hwloc_topology_t topology; /* read_machine only; NULL: could not be read */
	size_t os_page_bytes;      /* read_machine only */
	bool is_real;              /* read_machine only; false under HWLOC_SYNTHETIC, _XMLFILE */
	uint32_t node_count;       /* read_machine only */
	uint32_t os_node_count;    /* read_machine only; length of node_of_os */
	uint32_t *node_of_os;      /* read_machine only; logical node or PFS_NODE_MIXED */
};

static struct machine machine;
static pthread_once_t machine_once = PTHREAD_ONCE_INIT;
static uint64_t users; /* containers, counted from the start of create; under the list's lock */

static bool number_nodes(struct machine *self)
{
	hwloc_obj_t node = NULL;
	uint32_t os_node_count = 0;
	while ((node = hwloc_get_next_obj_by_type(self->topology, HWLOC_OBJ_NUMANODE, node))) {
		if (node->os_index >= os_node_count)
			os_node_count = node->os_index + 1;
		self->node_count++;
	}
	self->node_of_os = malloc((os_node_count + 1) * sizeof(*self->node_of_os));
	if (self->node_of_os == NULL)
		return false;
	for (uint32_t os_node = 0; os_node < os_node_count; os_node++)
		self->node_of_os[os_node] = PFS_NODE_MIXED;
	while ((node = hwloc_get_next_obj_by_type(self->topology, HWLOC_OBJ_NUMANODE, node)))
		self->node_of_os[node->os_index] = node->logical_index;
	self->os_node_count = os_node_count;
	return true;
}

static void read_machine(void)
{
	struct machine fresh = { .os_page_bytes = (size_t)sysconf(_SC_PAGESIZE) };
	if (hwloc_topology_init(&fresh.topology) != 0)
		return;
	if (hwloc_topology_load(fresh.topology) != 0 || !number_nodes(&fresh)) {
		hwloc_topology_destroy(fresh.topology);
		return;
	}
	fresh.is_real = hwloc_topology_is_thissystem(fresh.topology) != 0;
	machine = fresh; /* until the library is unloaded, see forget_machine */
}

void pfs_memory_hold(void)
{
	pfs_fork_list_lock();
	users++;
	pfs_fork_list_unlock();
}

void pfs_memory_release(void)
{
	pfs_fork_list_lock();
	users--;
	pfs_fork_list_unlock();
}

/* The library is unloaded, or the process ends. Other threads may still run then, and later code
 * may even make a container. So what is in use stays, and the rest can be read again. */
__attribute__((destructor)) static void forget_machine(void)
{
	static const pthread_once_t again = PTHREAD_ONCE_INIT;
	pfs_fork_list_lock();
	if (users == 0)
		pfs_page_map_forget();
	if (users == 0 && machine.topology != NULL) {
		hwloc_topology_destroy(machine.topology);
		free(machine.node_of_os);
		memset(&machine, 0, sizeof(machine));
		machine_once = again;
	}
	pfs_fork_list_unlock();
}

static const struct machine *get_machine(void)
{
	pthread_once(&machine_once, read_machine);
	return &machine;
}

static uint32_t caller_node(const struct machine *self)
{
	unsigned cpu, os_node;
	if (!self->is_real || getcpu(&cpu, &os_node) != 0 || os_node >= self->os_node_count)
		return PFS_NODE_MIXED;
	return self->node_of_os[os_node];
}

static bool bind_bytes(const struct machine *self, void *bytes, size_t size_bytes,
		       hwloc_membind_policy_t policy, hwloc_const_nodeset_t nodes)
{
	if (!self->is_real) /* hwloc would do nothing and return success */
		return false;
	return hwloc_set_area_membind(self->topology, bytes, size_bytes, nodes, policy,
				      HWLOC_MEMBIND_STRICT | HWLOC_MEMBIND_BYNODESET) == 0;
}

static bool bind_to_node(const struct machine *self, void *bytes, size_t size_bytes, uint32_t node)
{
	hwloc_obj_t object = NULL;
	if (node < self->node_count)
		object = hwloc_get_obj_by_type(self->topology, HWLOC_OBJ_NUMANODE, node);
	return object != NULL &&
	       bind_bytes(self, bytes, size_bytes, HWLOC_MEMBIND_BIND, object->nodeset);
}

/* A block that could not be unmapped still has the policy that it was bound with. If that cannot be
 * reset, the block stays bound to its old node: no bytes in use are on a wrong node. */
static void unbind(const struct machine *self, void *bytes, size_t size_bytes)
{
	if (self->is_real)
		(void)hwloc_set_area_membind(self->topology, bytes, size_bytes,
					     hwloc_topology_get_topology_nodeset(self->topology),
					     HWLOC_MEMBIND_DEFAULT, HWLOC_MEMBIND_BYNODESET);
}

/* Give the mapped bytes their node; false: refused. */
static bool place_bytes(const struct machine *self, void *bytes, size_t size_bytes,
			enum pfs_memory memory, uint32_t node_wanted, uint32_t *node_got)
{
	uint32_t node = node_wanted;
	switch (memory) {
	case PFS_MEMORY_FIRST_TOUCH: *node_got = caller_node(self); return true;
	case PFS_MEMORY_INTERLEAVE:
		*node_got = self->node_count == 1 ? 0 : PFS_NODE_MIXED;
		return bind_bytes(self, bytes, size_bytes, HWLOC_MEMBIND_INTERLEAVE,
				  hwloc_topology_get_topology_nodeset(self->topology));
	case PFS_MEMORY_LOCAL:
		if (node == PFS_NODE_MIXED)
			node = caller_node(self);
		break;
	case PFS_MEMORY_NODE: break;
	default: return false;
	}
	*node_got = node;
	return bind_to_node(self, bytes, size_bytes, node);
}

#define HUGE_BYTES ((size_t)2 << 20)

/* Memory at a multiple of HUGE_BYTES; NULL: none. */
static void *map_huge(size_t size_bytes)
{
	size_t room = size_bytes + HUGE_BYTES;
	char *bytes = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED)
		return NULL;
	size_t before = -(uintptr_t)bytes % HUGE_BYTES;
	if (before != 0)
		pfs_mapped_give(bytes, before);
	pfs_mapped_give(bytes + before + size_bytes, HUGE_BYTES - before);
	(void)madvise(bytes + before, size_bytes, MADV_HUGEPAGE); /* advice only */
	return bytes + before;
}

static void *place_or_unmap(void *context, void *bytes, size_t size_bytes, enum pfs_memory memory,
			    uint32_t node_wanted, uint32_t *node_got)
{
	uint32_t node = PFS_NODE_MIXED;
	if (!place_bytes(context, bytes, size_bytes, memory, node_wanted, &node)) {
		int reason = errno; /* of mbind, for pfs_memory_check */
		pfs_mapped_give(bytes, size_bytes);
		errno = reason;
		return NULL;
	}
	*node_got = node;
	return bytes;
}

static void *map(void *context, size_t size_bytes, enum pfs_memory memory, uint32_t node_wanted,
		 uint32_t *node_got)
{
	bool may_be_bound = pfs_mapped_kept() != 0;
	void *bytes = pfs_mapped_take(size_bytes);
	if (bytes == NULL)
		return NULL;
	if (may_be_bound && memory == PFS_MEMORY_FIRST_TOUCH)
		unbind(context, bytes, size_bytes);
	return place_or_unmap(context, bytes, size_bytes, memory, node_wanted, node_got);
}

static void *map_huge_or_not(void *context, size_t size_bytes, enum pfs_memory memory,
			     uint32_t node_wanted, uint32_t *node_got)
{
	if (size_bytes < HUGE_BYTES)
		return map(context, size_bytes, memory, node_wanted, node_got);
	void *bytes = map_huge(size_bytes);
	if (bytes == NULL)
		return NULL;
	return place_or_unmap(context, bytes, size_bytes, memory, node_wanted, node_got);
}

static void unmap(void *context, void *memory, size_t size_bytes)
{
	(void)context;
	pfs_mapped_give(memory, size_bytes);
}

static uint64_t resident(void *context, void *memory, size_t size_bytes)
{
	const struct machine *self = context;
	size_t os_page_bytes = self->os_page_bytes;
	size_t os_pages = (size_bytes + os_page_bytes - 1) / os_page_bytes;
	unsigned char present[1024];
	uint64_t resident_pages = 0;
	for (size_t at = 0; at < os_pages; at += sizeof(present)) {
		size_t count = os_pages - at < sizeof(present) ? os_pages - at : sizeof(present);
		void *begin = (char *)memory + at * os_page_bytes;
		if (mincore(begin, count * os_page_bytes, present) != 0)
			continue; /* not mapped: holds nothing */
		for (size_t page = 0; page < count; page++)
			resident_pages += present[page] & 1;
	}
	return resident_pages * os_page_bytes;
}

/* Private anonymous memory reads as zeros after this; a bound range stays bound. The system
 * discards no memory that the program locked (mlockall): it stays resident, as the program asked.
 */
static void discard(void *context, void *memory, size_t size_bytes)
{
	_Atomic(uint64_t) *words = memory;
	(void)context;
	if (madvise(memory, size_bytes, MADV_DONTNEED) == 0)
		return;
	/* [L5] release, pairs with [L6]: the FREE words go before the zeros, as in madvise. */
	for (size_t i = 0; i < size_bytes / sizeof(*words); i++)
		pfs_store_release(&words[i], 0);
}

static const struct pfs_memory_source hwloc_source = {
	.map = map, .unmap = unmap, .resident = resident, .context = &machine, .discard = discard
};

static const struct pfs_memory_source huge_source = { .map = map_huge_or_not,
						      .unmap = unmap,
						      .resident = resident,
						      .context = &machine,
						      .discard = discard };

const struct pfs_memory_source *pfs_memory_huge(void)
{
	return get_machine()->topology != NULL ? &huge_source : NULL;
}

const struct pfs_memory_source *pfs_memory_hwloc(void)
{
	return get_machine()->topology != NULL ? &hwloc_source : NULL;
}

uint32_t pfs_memory_caller_node(void)
{
	return caller_node(get_machine());
}

uint32_t pfs_memory_node_count(void)
{
	return get_machine()->node_count;
}

static const char *memory_name(enum pfs_memory memory)
{
	/* clang-format off */
	static const char *const name[] = {
		[PFS_MEMORY_FIRST_TOUCH] = "first-touch", [PFS_MEMORY_LOCAL] = "local",
		[PFS_MEMORY_INTERLEAVE] = "interleave", [PFS_MEMORY_NODE] = "node",
	};
	/* clang-format on */
	return name[memory];
}

static enum pfs_status no_such_node(const struct machine *self, uint32_t node,
				    struct pfs_message *message)
{
	if (self->node_count == 1)
		return pfs_message_set(message, PFS_NO_NODE,
				       "memory_node %u: this machine has 1 "
				       "NUMA node (0); choose 0, or another kind of memory",
				       node);
	return pfs_message_set(message, PFS_NO_NODE,
			       "memory_node %u: this machine has %u NUMA "
			       "nodes (0 to %u); choose one of them, or another kind of memory",
			       node, self->node_count, self->node_count - 1);
}

/* Is the topology this machine's, and does the system have the calls? */
static enum pfs_status check_support(const struct machine *self, enum pfs_memory memory,
				     struct pfs_message *message)
{
	const struct hwloc_topology_membind_support *can =
		hwloc_topology_get_support(self->topology)->membind;
	bool has_policy = memory == PFS_MEMORY_INTERLEAVE ? can->interleave_membind
							  : can->bind_membind;
	if (!self->is_real)
		return pfs_message_set(message, PFS_NO_NODE,
				       "memory %s: hwloc describes another "
				       "machine, no memory can be bound; unset HWLOC_SYNTHETIC and "
				       "HWLOC_XMLFILE, or choose memory first-touch",
				       memory_name(memory));
	if (!can->set_area_membind || !has_policy)
		return pfs_message_set(message, PFS_NO_NODE,
				       "memory %s: this system cannot bind "
				       "memory; choose memory first-touch",
				       memory_name(memory));
	if (memory == PFS_MEMORY_LOCAL && caller_node(self) == PFS_NODE_MIXED)
		return pfs_message_set(message, PFS_NO_NODE,
				       "memory local: this process may not "
				       "use the memory of the node it runs on (cpuset); choose "
				       "another kind of memory");
	return PFS_OK;
}

enum pfs_status pfs_memory_check(enum pfs_memory memory, uint32_t node, struct pfs_message *message)
{
	const struct machine *self = get_machine();
	uint32_t node_wanted = memory == PFS_MEMORY_NODE ? node : PFS_NODE_MIXED;
	uint32_t node_got;
	void *bytes;
	if ((unsigned)memory > PFS_MEMORY_NODE)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "memory %d: no such kind; see enum "
				       "pfs_memory",
				       (int)memory);
	if (self->topology == NULL)
		return pfs_message_set(message, PFS_NO_NODE,
				       "memory %s: hwloc could not read this "
				       "machine's topology; try lstopo",
				       memory_name(memory));
	if (memory == PFS_MEMORY_NODE && node >= self->node_count)
		return no_such_node(self, node, message);
	if (memory != PFS_MEMORY_FIRST_TOUCH) {
		enum pfs_status status = check_support(self, memory, message);
		if (status != PFS_OK)
			return status;
	}
	bytes = map(&machine, self->os_page_bytes, memory, node_wanted, &node_got);
	if (bytes == NULL)
		return pfs_message_set(message, PFS_NO_NODE,
				       "memory %s: the system refuses to bind "
				       "memory (%s); choose memory first-touch",
				       memory_name(memory), strerror(errno));
	*(volatile char *)bytes = 0;
	unmap(&machine, bytes, self->os_page_bytes);
	return PFS_OK;
}
