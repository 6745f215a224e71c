/*
 * seams.h - settings of the simulated world for the containers.
 */
#ifndef PFS_SIM_SEAMS_H
#define PFS_SIM_SEAMS_H

#include <stdint.h>

#include <pfslab/status.h>

struct pfs_container;

/* Takes over the background reclaim passes of a container; NULL, the default: refused. */
extern enum pfs_status (*pfs_seams_reclaimer)(struct pfs_container *container);
/* The number of the first heavy barrier from now on that fails, as do all after it; 0: none is
 * available from the start. */
#define PFS_SEAMS_BARRIERS_ALWAYS UINT32_MAX
extern uint32_t pfs_seams_barriers;

/* The container is about to be destroyed. */
extern void (*pfs_seams_reclaimer_stop)(struct pfs_container *container);

/* Records of a word of occupancy.h in containers that this OS thread makes from here on: 1 ..
 * PFS_SIM_WORD_RECORDS, which is also the value of a new thread. */
#define PFS_SIM_WORD_RECORDS 32u
void pfs_sim_word_records_set(uint32_t count);

/* Children of a node of room.h, in the same way: 2 .. PFS_SIM_ROOM_FAN. */
#define PFS_SIM_ROOM_FAN 16u
void pfs_sim_room_fan_set(uint32_t children);

/* How often a thread looks for room before it sleeps (proof.c), in the same way. */
#define PFS_SIM_PROOF_LOOKS 16384u
void pfs_sim_proof_looks_set(uint32_t looks);

/* Records of a ring of magazine.h, an even number; in the same way: 2 .. PFS_SIM_RING_RECORDS. */
#define PFS_SIM_RING_RECORDS 64u
void pfs_sim_ring_records_set(uint32_t records);

/* Words that a thread remembers, see hints.h; in the same way: 1 .. PFS_SIM_HINTS. */
#define PFS_SIM_HINTS 16u
void pfs_sim_hints_set(uint32_t hints);

/* Initial number of frees that go to the words before a ring of magazine.h is opened again; in the
 * same way: 0 .. PFS_SIM_RING_RECORDS. */
#define PFS_SIM_BYPASS 64u
void pfs_sim_bypass_set(uint32_t bypass);

#endif
