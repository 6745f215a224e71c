/*
 * part.h - a part of a search, which any process can do: what jobs.h distributes.
 *
 * An exhaustive search goes depth first through a tree of choices. A part is a path from the root
 * of the tree. The choices below `root` are fixed; the rest is the part's own, and where it has
 * begun already the nodes say what is left. What is left of a part can be split: the siblings of
 * its first open choice become parts of their own, in the order in which they would be tried, with
 * what would sleep there by then. With source sets, executions in these parts also ask for more at
 * the choices above them; so the last part is what is above, and waits for the others. The parts
 * depend only on the case: the same executions are made, whatever the order and the processes.
 *
 * A part of a random search is a range of seeds.
 */
#ifndef PFS_SIM_PART_H
#define PFS_SIM_PART_H

#include <stdbool.h>
#include <stdint.h>

/* A choice on the path. Bits as in dpor_node.h; in explore.h `options` are those still open. */
struct pfs_part_node {
	uint64_t options, sleep;
	uint32_t enabled, backtrack, option;
};

struct pfs_part {
	struct pfs_part_node *nodes; /* [depth] */
	uint32_t root, depth;
	uint32_t generation; /* splits above it */
	uint32_t actors;     /* dpor.h */
	bool waits;          /* for the earlier ones of its split, and what they ask for */
	uint64_t first;      /* random: the number of its first execution */
	uint64_t most;       /* executions, then it is split; random: it ends. 0: all */
};

/* In order. */
struct pfs_parts {
	struct pfs_part *at;
	uint32_t count, room;
	/* What a part that was not split asks for above its root: `backtrack` of the nodes there,
	 * or NULL: nothing. */
	uint32_t *asked;
};

/* Add a part, its nodes not yet filled; NULL: no memory. The caller frees the nodes. */
struct pfs_part *pfs_parts_add(struct pfs_parts *self, uint32_t root, uint32_t depth);

/* Why a search is not complete, besides the bounds of its options and of the machine. */
enum pfs_search_left {
	PFS_LEFT_CHOICES = 1, /* of a step: more than a set has room for */
	PFS_LEFT_READS = 2,   /* of one value, by one thread: more than the model distinguishes */
	PFS_LEFT_RIVALS = 4,  /* of a write: more than the search compares */
	PFS_LEFT_WAKE = 8,    /* branches of a wakeup tree */
	PFS_LEFT_MEMORY = 16,
	PFS_LEFT_CHANCE = 32 /* a random search */
};
#define PFS_LEFT_COUNT 6u

#endif
