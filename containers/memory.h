/*
 * memory.h - the memory of container pages: OS pages of a chosen NUMA node.
 *
 * Invariant: memory that map returned as bound to node N lies on node N or has not been touched
 * yet; a request that cannot be bound is refused and never served with other memory. With first
 * touch nothing is bound or touched here: map names the caller's node, because the caller writes
 * the page's own bytes next. A record's bytes may lie where its first owner runs.
 * Ordering:  none of its own. The topology is read once (pthread_once) and is constant until the
 *            library is unloaded while no container holds it.
 * Source:    mmap, mbind through hwloc, mincore; the code is our own.
 *
 * Nodes are hwloc's logical indexes in the topology of this process's cpuset, the numbers that
 * lstopo prints. The topology is deliberately not restricted to the CPU binding, which would
 * renumber the nodes: a process started by taskset on node 2 would see it as node 0, and a node's
 * number would depend on the thread that asks first.
 *
 * A mapping is a whole number of OS pages: a container page of 20 KiB takes 5 of 4 KiB, one of 100
 * bytes takes one. The system grants memory before it has it: map cannot see that a node has none
 * left when its pages are touched.
 */
#ifndef PFS_CONTAINERS_MEMORY_H
#define PFS_CONTAINERS_MEMORY_H

#include <stdint.h>

#include <pfslab/config.h>
#include <pfslab/status.h>

/*
 * pfs_memory_hwloc - the machine's memory, the default source of every container.
 *
 * Returns   a constant source, or NULL: hwloc could not read the topology. Its map returns NULL for
 *           any refusal. Its unmap gives the bytes back to the system before it returns, even if
 *           the system refuses to unmap them (mapped.h).
 * Errors    none besides NULL.
 * Progress  blocking: the first call of the process reads the topology, others wait for it.
 * Order     none.
 * Cost      the first call some 10 ms; map and unmap one or two system calls each.
 * Source    our own; see struct pfs_memory_source.
 */
const struct pfs_memory_source *pfs_memory_hwloc(void);

/* The same; blocks of at least 2 MiB begin at multiples of 2 MiB and are advised to use huge
 * pages. */
const struct pfs_memory_source *pfs_memory_huge(void);

/* hold: keep the topology, as each container does from create to destroy. release: the end of the
 * library may free it. Blocking, on the lock of the list of containers (gate.h). */
void pfs_memory_hold(void);
void pfs_memory_release(void);

/*
 * pfs_memory_caller_node - the node on which the calling thread runs at this moment.
 *
 * Returns   a logical node, or PFS_NODE_MIXED: the system does not say, the node is not one of this
 *           process's, or the topology is not this machine's. Stale as soon as an unbound thread
 *           moves.
 * Errors    none.
 * Progress  wait-free after the first call of the process, which blocks as pfs_memory_hwloc.
 * Order     none.
 * Cost      one getcpu, no system call on x86-64, and one table read.
 * Source    getcpu(2): the node whose memory first touch would give.
 */
uint32_t pfs_memory_caller_node(void);

/*
 * pfs_memory_node_count - the number of nodes.
 *
 * Returns   the count, at least 1; 0 if hwloc could not read the topology.
 * Errors    none.
 * Progress  wait-free after the first call of the process, which blocks as pfs_memory_hwloc.
 * Order     none.
 * Cost      one load.
 * Source    our own.
 */
uint32_t pfs_memory_node_count(void);

/*
 * pfs_memory_check - check that this machine can do what the configuration asks for. It tries it,
 * because a sandbox may forbid what the topology promises.
 *
 * Returns   PFS_OK, or PFS_NO_NODE with a line in *message (which may be NULL).
 * Errors    PFS_NO_NODE; PFS_BAD_CONFIG for a value that is no enum pfs_memory. Nothing stays
 *           mapped.
 * Progress  blocking: system calls.
 * Order     none.
 * Cost      maps, binds, touches and gives back one OS page.
 * Source    our own.
 */
enum pfs_status pfs_memory_check(enum pfs_memory memory, uint32_t node,
				 struct pfs_message *message);

#endif
