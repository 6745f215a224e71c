/*
 * dpor_parts.c - parts of dpor.h's search, see part.h.
 *
 * A part executes the fixed choices above its root again, and so knows the clocks of their steps.
 * It may find that something else must be tried in place of one of these choices. It asks for that
 * in a copy of their nodes, which is joined with what its siblings ask for when all of them have
 * ended.
 */
#include <stdlib.h>
#include <string.h>

#include "check/search/dpor_node.h"
#include "check/machine/grow.h"

bool pfs_dpor_take(struct pfs_dpor *self, const struct pfs_part *part)
{
	for (self->depth = 0; self->depth < part->depth; self->depth++) {
		const struct pfs_part_node *from = &part->nodes[self->depth];
		if (!pfs_grow((void **)&self->nodes, &self->room, self->depth + 1,
			      sizeof(*self->nodes)) ||
		    !pfs_grow((void **)&self->marks, &self->mark_room, self->depth + 1,
			      sizeof(*self->marks)))
			return false;
		self->nodes[self->depth] = (struct pfs_dpor_node){ .options = from->options,
								   .sleep = from->sleep,
								   .enabled = from->enabled,
								   .backtrack = from->backtrack,
								   .option = from->option };
	}
	self->root = part->root;
	self->actors = part->actors;
	return true;
}

static struct pfs_part *add(const struct pfs_dpor *self, struct pfs_parts *parts, uint32_t root,
			    uint32_t depth)
{
	struct pfs_part *part = pfs_parts_add(parts, root, depth);
	for (uint32_t i = 0; part != NULL && i < depth; i++) {
		const struct pfs_dpor_node *node = &self->nodes[i];
		part->nodes[i] = (struct pfs_part_node){ node->options, node->sleep, node->enabled,
							 node->backtrack, node->option };
		part->actors = self->actors;
	}
	return part;
}

static uint64_t open_at(const struct pfs_dpor *self, uint32_t at)
{
	const struct pfs_dpor_node *node = &self->nodes[at];
	return node->options & ~(node->sleep | pfs_dpor_option_bit(node->option)) &
	       pfs_dpor_options_of(self, node->backtrack);
}

bool pfs_dpor_split(const struct pfs_dpor *self, struct pfs_parts *parts)
{
	uint32_t at = self->root;
	while (at < self->depth && open_at(self, at) == 0)
		at++;
	if (at == self->depth || add(self, parts, at + 1, self->depth) == NULL)
		return false;
	uint64_t sleep = self->nodes[at].sleep, last = pfs_dpor_option_bit(self->nodes[at].option);
	for (uint64_t rest = open_at(self, at); rest != 0; rest &= rest - 1) {
		struct pfs_part *part = add(self, parts, at + 1, at + 1);
		if (part == NULL)
			return false;
		sleep |= last;
		last = rest & (0u - rest);
		part->nodes[at].option = (uint32_t)__builtin_ctzll(last);
		part->nodes[at].sleep = sleep;
	}
	struct pfs_part *above = add(self, parts, self->root, at + 1);
	if (above == NULL)
		return false;
	above->nodes[at].option = (uint32_t)__builtin_ctzll(last);
	above->nodes[at].sleep = sleep;
	above->waits = true;
	return true;
}

void pfs_dpor_ask(const struct pfs_dpor *self, struct pfs_parts *parts)
{
	if (self->root == 0)
		return;
	parts->asked = calloc(self->root, sizeof(*parts->asked));
	for (uint32_t i = 0; parts->asked != NULL && i < self->root; i++)
		parts->asked[i] = self->nodes[i].backtrack;
}
