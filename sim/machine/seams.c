/*
 * seams.c - what the containers ask of the world, answered by the simulated machine: memory,
 * the caller's node, a bug (which ends the execution instead of the process). There is no
 * background thread: time does not pass by itself here.
 */
#include <stdio.h>

#include "containers/barrier.h"
#include "containers/compiler.h"
#include "containers/container.h"
#include "variants/magazine/magazine.h"
#include "containers/memory.h"
#include "containers/message.h"
#include "variants/exact/occupancy.h"
#include "variants/exact/proof.h"
#include "containers/reclaimer.h"
#include "sim/machine/model.h"
#include "sim/machine/seams.h"

const struct pfs_memory_source *pfs_memory_hwloc(void)
{
	struct pfs_machine *machine = pfs_machine_current();
	return machine != NULL ? &machine->memory.source : NULL;
}

const struct pfs_memory_source *pfs_memory_huge(void)
{
	return pfs_memory_hwloc();
}

void pfs_memory_hold(void)
{
}

void pfs_memory_release(void)
{
}

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

enum pfs_status pfs_memory_check(enum pfs_memory memory, uint32_t node,
				 struct pfs_message *message)
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

/* The caller's fence, each other thread's, and the caller's again: a step of the caller each, so
 * that anything may come between two. Where stores are not delayed, one says it all. */
bool pfs_barrier_heavy(void)
{
	const struct pfs_machine *machine = pfs_machine_current();
	if (pfs_seams_barriers == 0)
		return false;
	if (pfs_seams_barriers != PFS_SEAMS_BARRIERS_ALWAYS && --pfs_seams_barriers == 0)
		return false;
	uint32_t own = machine->run.running != NULL ? machine->run.running->id : 0;
	bool parts = machine->run.running != NULL && machine->engine.execute == NULL &&
		     (machine->model->buffers || machine->model->keeps_old);
	(void)pfs_sim_change(PFS_SIM_BARRIER, NULL, 0, own, PFS_SIM_SEQ, PFS_SIM_PLACE("barrier"));
	for (uint32_t id = 0; parts && id < machine->thread_count; id++) {
		if (id != own)
			(void)pfs_sim_change(PFS_SIM_BARRIER, NULL, 0, id, PFS_SIM_SEQ,
					     PFS_SIM_PLACE("interrupt"));
	}
	if (parts)
		(void)pfs_sim_change(PFS_SIM_BARRIER, NULL, 0, own, PFS_SIM_SEQ,
				     PFS_SIM_PLACE("acknowledged"));
	return true;
}

/* A number of the containers that a case chooses: what they ask for, and how it is set. */
#define PFS_SIM_CHOICE(name, usual)                    \
	static _Thread_local uint32_t name = (usual);  \
	void pfs_sim_##name##_set(uint32_t value)      \
	{                                              \
		name = value;                          \
	}                                              \
	uint32_t pfs_sim_##name(void)                  \
	{                                              \
		return name;                           \
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
