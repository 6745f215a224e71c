#define _GNU_SOURCE
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#define NODES_MAX (UINT32_C(1) << 24)

static uint32_t new_node(struct pfs_tree *tree, const struct pfs_node *like)
{
	if (tree->count == tree->room) {
		uint32_t room = tree->room == 0 ? 256 : tree->room * 2;
		struct pfs_node *more = room > NODES_MAX
						? NULL
						: realloc(tree->nodes, room * sizeof(*more));
		if (more == NULL) {
			tree->failed = true;
			return 0;
		}
		tree->nodes = more;
		tree->room = room;
	}
	tree->nodes[tree->count] = *like;
	return tree->count++;
}

/* The child like that, made if it is not there. */
static uint32_t child_of(struct pfs_tree *tree, uint32_t parent, struct pfs_node *like)
{
	for (uint32_t i = tree->nodes[parent].first; i != PFS_HEAP_NONE; i = tree->nodes[i].next) {
		const struct pfs_node *node = &tree->nodes[i];
		if (node->function == like->function && node->file == like->file &&
		    node->line == like->line &&
		    (like->function != PFS_HEAP_NONE || node->location == like->location))
			return i;
	}
	like->parent = parent;
	like->first = PFS_HEAP_NONE;
	like->next = tree->nodes[parent].first;
	like->depth = tree->nodes[parent].depth + 1;
	uint32_t made = new_node(tree, like);
	if (made != 0)
		tree->nodes[parent].first = made;
	return made;
}

static uint32_t node_of(struct pfs_tree *tree, const struct pfs_heap_stack *stack)
{
	const struct pfs_heap *heap = tree->heap;
	uint32_t at = 0;
	for (uint32_t i = stack->depth; i > 0; i--) {
		uint32_t number = heap->frames[stack->first + i - 1];
		const struct pfs_heap_location *location = &heap->locations[number];
		struct pfs_node like = { .function = PFS_HEAP_NONE, .location = number };
		for (uint32_t j = location->line_count; j > 0; j--) {
			const struct pfs_heap_line *line =
				&heap->lines[location->first_line + j - 1];
			struct pfs_node named = { .function = line->function,
						  .file = line->file,
						  .line = line->line,
						  .location = number };
			at = child_of(tree, at, &named);
		}
		if (location->line_count == 0)
			at = child_of(tree, at, &like);
	}
	if (stack->depth == 0) {
		struct pfs_node like = { .function = PFS_HEAP_NONE, .location = PFS_HEAP_NONE };
		at = child_of(tree, at, &like);
	}
	return at;
}

struct sums {
	double bytes, objects, base_bytes, base_objects;
	struct pfs_heap_values live;
};

/* A leaf's growth is known when all stacks that end there are in it, which may be of several calls
 * in one line: so first they are added up there, and then from children to parents. */
static void add_up(struct pfs_tree *tree)
{
	for (uint32_t i = 0; i < tree->count; i++) {
		struct pfs_node *node = &tree->nodes[i];
		double by = node->bytes - node->base_bytes;
		node->grown = by > PFS_HEAP_NOISE ? by : 0;
		node->shrunk = by < -PFS_HEAP_NOISE ? -by : 0;
		node->self = tree->heap->has_base ? node->grown + node->shrunk : node->bytes;
	}
	for (uint32_t i = tree->count; i > 1; i--) {
		const struct pfs_node *node = &tree->nodes[i - 1];
		struct pfs_node *parent = &tree->nodes[node->parent];
		parent->bytes += node->bytes;
		parent->objects += node->objects;
		parent->base_bytes += node->base_bytes;
		parent->base_objects += node->base_objects;
		parent->grown += node->grown;
		parent->shrunk += node->shrunk;
		pfs_heap_values_add(&parent->live, &node->live);
	}
}

