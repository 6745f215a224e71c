/*
 * views_seq.h - what RC11 requires of seq operations: their order psc has no cycle.
 *
 * Nodes are the operations that were executed as seq. Node a comes before node b by
 *	program order     a is first;
 *	one location      they share it, and a happens before b, or a comes first in modification
 *	                  order, or a read what b replaced or what came before that;
 *	elsewhere         a happens before b by way of an operation at another location than a's,
 *	                  after a in its thread, and of one at another location than b's, before
 *	                  b in its thread.
 * What is executed next comes after all that it follows by the first and the last, so only a choice
 * of an old message can close a cycle: it comes before the seq writes of what is newer. Such a
 * choice is not offered. The newest message is always possible, so no thread gets stuck.
 *
 * All nodes of a thread are ordered, so the nodes before a node are a number for each thread: its
 * clock. A new edge is added to the clocks of all nodes after it; there are some dozens.
 *
 * Plain accesses are not operations here. RC11 counts them: they could be "elsewhere" and order
 * more.
 *
 * Source: O. Lahav, V. Vafeiadis, J. Kang, C.-K. Hur, D. Dreyer, PLDI 2017.
 */
#ifndef PFS_SIM_VIEWS_SEQ_H
#define PFS_SIM_VIEWS_SEQ_H

#include "check/machine/clocks.h"

struct pfs_location;

struct pfs_seq_node {
	uint32_t *clock;        /* nodes of each thread up to it, itself included */
	uint32_t thread, index; /* 1, 2, ... in its thread */
	uint32_t step;
};

/* A node at its location. */
struct pfs_seq_access {
	uint32_t node;
	uint32_t message; /* written, or else read */
	uint32_t epoch;   /* of its thread: happens-before */
	bool wrote;
};

struct pfs_seq_thread {
	uint32_t count;         /* of its nodes */
	uint32_t settled;       /* nodes that are followed by an operation at another location */
	uint32_t node_location; /* of its last node */
	uint32_t location;      /* of its last operation */
	uint32_t *elsewhere;    /* what it knew when it came to that location */
	uint32_t *nodes;        /* its nodes */
	uint32_t *settled_at;   /* by epoch: settled when it released */
	uint32_t elsewhere_room, node_room, settled_room;
};

struct pfs_seq {
	uint32_t threads, thread_room;
	struct pfs_seq_thread *thread;
	struct pfs_seq_node *nodes;
	uint32_t count, room;
	uint32_t *scratch; /* [2][threads] */
	uint32_t scratch_room;
	struct pfs_scratch arena;
};

/* A seq operation that is, or would be, executed: it reads, or writes after, the message at
 * position `at`. */
struct pfs_seq_operation {
	const struct pfs_location *location;
	uint32_t id; /* of the location */
	uint32_t thread;
	uint32_t at;
	bool writes;
	const uint32_t *released; /* the clock that it acquires, or NULL */
};

void pfs_seq_fini(struct pfs_seq *self);
void pfs_seq_begin(struct pfs_seq *self, uint32_t threads);

/* True if it closes no cycle. */
bool pfs_seq_allows(const struct pfs_seq *self, const struct pfs_clocks *clocks,
		    const struct pfs_seq_operation *operation);

/* The steps on the cycles that it would close; returns how many, at most room. */
uint32_t pfs_seq_cycle(const struct pfs_seq *self, const struct pfs_clocks *clocks,
		       const struct pfs_seq_operation *operation, uint32_t *steps, uint32_t room);

/* An operation of any order comes to a location, before anything else is done. */
void pfs_seq_visit(struct pfs_seq *self, const struct pfs_clocks *clocks, uint32_t thread,
		   uint32_t id);

/* A seq operation is executed: what it acquired is known; what it writes is not yet there, and will
 * be this message. */
void pfs_seq_execute(struct pfs_seq *self, const struct pfs_clocks *clocks,
		     const struct pfs_seq_operation *operation, struct pfs_location *location,
		     uint32_t message, uint32_t step);

/* The thread released, at this time of its own. */
void pfs_seq_release(struct pfs_seq *self, uint32_t thread, uint32_t epoch);

#endif
