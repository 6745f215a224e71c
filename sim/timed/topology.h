/*
 * topology.h - the simulated machine's CPUs: which PUs share a core, an L3, a node or a package.
 *
 * From an hwloc synthetic string ("pack:2 numa:4 core:16 pu:2") or a file that lstopo wrote (lstopo
 * machine.xml). Numbers are hwloc's logical indexes. A PU's node is the one that first touch would
 * use: of those that contain it, the one that serves the fewest CPUs. Without an L3 in the
 * description, the cores of a node share one, or those of a package if that is smaller.
 */
#ifndef PFS_SIM_TOPOLOGY_H
#define PFS_SIM_TOPOLOGY_H

#include <stdint.h>

#include <pfslab/status.h>

#define PFS_TOPOLOGY_PU_MAX 1024u
#define PFS_TOPOLOGY_NODE_MAX 255u

/* One PU, and where it is. */
struct pfs_pu {
	uint16_t core, l3, node, package;
	uint16_t core_rank; /* of its core in the node */
	uint16_t smt_rank;  /* of the PU in its core */
};

struct pfs_topology {
	uint32_t pu_count, core_count, l3_count, node_count, package_count;
	struct pfs_pu *pu;  /* [pu_count] */
	uint16_t *package;  /* [node_count], of a node */
	uint32_t *distance; /* [node_count * node_count], as the firmware reports (10: itself), or
			     * NULL: unknown */
};

/*
 * pfs_topology_create - read a machine.
 *
 * Returns   PFS_OK; PFS_BAD_CONFIG with a line in *message: the string or the file cannot be read,
 *           or has more than PFS_TOPOLOGY_PU_MAX PUs; or PFS_NO_MEMORY.
 * Errors    as returned; *topology is then NULL. hwloc's own lines on stderr are silenced.
 * Progress  blocking (set-up).
 * Order     none.
 */
enum pfs_status pfs_topology_create(struct pfs_topology **topology, const char *spec,
				    struct pfs_message *message);
void pfs_topology_destroy(struct pfs_topology *self);

#endif
