/*
 * nearest_node.h - the node that first touch would use, of a real or a described machine.
 */
#ifndef PFS_BENCH_NEAREST_NODE_H
#define PFS_BENCH_NEAREST_NODE_H

#include <hwloc.h>

/* Of the nodes that contain the PU (DRAM, HBM, CXL) the one that serves the fewest CPUs is nearest;
 * among equals the default memory, which the system numbers first. NULL: none contains it. */
static inline hwloc_obj_t pfs_nearest_node(hwloc_topology_t topology, hwloc_obj_t pu)
{
	hwloc_obj_t best = NULL, node = NULL;
	int best_weight = 0;
	while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node))) {
		int weight = hwloc_bitmap_weight(node->cpuset);
		if (!hwloc_bitmap_isset(node->cpuset, pu->os_index))
			continue;
		if (best == NULL || weight < best_weight ||
		    (weight == best_weight && node->os_index < best->os_index)) {
			best = node;
			best_weight = weight;
		}
	}
	return best;
}

#endif
