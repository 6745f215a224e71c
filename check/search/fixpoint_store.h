/*
 * fixpoint_store.h - the states of a search to a fixpoint: which were met, by which path, and which
 * it has still to continue from.
 */
#ifndef PFS_SIM_FIXPOINT_STORE_H
#define PFS_SIM_FIXPOINT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/search/seen.h"

#define PFS_FIXPOINT_NONE UINT32_MAX

/* How a state was first reached. */
struct pfs_fixpoint_node {
	uint32_t parent;
	uint32_t depth;
	uint64_t steps; /* where the steps from the parent begin in the log */
};

struct pfs_fixpoint_chunk;

struct pfs_fixpoint_store {
	struct pfs_seen seen;
	struct pfs_fixpoint_node *nodes; /* by number, in the order in which they were met */
	char *log;                       /* numbers of actors */
	uint64_t log_used;
	struct pfs_fixpoint_chunk *first, *last; /* encoded states, first in, first out */
	uint64_t frontier, frontier_bytes;
	uint64_t most_bytes;
	bool no_memory;
};

bool pfs_fixpoint_store_begin(struct pfs_fixpoint_store *self);
void pfs_fixpoint_store_fini(struct pfs_fixpoint_store *self);

/* Forget all states. */
void pfs_fixpoint_store_clear(struct pfs_fixpoint_store *self);

/* true: the state is new, and is the node of number count - 1 from now on. */
bool pfs_fixpoint_store_add(struct pfs_fixpoint_store *self, uint64_t state, uint32_t parent,
			    const uint16_t *steps, uint32_t step_count);

/* room: memory for one more state to continue from, of at most `bytes`; NULL: no memory. push: it
 * took this many bytes. */
char *pfs_fixpoint_store_room(struct pfs_fixpoint_store *self, size_t bytes);
void pfs_fixpoint_store_push(struct pfs_fixpoint_store *self, uint32_t node, size_t bytes);

/* The first of them, until the next pop; NULL: there is none. */
const char *pfs_fixpoint_store_pop(struct pfs_fixpoint_store *self, uint32_t *node);

/* The path to a node from the start of the search: the number of steps, and their actors'
 * numbers. */
uint32_t pfs_fixpoint_store_steps(const struct pfs_fixpoint_store *self, uint32_t node);
void pfs_fixpoint_store_path(const struct pfs_fixpoint_store *self, uint32_t node, uint16_t *steps);

uint64_t pfs_fixpoint_store_bytes(const struct pfs_fixpoint_store *self);

#endif
