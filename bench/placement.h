/*
 * placement.h - which PU each benchmark thread runs on, through hwloc.
 *
 * Uses only the process's allowed CPUs. What the machine cannot do is refused with one line.
 */
#ifndef PFS_BENCH_PLACEMENT_H
#define PFS_BENCH_PLACEMENT_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include <pfslab/status.h>

enum pfs_placement_kind {
	PFS_PLACEMENT_NONE,         /* none: the kernel places */
	PFS_PLACEMENT_COMPACT,      /* compact: fill a core, then a node */
	PFS_PLACEMENT_SCATTER,      /* scatter: node after node, siblings of a core last */
	PFS_PLACEMENT_ON_NODE,      /* node:K: only the PUs of logical node K, core after core */
	PFS_PLACEMENT_OVERSUBSCRIBE /* oversubscribe:F: F threads to each PU, compact */
};

struct pfs_placement {
	enum pfs_placement_kind kind;
	uint32_t parameter; /* K or F */
	uint32_t thread_count;
	uint32_t pu_count;      /* distinct PUs used; 0 for none */
	uint32_t *pu_logical;   /* thread_count entries, hwloc logical index; NULL for none */
	uint32_t *pu_os;        /* and the operating system's index */
	uint32_t *node_logical; /* and the NUMA node; UINT32_MAX: its node is not in the cpuset */
};

/* The topology of this process's cpuset, with distances, or NULL if hwloc fails; the caller
 * destroys it. It keeps the CPUs that taskset excluded: without them the nodes would have other
 * numbers than those of lstopo and the containers' memory. The first call remembers which CPUs the
 * calling thread may use, so make that one before any thread is bound; pfs_placement_init uses no
 * other CPU. HWLOC_SYNTHETIC and HWLOC_XMLFILE work as usual. */
hwloc_topology_t pfs_topology_load(void);

/* Place thread_count threads as text says ("compact", "node:1", ...). Threads beyond the PUs wrap
 * around and share. PFS_BAD_CONFIG or PFS_NO_NODE with a line in *message. */
enum pfs_status pfs_placement_init(struct pfs_placement *self, hwloc_topology_t topology,
				   const char *text, uint32_t thread_count,
				   struct pfs_message *message);
void pfs_placement_fini(struct pfs_placement *self);

/* Bind the calling thread to its PU. PFS_NO_NODE with a line if the system refuses or the topology
 * is not this machine's: a synthetic placement never counts as a real one. */
enum pfs_status pfs_placement_bind(const struct pfs_placement *self, hwloc_topology_t topology,
				   uint32_t thread_index, struct pfs_message *message);

#endif