static void add_stack(struct pfs_tree *tree, uint32_t stack, const struct sums *sums)
{
	uint32_t at = node_of(tree, &tree->heap->stacks[stack]);
	struct pfs_node *node = &tree->nodes[at];
	node->bytes += sums->bytes;
	node->objects += sums->objects;
	node->base_bytes += sums->base_bytes;
	node->base_objects += sums->base_objects;
	pfs_heap_values_add(&node->live, &sums->live);
}

static void add_all(struct pfs_tree *tree, struct sums *sums, bool of_total)
{
	const struct pfs_heap *heap = tree->heap;
	for (uint32_t i = 0; i < heap->entry_count; i++) {
		const struct pfs_heap_entry *entry = &heap->entries[i];
		const struct pfs_heap_values *now = &entry->now, *base = &entry->base;
		struct sums *of = &sums[entry->stack];
		of->bytes += of_total ? now->total_bytes : now->live_bytes;
		of->objects += of_total ? now->total_objects : now->live_objects;
		of->base_bytes += of_total ? base->total_bytes : base->live_bytes;
		of->base_objects += of_total ? base->total_objects : base->live_objects;
		pfs_heap_values_add(&of->live, now);
	}
	for (uint32_t i = 0; i < heap->stack_count && !tree->failed; i++)
		if (sums[i].bytes != 0 || sums[i].base_bytes != 0)
			add_stack(tree, i, &sums[i]);
	add_up(tree);
}

static int widest_first(const void *one, const void *other, void *opaque)
{
	const struct pfs_tree *tree = opaque;
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
	double wide = pfs_node_width(tree, &tree->nodes[a]);
	double as_wide = pfs_node_width(tree, &tree->nodes[b]);
	if (wide != as_wide)
		return wide > as_wide ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void sort_children(struct pfs_tree *tree, uint32_t parent, uint32_t *order)
{
	uint32_t count = 0, next = PFS_HEAP_NONE;
	for (uint32_t i = tree->nodes[parent].first; i != PFS_HEAP_NONE; i = tree->nodes[i].next)
		order[count++] = i;
	if (count > 1)
		qsort_r(order, count, sizeof(*order), widest_first, tree);
	for (; count > 0; count--) {
		tree->nodes[order[count - 1]].next = next;
		next = order[count - 1];
	}
	tree->nodes[parent].first = next;
}

struct pfs_tree *pfs_tree_make(const struct pfs_heap *heap, bool of_total)
{
	struct pfs_tree *tree = calloc(1, sizeof(*tree));
	struct sums *sums = calloc(heap->stack_count + 1, sizeof(*sums));
	const struct pfs_node all = { .function = PFS_HEAP_NONE,
				      .location = PFS_HEAP_NONE,
				      .parent = PFS_HEAP_NONE,
				      .first = PFS_HEAP_NONE,
				      .next = PFS_HEAP_NONE };
	uint32_t *order = NULL;
	if (tree != NULL && sums != NULL) {
		tree->heap = heap;
		(void)new_node(tree, &all);
		if (!tree->failed)
			add_all(tree, sums, of_total);
		order = malloc((tree->count + 1) * sizeof(*order));
		for (uint32_t i = 0; order != NULL && i < tree->count; i++)
			sort_children(tree, i, order);
	}
	free(sums);
	if (order == NULL || tree->failed) {
		pfs_tree_free(tree);
		tree = NULL;
	}
	free(order);
	return tree;
}

void pfs_tree_free(struct pfs_tree *tree)
{
	if (tree != NULL)
		free(tree->nodes);
	free(tree);
}

const char *pfs_node_name(const struct pfs_tree *tree, const struct pfs_node *node, char *text,
			  size_t text_bytes)
{
	if (node->function != PFS_HEAP_NONE)
		return tree->heap->texts[node->function];
	if (node->location == PFS_HEAP_NONE)
		return node->parent == PFS_HEAP_NONE ? "all" : "[unknown] no stack";
	return pfs_heap_frame_name(tree->heap, node->location, 0, text, text_bytes);
}
