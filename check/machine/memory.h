/*
 * memory.h - memory that a simulated program maps, whose state (mapped or gone) is known.
 *
 * Addresses are never used twice in one execution, and memory that was given back stays
 * inaccessible until the machine is reset. A late access through the machine is found in a table, a
 * plain one by the hardware. What a final check gives back at the end is hidden from the hardware
 * only if `hides` is set: that costs two system calls a page.
 *
 * If `reuses` is set, the lowest pages that were given back are mapped again, so that a run without
 * end needs finitely many addresses. Nothing is hidden then: plain accesses too are checked against
 * the table, if they are reported (plain.h). A map comes after the unmaps of its pages, as with a
 * kernel's lock.
 */
#ifndef PFS_SIM_MEMORY_H
#define PFS_SIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFS_SIM_OS_PAGE ((size_t)4096)
#define PFS_SIM_NODE_MIXED UINT32_MAX          /* of no single node */
#define PFS_SIM_REGION_PAGES ((size_t)1 << 20) /* 4 GiB of addresses; memory as touched */

enum pfs_sim_memory_state { PFS_SIM_UNUSED, PFS_SIM_MAPPED, PFS_SIM_GONE };

struct pfs_sim_memory {
	char *region;
	char *mapping;        /* contains the region */
	uint8_t *states;      /* enum pfs_sim_memory_state of each OS page of the region */
	uint32_t used;        /* OS pages handed out since the reset */
	uint64_t mapped;      /* map calls whose memory is still mapped */
	uint64_t refuse_from; /* number of the first map call that is refused; 0: none */
	uint64_t maps;        /* map calls since the reset */
	bool hides;           /* memory given back is also hidden from the hardware */
	uint64_t hidden;      /* pages hidden since the reset */
	bool reuses;          /* until the reset */
	uint64_t turn;        /* with `reuses`: exchanged by each map and unmap */
	uint16_t *nodes;      /* of each OS page that was handed out */
	uint32_t node_count;  /* that interleaved memory is spread over; 0: 1 */
	/* Called when memory was mapped, to charge its cost. Optional. */
	void (*on_map)(void *context, uint32_t os_page_count);
	void *on_map_context;
};

int pfs_sim_memory_init(struct pfs_sim_memory *self);
void pfs_sim_memory_fini(struct pfs_sim_memory *self);
void pfs_sim_memory_reset(struct pfs_sim_memory *self);

/* Zeroes on a node, or spread over all (PFS_SIM_NODE_MIXED); NULL: refused, or no address left. */
void *pfs_sim_memory_map(struct pfs_sim_memory *self, size_t size_bytes, uint32_t node);
void pfs_sim_memory_unmap(struct pfs_sim_memory *self, void *memory, size_t size_bytes);
/* What the system holds for size_bytes: whole pages. */
size_t pfs_sim_memory_bytes(size_t size_bytes);

/* Which pages there are, if none was hidden. */
struct pfs_machine_snapshot;
void pfs_sim_memory_keep(struct pfs_sim_memory *self, struct pfs_machine_snapshot *snapshot);
/* The host's entries for the region's pages (host.h); NULL: it keeps none. */
void *pfs_sim_memory_entries(const struct pfs_sim_memory *self);
/* Before a snapshot of `pages` pages is restored: make these writable, and no others. */
void pfs_sim_memory_return(struct pfs_sim_memory *self, uint32_t pages);

/* Is the address in the region? *state says what is there. */
static inline bool pfs_sim_memory_has(const struct pfs_sim_memory *self, const void *address,
				      enum pfs_sim_memory_state *state)
{
	size_t offset = (uintptr_t)address - (uintptr_t)self->region;
	if (offset >= PFS_SIM_REGION_PAGES * PFS_SIM_OS_PAGE)
		return false;
	*state = (enum pfs_sim_memory_state)self->states[offset / PFS_SIM_OS_PAGE];
	return true;
}

/* The node of an address; PFS_SIM_NODE_MIXED: it is not in the region. */
uint32_t pfs_sim_memory_node(const struct pfs_sim_memory *self, const void *address);

#endif
