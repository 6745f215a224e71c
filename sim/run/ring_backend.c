/*
 * ring_backend.c - bench/ring.h for virtual threads. The machine does not see Concurrency Kit's
 * inline assembly, so this is the same ring through containers/atomic.h: the same words in the same
 * lines, the same loads and stores.
 *
 * Ordering: the producer's release store of `tail` pairs with the consumer's acquire load, and
 * carries the entry. The consumer's release store of `head` pairs with the producer's acquire load:
 * the entry was copied.
 */
#include "bench/ring.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "containers/atomic.h"

#define ENTRIES (PFS_RING_ROOM + 1)

struct pfs_ring {
	alignas(PFS_LINE) _Atomic(uint32_t) head; /* consumer */
	alignas(PFS_LINE) _Atomic(uint32_t) tail; /* producer */
	alignas(PFS_LINE) void *entries[ENTRIES]; /* producer, where there is room */
};

struct pfs_ring *pfs_rings_create(uint32_t count)
{
	struct pfs_ring *rings = aligned_alloc(alignof(struct pfs_ring), count * sizeof(*rings));
	if (rings != NULL)
		memset(rings, 0, count * sizeof(*rings));
	return rings;
}

struct pfs_ring *pfs_rings_at(struct pfs_ring *rings, uint32_t index)
{
	return &rings[index];
}

uint32_t pfs_ring_count(struct pfs_ring *self)
{
	uint32_t head = pfs_load_acquire(&self->head);
	return (pfs_load_acquire(&self->tail) - head) % ENTRIES;
}

uint32_t pfs_ring_room(struct pfs_ring *self)
{
	return PFS_RING_ROOM - pfs_ring_count(self);
}

bool pfs_ring_push_unseen(struct pfs_ring *self, void *record)
{
	uint32_t tail = pfs_load_relaxed(&self->tail); /* the producer's own */
	uint32_t next = (tail + 1) % ENTRIES;
	if (next == pfs_load_acquire(&self->head))
		return false;
	self->entries[tail] = record;
	pfs_store_release(&self->tail, next);
	return true;
}

bool pfs_ring_pop_unseen(struct pfs_ring *self, void **record)
{
	uint32_t head = pfs_load_relaxed(&self->head); /* the consumer's own */
	if (head == pfs_load_acquire(&self->tail))
		return false;
	*record = self->entries[head];
	pfs_store_release(&self->head, (head + 1) % ENTRIES);
	return true;
}
