/*
 * ring.c - see ring.h. CMake builds this file without ThreadSanitizer.
 */
#include "ring.h"

#include <ck_ring.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "gate.h"

#define ENTRIES (PFS_RING_ROOM + 1)

struct pfs_ring {
	alignas(PFS_BENCH_LINE) ck_ring_t ring;
	ck_ring_buffer_t buffer[ENTRIES];
};

struct pfs_ring *pfs_rings_create(uint32_t count)
{
	struct pfs_ring *rings = aligned_alloc(alignof(struct pfs_ring), count * sizeof(*rings));

	if (rings == NULL)
		return NULL;
	memset(rings, 0, count * sizeof(*rings));
	for (uint32_t i = 0; i < count; i++)
		ck_ring_init(&rings[i].ring, ENTRIES);
	return rings;
}

struct pfs_ring *pfs_rings_at(struct pfs_ring *rings, uint32_t index)
{
	return &rings[index];
}

uint32_t pfs_ring_count(struct pfs_ring *self)
{
	return ck_ring_size(&self->ring);
}

uint32_t pfs_ring_room(struct pfs_ring *self)
{
	return PFS_RING_ROOM - ck_ring_size(&self->ring);
}

bool pfs_ring_push_unseen(struct pfs_ring *self, void *record)
{
	return ck_ring_enqueue_spsc(&self->ring, self->buffer, record);
}

bool pfs_ring_pop_unseen(struct pfs_ring *self, void **record)
{
	return ck_ring_dequeue_spsc(&self->ring, self->buffer, record);
}
