/*
 * seams.c - the simulated machine in place of the system below the containers: memory, the
 * caller's node, and panics, which end the execution instead of the process. There is no
 * background thread, because time does not pass by itself.
 */
#include <stdio.h>
#include <string.h>

#include "containers/barrier.h"
#include "containers/compiler.h"
#include "containers/container.h"
#include "variants/magazine/magazine.h"
#include "containers/memory.h"
#include "containers/message.h"
#include "containers/page_map.h"
#include "variants/exact/occupancy.h"
#include "variants/exact/proof.h"
#include "containers/reclaimer.h"
#include "check/machine/host.h"
#include "check/machine/model.h"
#include "sim/seams/seams.h"

static void *map(void *unused, size_t size_bytes, enum pfs_memory memory, uint32_t node_wanted,
		 uint32_t *node_got)
{
	(void)unused;
	*node_got = memory == PFS_MEMORY_INTERLEAVE ? PFS_NODE_MIXED : node_wanted;
	return pfs_sim_memory_map(&pfs_machine_current()->memory, size_bytes, *node_got);
}

static void unmap(void *unused, void *memory, size_t size_bytes)
{
	(void)unused;
	pfs_sim_memory_unmap(&pfs_machine_current()->memory, memory, size_bytes);
}

static uint64_t resident(void *unused, void *memory, size_t size_bytes)
{
	(void)unused, (void)memory;
	return pfs_sim_memory_bytes(size_bytes);
}

/* As madvise: every CPU has passed a barrier before the bytes are zeros. So a thread that reads
 * such a zero sees the words FREE, which the library stored before. */
static void discard(void *unused, void *memory, size_t size_bytes)
{
	(void)unused;
	pfs_machine_barrier();
	memset(memory, 0, size_bytes);
}

/* Of the machine that is current when it is called. */
static const struct pfs_memory_source simulated = { map,  unmap,           resident,
						    NULL, PFS_SIM_OS_PAGE, discard };
_Static_assert(PFS_SIM_NODE_MIXED == PFS_NODE_MIXED, "memory of no single node");

const struct pfs_memory_source *pfs_memory_hwloc(void)
{
	return pfs_machine_current() != NULL ? &simulated : NULL;
}

/* ---- the page map's entries for the machine's memory ---- */

static void clear(const void *first, size_t size_bytes)
{
	pfs_page_map_set(first, size_bytes, NULL);
}

static void *entries_of(const void *first)
{
	size_t granule = (uintptr_t)first >> PFS_GRANULE_BITS;
	struct pfs_page_map_leaf *leaf = pfs_page_map_leaf_of((uintptr_t)first);
	return (void *)&leaf->owners[granule % (1u << PFS_LEAF_BITS)];
}

static const struct pfs_host_entries entries = { pfs_page_map_reserve, clear, entries_of };
const struct pfs_host_entries *const pfs_host_entries = &entries;

/* ---- memory, nodes ---- */

const struct pfs_memory_source *pfs_memory_huge(void)
{
	return pfs_memory_hwloc();
}

void pfs_memory_hold(void) {}

void pfs_memory_release(void) {}

uint32_t pfs_memory_caller_node(void)
{
	const struct pfs_machine *machine = pfs_machine_current();
	if (machine == NULL)
		return 0;
	return machine->run.running != NULL ? machine->run.running->node : machine->aside.node;
}

uint32_t pfs_memory_node_count(void)
{
	const struct pfs_machine *machine = pfs_machine_current();
	uint32_t chosen = machine != NULL ? machine->setup.node_count : 0;
	uint32_t count = chosen != 0 ? chosen : 1;
	for (uint32_t id = 0; machine != NULL && id < machine->thread_count; id++) {
		if (machine->threads[id]->node >= count)
			count = machine->threads[id]->node + 1;
	}
	return count;
}

enum pfs_status pfs_memory_check(enum pfs_memory memory, uint32_t node, struct pfs_message *message)
{
	(void)memory, (void)node;
	if (pfs_machine_current() != NULL)
		return PFS_OK;
	return pfs_message_set(message, PFS_NO_MEMORY,
			       "no simulated machine: create one before its containers");
}

uint32_t pfs_seams_barriers = PFS_SEAMS_BARRIERS_ALWAYS;

bool pfs_barrier_available(void)
{
	return pfs_seams_barriers != 0;
}

bool pfs_barrier_heavy(void)
{
	if (pfs_seams_barriers == 0)
		return false;
	if (pfs_seams_barriers != PFS_SEAMS_BARRIERS_ALWAYS && --pfs_seams_barriers == 0)
		return false;
	pfs_machine_barrier();
	return true;
}

/* A size of the containers that a case chooses: its setter, and the getter for the containers. */
#define PFS_SIM_CHOICE(name, usual)                   \
	static _Thread_local uint32_t name = (usual); \
	void pfs_sim_##name##_set(uint32_t value)     \
	{                                             \
		name = value;                         \
	}                                             \
	uint32_t pfs_sim_##name(void)                 \
	{                                             \
		return name;                          \
	}

PFS_SIM_CHOICE(word_records, PFS_SIM_WORD_RECORDS)
PFS_SIM_CHOICE(room_fan, PFS_SIM_ROOM_FAN)
PFS_SIM_CHOICE(proof_looks, PFS_SIM_PROOF_LOOKS)
PFS_SIM_CHOICE(ring_records, PFS_SIM_RING_RECORDS)
PFS_SIM_CHOICE(hints, PFS_SIM_HINTS)
PFS_SIM_CHOICE(bypass, PFS_SIM_BYPASS)

enum pfs_status (*pfs_seams_reclaimer)(struct pfs_container *container);
void (*pfs_seams_reclaimer_stop)(struct pfs_container *container);

enum pfs_status pfs_reclaimer_start(struct pfs_container *self)
{
	if (pfs_seams_reclaimer != NULL)
		return pfs_seams_reclaimer(self);
	(void)fprintf(stderr,
		      "pfslab: reclaim.period_ms %u: a simulated machine has no background pass; "
		      "set it to 0 and let a thread call pfs_reclaim_pass\n",
		      self->config.reclaim.period_ms);
	return PFS_BAD_CONFIG;
}

void pfs_reclaimer_stop(struct pfs_container *self)
{
	if (pfs_seams_reclaimer_stop != NULL)
		pfs_seams_reclaimer_stop(self);
}

void pfs_panic(const char *what, unsigned found, unsigned expected)
{
	pfs_machine_fail("panic: %s: found 0x%08x, expected 0x%08x", what, found, expected);
	(void)fprintf(stderr, "pfslab: %s outside of an execution\n", what);
	__builtin_abort();
}

void pfs_panic_plain(const char *what)
{
	pfs_machine_fail("panic: %s", what);
	(void)fprintf(stderr, "pfslab: %s outside of an execution\n", what);
	__builtin_abort();
}
