/*
 * front.c - rings and blocks as the front of the words: variants/exact/front.h.
 */
#include "variants/exact/front.h"

#include <stdlib.h>

#include "variants/exact/proof.h"
#include "magazine.h"

static void look_at_blocks(struct pfs_container *self, struct pfs_look *look)
{
	const struct pfs_magazines *magazines = pfs_magazines_of(self);
	for (uint32_t i = 0; i < magazines->node_count; i++) {
		if (magazines->depots[i].block_count != 0)
			pfs_look_at_root(look, &magazines->depots[i].room);
	}
}

/* Is a ring open? */
static void look_at_rings(struct pfs_container *self, struct pfs_look *look)
{
	pfs_look_at_root(look, &pfs_magazines_of(self)->rings->room);
}

/*
 * As the proof by the roots, if rings stay open: because a free is in flight there, or no barrier
 * reaches the owner. Under `growth` no other thread empties or closes them. A free into a ring that
 * has returned may still be in its owner's store buffer: the heavy barrier between the looks is the
 * moment of the proof.
 */
static bool prove(struct pfs_container *self)
{
	uint64_t first_frees, second_frees;
	bool first_empty = pfs_magazine_are_empty(self, &first_frees);
	struct pfs_look first = pfs_look_at_shared(self);
	if (!first.is_empty)
		return false;
	pfs_magazine_catch_up(self);
	bool second_empty = pfs_magazine_are_empty(self, &second_frees);
	return first_empty && second_empty && first_frees == second_frees &&
	       pfs_looks_agree(first, pfs_look_at_shared(self));
}

static uint64_t bytes_of_depots(struct pfs_container *self)
{
	const struct pfs_magazines *magazines = pfs_magazines_of(self);
	uint64_t sum = 0;
	for (uint32_t node = 0; node < magazines->node_count; node++)
		sum += pfs_depot_bytes(&magazines->depots[node]);
	return sum;
}

static void stop(struct pfs_container *self)
{
	struct pfs_magazines *magazines = pfs_magazines_of(self);
	free(magazines->depot_memory);
	pfs_rings_free(magazines->rings);
	free(magazines);
}

static const struct pfs_front front = {
	.look_at_shared = look_at_blocks,
	.look_at_owned = look_at_rings,
	.prove = prove,
	.take_back = pfs_magazine_take_back,
	.last_resort = pfs_magazine_last_resort,
	.watch = pfs_stranded_watch,
	.is_free_since_watch = pfs_stranded_is_free_since_watch,
	.bytes = bytes_of_depots,
	.stop = stop,
};

enum pfs_status pfs_magazines_start(struct pfs_container *self)
{
	struct pfs_occupancy *index = self->policy;
	uint64_t records = (uint64_t)self->config.page_max * self->config.page_records;
	struct pfs_magazines *magazines = calloc(1, sizeof(*magazines));
	if (magazines == NULL)
		return PFS_NO_MEMORY;
	magazines->node_count = index->node_count;
	magazines->rings = pfs_rings_new();
	magazines->depots = pfs_depots_new(index->node_count, records, &magazines->depot_memory);
	index->front = &front;
	index->front_state = magazines;
	return magazines->rings != NULL && magazines->depots != NULL ? PFS_OK : PFS_NO_MEMORY;
}
