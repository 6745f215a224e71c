/*
 * tree.h - stacks as a tree from the roots on: who called whom, and how much is held below.
 *
 * A node is a function at a line. Of a comparison what grew and what shrank do not take each other
 * away, but where stacks end at one node: a node is as wide as both together.
 */
#ifndef PFS_MEM_TREE_H
#define PFS_MEM_TREE_H

#include "heap.h"

struct pfs_node {
	uint32_t function;   /* text; PFS_HEAP_NONE: location says what is known of it */
	uint32_t file, line; /* file: text */
	uint32_t location;
	uint32_t parent, first, next; /* nodes; PFS_HEAP_NONE */
	uint32_t depth;
	double bytes, objects; /* now, here and below */
	double base_bytes, base_objects;
	double grown, shrunk;        /* bytes */
	double self;                 /* width that is no child's */
	struct pfs_heap_values live; /* of what is in use: its errors and ages */
};

struct pfs_tree {
	const struct pfs_heap *heap;
	struct pfs_node *nodes; /* 0: all */
	uint32_t count, room;
	bool failed;
};

/* Of live bytes, or of all since the beginning. Children are sorted, the widest first. */
struct pfs_tree *pfs_tree_make(const struct pfs_heap *heap, bool of_total);
void pfs_tree_free(struct pfs_tree *tree);

static inline double pfs_node_width(const struct pfs_tree *tree, const struct pfs_node *node)
{
	return tree->heap->has_base ? node->grown + node->shrunk : node->bytes;
}

/* Its name, with parameters; text is the buffer if it has none. */
const char *pfs_node_name(const struct pfs_tree *tree, const struct pfs_node *node, char *text,
			  size_t text_bytes);

#endif
