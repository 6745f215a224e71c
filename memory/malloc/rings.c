/*
 * rings.c - empties rings into the words.
 */
#include "rings.h"

#include "rack.h"

uint32_t pfs_ring_give(struct pfs_cache_ring *ring)
{
	uint32_t front = pfs_ring_front_count(ring);
	uint32_t back = pfs_ring_back_count(ring);
	pfs_blocks_give(ring->slots, front, "free");
	pfs_ring_move_front(ring, 0);
	if (front != 0)
		ring->is_due = 0; /* the malloc that it was for does not come: see choose.h */
	pfs_blocks_give(pfs_ring_back_slots(ring), back, "free");
	pfs_ring_move_back(ring, 0);
	return front + back;
}

/* Flush a ring of the calling thread. */
static void flush_ring(struct pfs_cache *cache, uint32_t class)
{
	struct pfs_cache_ring *ring = &cache->rings[class];
	pfs_ring_hold(ring);
	if (!pfs_ring_is_revoked(ring)) {
		pfs_cache_begin_move(cache, class);
		(void)pfs_ring_give(ring);
		pfs_cache_end_move(cache);
	}
	pfs_ring_leave(ring);
}

void pfs_cache_flush(void)
{
	struct pfs_cache *cache = pfs_cache_mine();
	if (cache == &pfs_cache_none || cache == &pfs_cache_ended)
		return;
	for (uint32_t class = 0; class < PFS_SMALL_COUNT; class ++)
		flush_ring(cache, class);
	(void)pfs_rack_empty(cache);
}
