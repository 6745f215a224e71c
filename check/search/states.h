/*
 * states.h - a search that continues from each state once: in a known state the rest is known.
 *
 * A class of schedules says in which order steps were made, a state only what resulted. Many
 * classes lead to few states, so a search that continues from each state once may end where one
 * that goes through all classes does not. A state consists of:
 *
 *	each thread   its stack, registers included; its dead parts can only split a state
 *	memory        the values of all that was written, also without atomics (plain.h; what
 *	              memcpy writes is not seen, and containers have none in their calls)
 *	buffers       with tso, the number of waiting stores of a thread
 *	checks        what they remember that will decide: pfs_scenario's `known`
 *
 * For each state a hash of 64 bits is kept; two states with one hash count as one. With n states
 * the chance that this ever happened is below n * n / 2^65.
 *
 * Calm steps (calm.h) are made at once, and no other order is tried. Which steps are calm is a
 * guess from the executions so far; a wrong guess restarts the search, and the last one had only
 * right guesses.
 *
 * Threads must not yield: when they go on depends on what was written since they read it, which is
 * not in a state.
 *
 * From a known state the search returns to the last choice by a snapshot if possible, otherwise by
 * another execution.
 */
#ifndef PFS_SIM_STATES_H
#define PFS_SIM_STATES_H

#include <string.h>

#include "check/machine/machine.h"
#include "check/machine/snapshot.h"
#include "check/search/calm.h"
#include "check/search/seen.h"

/* What distinguishes states, besides stacks. */
struct pfs_state_memory {
	uint64_t sum;                 /* of all that was written, by steps and without */
	struct pfs_hash_table places; /* of plain memory that was written */
	struct pfs_state_plain {
		uintptr_t place;
		uint64_t known; /* its part of the sum */
		bool fresh;     /* written since the last step */
	} * plain;              /* [PFS_STATE_PLAIN_MAX] */
	uint32_t *fresh;        /* [fresh_count], those that are */
	uint32_t fresh_count;
	bool no_room;
};
#define PFS_STATE_PLAIN_MAX 4096u

struct pfs_states_node;
struct pfs_scenario;

struct pfs_states {
	struct pfs_scheduler scheduler;
	const struct pfs_scenario *scenario;
	struct pfs_seen seen;
	struct pfs_states_node *nodes; /* choices on the current path */
	uint32_t depth, node_room;
	uint32_t at;    /* next choice of the current execution */
	uint64_t known; /* paths that led to a known state */
	uint32_t back;  /* of them, left by a snapshot in this execution */
	struct pfs_state_memory memory;
	struct pfs_calm calm;
	uint32_t lessons; /* random executions so far, to guess by */
	uint64_t random;
	bool no_memory;
	bool yields; /* a thread did: the search is refused */
	bool cut;    /* more threads than a choice has room for */
};

/* The scenario says what its checks know, and outlives the search. */
void pfs_states_init(struct pfs_states *self, const struct pfs_scenario *scenario, uint64_t seed);
void pfs_states_fini(struct pfs_states *self);

/* Before each execution. */
void pfs_states_begin(struct pfs_states *self, struct pfs_machine *machine);

/* After each: is there another one? */
bool pfs_states_next(struct pfs_states *self);

/* The actors that can make a step, by bit. */
#define PFS_STATES_ACTORS_MAX 64u
uint64_t pfs_states_enabled(const struct pfs_machine *machine, bool *too_many);
/* One of them, at random. */
uint32_t pfs_states_draw(uint64_t *random, uint64_t enabled);

/* One number from two, different for different pairs as far as 64 bits allow. */
uint64_t pfs_states_mix(uint64_t one, uint64_t other);

/* The same for memory, by whole words of 8 bytes: as FNV-1a. */
static inline uint64_t pfs_states_mix_words(uint64_t sum, const void *from, size_t bytes)
{
	for (const char *at = from; bytes >= sizeof(uint64_t); bytes -= sizeof(uint64_t)) {
		uint64_t word;
		memcpy(&word, at, sizeof(word));
		sum = (sum ^ word ^ word >> 32) * UINT64_C(0x9E3779B97F4A7C15);
		at += sizeof(word);
	}
	return sum;
}

#endif
