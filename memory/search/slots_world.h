/*
 * slots_world.h - the memory of rings' slots (memory/malloc/slot_memory.h) on the simulated
 * machine: chunks with two pieces each, threads that take and free pieces and purge chunks, and an
 * oracle that knows which pieces are in use.
 *
 * slot_memory.c is the library's source, included by slots_calls.c: an execution begins with its
 * variables at zero. A piece's bytes are one stamp, written without atomics; a purge sets the
 * chunk's bytes to zero, likewise.
 */
#ifndef PFS_SIM_SLOTS_WORLD_H
#define PFS_SIM_SLOTS_WORLD_H

#include "memory/malloc/rings.h"
#include "memory/search/scene_command.h"

#define PFS_SLOTS_THREADS_MAX 3u
#define PFS_SLOTS_HELD_MOST 2u /* pieces of a thread */
#define PFS_SLOTS_CHUNK_LINES 4u
#define PFS_SLOTS_LINES (PFS_SLOTS_CHUNK_LINES * 8u)
#define PFS_SLOTS_RECORDS 8u /* the library's, one for each chunk; and pieces of base.h */

struct pfs_slots_scene {
	struct pfs_scene scene; /* the letters are in slots_calls.c */
	const char *before;     /* calls of each thread in the set-up */
	bool loops;             /* each thread makes its calls forever, in any order */
};

struct pfs_slots_line {
	alignas(PFS_LINE) uint64_t words[PFS_LINE / sizeof(uint64_t)];
};

struct pfs_slots_actor {
	uint32_t id, held_count;
	struct pfs_slots_line *held[PFS_SLOTS_HELD_MOST];
	char calls[PFS_SCENE_CALLS_MAX + 1];
};

/* What changes in an execution, except the machine and the library's variables. */
struct pfs_slots_world {
	struct pfs_slots_line lines[PFS_SLOTS_LINES];
	struct pfs_slots_line records[PFS_SLOTS_RECORDS][2];
	/* The oracle's: not checked for races. */
	struct pfs_slots_oracle {
		uint32_t lines_mapped, records_made;
		bool is_record_free[PFS_SLOTS_RECORDS];
		struct pfs_slots_actor actors[PFS_SLOTS_THREADS_MAX];
	} oracle;

	/* Of all executions. */
	const struct pfs_slots_scene *scene;
	const char *calls;
	struct pfs_machine *machine;
	uint64_t taken, purged; /* pieces; chunks */
};
extern struct pfs_slots_world pfs_slots_world;

/* slots_calls.c: the library's variables, at the begin of an execution and in a state. */
void pfs_slots_reset(void);
void pfs_slots_keep(struct pfs_machine_snapshot *snapshot);

/* The body of a virtual thread; and calls made outside of virtual threads. */
void pfs_slots_body(void *actor);
void pfs_slots_calls_make(struct pfs_slots_actor *actor, const char *calls);

/* At rest, all pieces are freed: two purges return every chunk's memory. */
void pfs_slots_check_purged(void);

#endif
