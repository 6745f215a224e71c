/*
 * timed_engine.h - inside of the machine in virtual time; for timed*.c only.
 *
 * Invariant: while a thread runs, heap[0] is its key, and all keys in the heap are at least it.
 * Clocks are picoseconds.
 */
#ifndef PFS_SIM_TIMED_ENGINE_H
#define PFS_SIM_TIMED_ENGINE_H

#include "sim/machine.h"
#include "sim/timed.h"

#define PFS_TIMED_PS UINT64_C(1000) /* to the nanosecond */
#define PFS_TIMED_ID_BITS 10u       /* 1,024 threads */

struct pfs_timed_thread {
	uint64_t clock;
	void *argument;
	uint32_t pu;
	bool blocked; /* on a mutex, not in the heap */
};

struct pfs_timed {
	struct pfs_machine *machine;
	struct pfs_timed_plan plan;
	struct pfs_timed_thread *threads;
	uint64_t *heap; /* keys: clock, then thread */
	uint32_t heap_count;
	uint64_t next_tick;
	void (*body)(void *argument);
	struct pfs_timed_stats stats;
};

static inline uint64_t pfs_timed_key(uint64_t clock, uint32_t id)
{
	return clock << PFS_TIMED_ID_BITS | id;
}

uint64_t pfs_timed_execute(struct pfs_machine *machine, const struct pfs_sim_operation *operation);

/* The thread has come to its end: does not return. */
void pfs_timed_finish(struct pfs_timed *self, struct pfs_timed_thread *thread);

#endif
