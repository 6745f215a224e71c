#include "check/search/part.h"

#include <stdlib.h>

#include "check/machine/grow.h"

struct pfs_part *pfs_parts_add(struct pfs_parts *self, uint32_t root, uint32_t depth)
{
	if (!pfs_grow((void **)&self->at, &self->room, self->count + 1, sizeof(*self->at)))
		return NULL;
	struct pfs_part_node *nodes = calloc(depth + 1u, sizeof(*nodes));
	if (nodes == NULL)
		return NULL;
	self->at[self->count] = (struct pfs_part){ .nodes = nodes, .root = root, .depth = depth };
	return &self->at[self->count++];
}
