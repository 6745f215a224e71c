/*
 * races.h - data races: two accesses to the same byte by different threads, one of them a write,
 * one of them plain, which happens-before does not order.
 *
 * Every plain access of the instrumented sources and every atomic step is compared with the earlier
 * ones of its bytes, in each explored execution and each memory mode. A race is found if the two
 * accesses were executed in any order, not only if they were simultaneous. Giving memory back
 * counts as a plain write to all of it.
 *
 * Not seen: what plain.h does not report; accesses of the set-up and of the final check, which are
 * ordered; the oracle's own memory.
 */
#ifndef PFS_SIM_RACES_H
#define PFS_SIM_RACES_H

#include "check/machine/clocks.h"
#include "check/machine/plain.h"

#define PFS_RACES_THREADS_MAX 64u /* with more threads nothing is compared */

struct pfs_machine;
struct pfs_step;

struct pfs_races {
	struct pfs_hash_table table; /* of cells of 8 bytes each, by address / 8 */
	struct pfs_race_cell *cells;
	struct pfs_access *accesses; /* 0 is none */
	uint32_t cell_room, access_room;
	uint32_t used;   /* of accesses */
	uint32_t unused; /* first of the list of unused ones; 0: none */
};

void pfs_races_fini(struct pfs_races *self);
void pfs_races_clear(struct pfs_races *self);
struct pfs_machine_snapshot;
void pfs_races_keep(struct pfs_races *self, struct pfs_machine_snapshot *snapshot);

/* The hook `plain` of a machine. */
void pfs_races_plain(struct pfs_machine *machine, const struct pfs_plain *access);

/* An atomic step of a thread, at its time `epoch`. */
void pfs_races_atomic(struct pfs_machine *machine, const struct pfs_step *step, uint32_t epoch);

/* The bytes go back to the system. */
void pfs_races_unmap(struct pfs_machine *machine, const struct pfs_sim_operation *operation);

#endif
