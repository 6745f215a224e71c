/*
 * occupancy_life.c - the words and trees of a container: created and destroyed.
 */
#include <stdlib.h>
#include <string.h>

#include "containers/lines.h"
#include "containers/memory.h"
#include "front.h"
#include "occupancy.h"
#include "seats.h"

static bool make_rooms(struct pfs_occupancy *index, uint32_t pages)
{
	uint32_t rooms = index->node_count * 2;
	uint32_t nodes = pfs_room_node_count(pages);
	index->rooms = calloc(rooms, sizeof(*index->rooms));
	struct pfs_room_node *first = pfs_lines_new((size_t)rooms * nodes, &index->room_memory);
	if (index->rooms == NULL || first == NULL)
		return false;
	for (uint32_t i = 0; i < rooms; i++)
		pfs_room_init(&index->rooms[i], pages, first + (size_t)i * nodes);
	return true;
}

enum pfs_status pfs_occupancy_start(struct pfs_container *self)
{
	uint32_t pages = self->config.page_max != 0 ? self->config.page_max : 1;
	struct pfs_occupancy *index = aligned_alloc(PFS_LINE, sizeof(*index));
	if (index == NULL)
		return PFS_NO_MEMORY;
	memset((void *)index, 0, sizeof(*index));
	pfs_mutex_init_gated(&index->mapping);
	index->node_count = pfs_memory_node_count() + 1;
	index->pages = calloc(pages, sizeof(*index->pages));
	index->seats = calloc(1, sizeof(*index->seats));
	if (PFS_COUNTED)
		index->watched = calloc(
			(size_t)pages * pfs_ceil_div(self->config.page_records, PFS_WORD_RECORDS),
			sizeof(*index->watched));
	self->policy = index;
	if (index->pages != NULL && index->seats != NULL && make_rooms(index, pages) &&
	    (!PFS_COUNTED || index->watched != NULL))
		return PFS_OK;
	pfs_occupancy_stop(self);
	return PFS_NO_MEMORY;
}

void pfs_occupancy_stop(struct pfs_container *self)
{
	struct pfs_occupancy *index = self->policy;
	for (uint32_t page = 0; index->pages != NULL && page < self->config.page_max; page++)
		free(pfs_occupancy_page_at(self, page));
	pfs_occupancy_drop_spare(self);
	pfs_mutex_fini(&index->mapping);
	if (index->front != NULL)
		index->front->stop(self);
	if (index->seats != NULL)
		pfs_seats_stop(index->seats);
	free(index->seats);
	free((void *)index->pages);
	free(index->rooms);
	free(index->room_memory);
	free(index->watched);
	free(index);
}
