/*
 * fences.h - standalone fences of C11, for programs that have some (setup.has_fences).
 *
 * What a thread reads without acquiring it, it acquires at its next acquire fence; what it writes
 * without releasing carries what it knew at its last release fence. Neither fence is a step: it
 * belongs to the step before. A seq fence is both, and is a step: with store buffers it waits until
 * its thread's buffer is empty; with views it has its place in RC11's psc (views_psc.h).
 */
#ifndef PFS_SIM_FENCES_H
#define PFS_SIM_FENCES_H

#include <stdint.h>

#include "check/machine/operation.h"

struct pfs_machine;
struct pfs_view_message;
struct pfs_fence_thread;

struct pfs_fences {
	struct pfs_fence_thread *threads;
	uint32_t room;
};

void pfs_fences_fini(struct pfs_fences *self);
void pfs_fences_begin(struct pfs_fences *self, uint32_t threads);
struct pfs_machine_snapshot;
void pfs_fences_keep(struct pfs_fences *self, struct pfs_machine_snapshot *snapshot);

/* A thread read, and did not acquire. With views the caller adds the message to what is returned,
 * unless that is NULL. */
struct pfs_view_message *pfs_fences_read(struct pfs_machine *machine, uint32_t thread,
					 const uint32_t *clock);

/* A fence of the thread, whose step, if it is one, was executed. */
void pfs_fences_act(struct pfs_machine *machine, uint32_t thread, enum pfs_sim_order order);

/* The clock of what the thread writes without releasing it, or NULL. */
const uint32_t *pfs_fences_released(const struct pfs_machine *machine, uint32_t thread);

#endif
