/*
 * profile_world.h - the table of memory/profile/intern.h on the simulated machine: few slots, few
 * records, and keys that differ in the hash's slot, in its upper half, or only in the record.
 * Records are written without atomics, as those of the box are.
 */
#ifndef PFS_SIM_PROFILE_WORLD_H
#define PFS_SIM_PROFILE_WORLD_H

#include "memory/profile/intern.h"
#include "memory/search/scene_command.h"

#define PFS_PROFILE_THREADS_MAX 4u
#define PFS_PROFILE_KEYS 4u
#define PFS_PROFILE_SLOTS 8u
#define PFS_PROFILE_RECORDS 4u /* of each thread */
#define PFS_PROFILE_RECORDS_ALL (PFS_PROFILE_THREADS_MAX * PFS_PROFILE_RECORDS)

struct pfs_profile_actor {
	uint32_t id;
	char calls[PFS_SCENE_CALLS_MAX + 1];
	uint32_t made; /* records */
};

struct pfs_profile_world {
	_Atomic(uint64_t) slots[PFS_PROFILE_SLOTS];
	uint64_t records[PFS_PROFILE_RECORDS_ALL + 1]; /* by reference: key + 1 */

	/* The oracle's: not checked for races. */
	struct pfs_profile_oracle {
		struct pfs_profile_actor actors[PFS_PROFILE_THREADS_MAX];
		uint32_t references[PFS_PROFILE_KEYS]; /* of each key's record; 0: not yet known */
		uint32_t dropped[PFS_PROFILE_RECORDS_ALL + 1];
		uint32_t made;
	} oracle;

	/* Of all executions. */
	const char *calls;
	uint32_t records_each; /* records for which a thread has room */
	struct pfs_machine *machine;
	uint64_t found, made, dropped;
};
extern struct pfs_profile_world pfs_profile_world;

/* profile_calls.c: the calls of a thread, and the check at the end. */
void pfs_profile_calls_body(void *actor);
void pfs_profile_check(struct pfs_profile_world *self);

#endif
