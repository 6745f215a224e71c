/*
 * states.h - has a search been in this state before? Then what comes is known.
 *
 * A class of schedules tells in which order steps were made; a state only what has become of it.
 * Many classes meet in few states, so a search that goes on from each state once ends where one
 * that goes through all classes does not. What a state is made of:
 *
 *	each thread   its stack, registers included, with what is dead there: that only makes two of
 *	              one state at times
 *	memory        the values of all that was written, also without atomics (plain.h; what
 *	              memcpy writes is not seen, and containers have none in their calls)
 *	buffers       with tso, how many stores of a thread wait
 *	checks        what they remember that will decide: pfs_scenario's `known`
 *
 * Of each, a hash of 64 bits; two states with one hash are taken for one. With n states the chance
 * that this ever happened is below n * n / 2^65.
 *
 * Steps that are calm (calm.h) are made at once, and no other order is tried. Which ones are is a
 * guess from the executions so far; one that turns out to be wrong starts the search anew, and the
 * last one had only right guesses.
 *
 * Threads must not yield: when they go on follows from what was written since they read it, which
 * is not in a state.
 *
 * From a state that was seen the search goes back to the last choice by a snapshot, and not by
 * another execution, where it can.
 */
#ifndef PFS_SIM_STATES_H
#define PFS_SIM_STATES_H

#include <string.h>

#include "check/machine/machine.h"
#include "check/machine/snapshot.h"
#include "check/search/calm.h"
#include "check/search/seen.h"

/* What a state is told by, beside stacks. */
struct pfs_state_memory {
	uint64_t sum;            /* of all that was written, by steps and without */
	struct pfs_table places; /* of plain memory, that were written */
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
	uint64_t known; /* paths that led to a state that had been seen */
	uint32_t back;  /* of them, left by a snapshot in this execution */
	struct pfs_state_memory memory;
	struct pfs_calm calm;
	uint32_t lessons; /* executions at random so far, to guess by */
	uint64_t random;
	bool no_memory;
	bool yields; /* a thread did: the search is none */
	bool cut;    /* more threads than a choice has room for */
};

/* The scenario says what its checks know, and outlives the search. */
void pfs_states_init(struct pfs_states *self, const struct pfs_scenario *scenario, uint64_t seed);
void pfs_states_fini(struct pfs_states *self);

/* Before each execution. */
void pfs_states_begin(struct pfs_states *self, struct pfs_machine *machine);

/* After each: is there one more? */
bool pfs_states_next(struct pfs_states *self);

/* Two numbers in one, and no other two, as far as 64 bits allow. */
uint64_t pfs_states_mix(uint64_t one, uint64_t other);

/* The same of memory, by whole words of 8 bytes: as FNV-1a. */
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
