/*
 * gate.h - page memory for tests whose calls stop when they are told to, and say so.
 *
 * Set a flag, wait for `arrived`: one call of that kind now waits inside the source, until the
 * test posts `leave`.
 */
#ifndef PFS_STRESS_GATE_H
#define PFS_STRESS_GATE_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <pfslab/config.h>

struct pfs_test_gate {
	struct pfs_memory_source source; /* for pfs_config.source */
	_Atomic(bool) map_stops;         /* the next call; each clears its flag */
	_Atomic(bool) resident_stops;
	sem_t arrived;
	sem_t leave;
};

/* pfs_test_gate_init - nothing stops yet. Not to be moved afterwards. */
void pfs_test_gate_init(struct pfs_test_gate *self);

#endif
